"""The fork server as seen by the process that asks for workers; `forking` is the program it runs."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from metaml.errors import MetamlError
from metaml.system.process_tree import kill_all, started_with

READY, UNKNOWN = b"ready", "unknown"
"""What a fork server says once it can start workers, and of a worker whose exit status it does not know."""
START_SECONDS = 120.0
REQUEST_SECONDS = 10.0
ATTEMPTS = 3

ALGORITHMS = "metaml.algorithms:ALGORITHMS"

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_MARK = "METAML_FORK_SERVER"
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1])['path']; "
    "from metaml.evaluation.fork_server_program import main; main(sys.argv[1])"
)


class _ForkServerGone(Exception):
    """The fork server does not answer."""


@dataclass(frozen=True, eq=False)
class Worker:
    """A worker process as seen from outside, and the connection to it."""

    process: psutil.Process
    connection: Connection


class ForkServer:
    """Starts and ends workers; several threads may ask.

    The workers know the algorithms of `registry`, written `package.module:NAME`, and the data sets on the store
    in `folder`. Each may use `n_threads` threads. The server starts in the background and takes seconds; a worker
    takes milliseconds.

    The libraries of the algorithms in `preload` are imported before the first worker is forked, so that the first fit
    in each worker does not pay for it. By default, all are; the server imports them, not this process.
    """

    def __init__(
        self, folder: Path, *, registry: str = ALGORITHMS, n_threads: int = 1, preload: Sequence[str] | None = None
    ) -> None:
        self._settings: dict[str, Any] = {
            "registry": registry,
            "folder": str(folder),
            "n_threads": n_threads,
            "preload": None if preload is None else list(preload),
        }
        self._mark = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._is_given_up = False

    def start(self) -> None:
        """Start the server process in the background."""
        with self._lock:
            self._launch()

    def give_up(self) -> None:
        """Start no more workers, and release a caller that waits for the first one to import its libraries."""
        self._is_given_up = True
        if not self._is_ready and self._process is not None:
            self._process.kill()

    def new_worker(self) -> Worker:
        """Return a worker that is ready for a job."""
        with self._lock:
            for _ in range(ATTEMPTS):
                if self._is_given_up:
                    raise MetamlError("No more workers are needed.")
                ours, theirs = socket.socketpair()
                with ours, theirs:
                    try:
                        process = psutil.Process(int(self._ask(b"start", theirs.fileno())))
                        return Worker(process, Connection(ours.detach()))
                    except (_ForkServerGone, psutil.NoSuchProcess):
                        if not self._is_given_up:
                            self._launch()
        raise MetamlError(f"The process that starts workers died {ATTEMPTS} times. See what kills it; memory, perhaps.")

    def end(self, worker: Worker) -> int | None:
        """Return the exit status of a worker, negative for a signal, None if unknown; it is dead afterwards."""
        with contextlib.suppress(OSError):
            worker.connection.close()
        with self._lock:
            try:
                answer = self._ask(f"end {worker.process.pid}".encode())
            except _ForkServerGone:
                # Its workers die with it, and the next request for a worker starts another fork server.
                self._stop()
                return None
        return None if answer == UNKNOWN else int(answer)

    def close(self) -> None:
        """End all workers and wait until they are gone."""
        with self._lock:
            self._stop()

    def _launch(self) -> None:
        self._stop()
        self._channel, theirs = socket.socketpair()
        settings = {**self._settings, "fd": theirs.fileno(), "parent": os.getpid(), "path": sys.path}
        n_threads = str(self._settings["n_threads"])
        environment = {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, n_threads)}
        environment[_MARK] = self._mark
        # Arrow's allocator would start a thread, and a process with threads does not fork safely.
        environment["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def _ask(self, request: bytes, fd: int | None = None) -> str:
        try:
            if not self._is_ready:
                greeting = self._receive(START_SECONDS)
                if greeting != READY.decode():
                    raise MetamlError(f"No worker can be started: {greeting}")
                self._is_ready = True
            socket.send_fds(self._channel, [request], [] if fd is None else [fd])
            return self._receive(REQUEST_SECONDS)
        except OSError as error:
            raise _ForkServerGone from error

    def _receive(self, seconds: float) -> str:
        self._channel.settimeout(seconds)
        answer = self._channel.recv(4096)
        if not answer:
            raise _ForkServerGone
        return answer.decode()

    def _sweep(self) -> None:
        """Kill what a fork server that was killed could not clean up: its workers died with it, not their children."""
        for _ in range(ATTEMPTS):
            left = started_with(_MARK, self._mark)
            if not left:
                return
            kill_all(left)

    def _stop(self) -> None:
        if self._process is None:
            return
        self._channel.close()
        if not self._is_ready:
            # It has no workers yet, and may be in the middle of an import.
            self._process.kill()
        try:
            self._process.wait(REQUEST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:
            self._sweep()
        self._process = None
        self._is_ready = False
