"""Try in a process of its own what may crash: compiled code that reads a format of its own.

The process is a fresh interpreter. A fork of this process could hang: libraries may have started threads, and a fork
copies the locks that these threads hold, but not the threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path

START_SECONDS = 60.0
_HEADER = struct.Struct("<dQ")
_READY, _DONE, _RAISED = b"s", b"d", b"r"
_PROGRAM = (
    "import json, sys; settings = json.loads(sys.argv[1]); sys.path[:] = settings.pop('path'); "
    "from metaml.system.trial_process import _serve; _serve(**settings)"
)


def survives(place: str, content: bytes, *, seconds: float = 10.0, megabytes: int = 4_000) -> bool:
    """Return whether a function takes the content, in another process, and neither raises, dies, nor takes too long.

    `place` is where the function is imported from, written `package.module:function`. It may take so many `megabytes`
    more than its libraries. Its process ends after the trial, or serves those that follow in a block of `kept_trials`.

    >>> survives("json:loads", b"{}"), survives("json:loads", b"{")
    (True, False)
    """
    processes = _kept.get()
    if processes is None:
        with kept_trials():
            return survives(place, content, seconds=seconds, megabytes=megabytes)
    process = processes.get(place)
    if process is None:
        process = _Process(place, megabytes)
        process.start()
        processes[place] = process
    answer = process.answer_to(content, seconds)
    if not answer:
        processes.pop(place).end()
    return answer == _DONE


@contextlib.contextmanager
def kept_trials() -> Iterator[None]:
    """Let one process serve all trials of the same function until the outermost block ends; after a crash, another."""
    if _kept.get() is not None:
        yield
        return
    processes: dict[str, _Process] = {}
    token = _kept.set(processes)
    try:
        yield
    finally:
        _kept.reset(token)
        for process in processes.values():
            process.end()


class _Process:
    """A fresh interpreter that calls a function with one content after the other."""

    def __init__(self, place: str, megabytes: int) -> None:
        self._settings = {"place": place, "megabytes": megabytes}

    def start(self) -> None:
        """Start the process and wait until it has imported the function."""
        self._channel, theirs = socket.socketpair()
        settings = json.dumps({**self._settings, "path": sys.path})
        # Isolated: it imports from where this process does, and from nowhere else.
        command = [sys.executable, "-I", "-c", _PROGRAM, settings]
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL
            )
        if self._heard(START_SECONDS) != _READY:
            self.end()
            raise OSError("the process that tries models did not start")

    def answer_to(self, content: bytes, seconds: float) -> bytes:
        """Return what the process says of a content; nothing if it dies or is late."""
        header = _HEADER.pack(seconds, len(content))
        try:
            self._channel.settimeout(seconds)
            self._channel.sendall(header + content)
        except OSError:
            return b""
        return self._heard(seconds)

    def end(self) -> None:
        """Kill the process."""
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def _heard(self, seconds: float) -> bytes:
        try:
            self._channel.settimeout(seconds)
            return self._channel.recv(1)
        except OSError:
            return b""


_kept: ContextVar[dict[str, _Process] | None] = ContextVar("kept", default=None)


def _serve(place: str, megabytes: int) -> None:
    """Call a function with each content that arrives, and say how it went, until there is no more."""
    asked, answers, nowhere = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    module, _, name = place.partition(":")
    act: Callable[[bytes], object] = getattr(import_module(module), name)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_memory(megabytes)
    os.write(answers, _READY)
    with open(asked, "rb") as contents:  # noqa: PTH123
        while header := contents.read(_HEADER.size):
            seconds, size = _HEADER.unpack(header)
            content = contents.read(size)
            # The timer ends this process if it hangs and nobody is left to kill it.
            signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
            try:
                act(content)
                answer = _DONE
            except Exception:
                answer = _RAISED
            signal.setitimer(signal.ITIMER_REAL, 0)
            os.write(answers, answer)


def _limit_memory(megabytes: int) -> None:
    """Let this process take so much memory more than it has; a stricter limit stays."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most, hard = pages * resource.getpagesize() + megabytes * 10**6, resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
