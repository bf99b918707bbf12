"""The program of the fork server: the process that workers are forked from.

It imports the libraries once, with their thread pools capped, so that a new worker is ready within milliseconds
and shares their memory. It never runs a learner, so it stays sound, and has one thread, so it forks safely.

Its second duty is to clean up. Descendants of a dead worker become its children, and any child that is not a worker
is killed. When the process that started it goes away, however that happened, it ends all workers and removes the
folder of data sets.

Requests come over a socket, one at a time: `start`, with the worker's socket, is answered by the worker's pid;
`end PID` kills the worker with all its descendants and is answered by its exit status, negative for a signal.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import shutil
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from metaml.evaluation.crossval import one_line
from metaml.evaluation.fork_server import READY, UNKNOWN
from metaml.evaluation.worker import find_registry, serve
from metaml.system.process_tree import adopt_orphans, descendants, kill_all, kill_group

if TYPE_CHECKING:
    from metaml.algorithms import Algorithm

DEATH_SECONDS = 3.0
PARENT_CHECK_SECONDS = 1.0


@dataclass(frozen=True)
class Settings:
    """The settings of a fork server; passed on its command line as JSON."""

    fd: int
    parent: int
    path: list[str]
    preload: list[str] | None
    registry: str
    folder: str
    n_threads: int


def main(text: str) -> None:
    """Run a fork server until its parent is gone."""
    settings = Settings(**json.loads(text))
    channel = socket.socket(fileno=settings.fd)
    workers: set[int] = set()
    try:
        adopt_orphans()
        _dump_no_core()
        try:
            registry = _prepare(settings)
        except Exception as error:
            channel.sendall(one_line(error).encode())
            return
        channel.sendall(READY)
        _answer_requests(channel, settings, registry, workers)
    finally:
        for pid in list(workers):
            _end(pid, workers)
        if os.getppid() != settings.parent:
            # The parent is gone and cannot do it. A living parent may start another fork server for the same data sets.
            shutil.rmtree(settings.folder, ignore_errors=True)


def _prepare(settings: Settings) -> Mapping[str, Algorithm]:
    registry = find_registry(settings.registry)
    expected = registry if settings.preload is None else [name for name in settings.preload if name in registry]
    modules = dict.fromkeys(module for name in expected for module in registry[name].modules)
    for name in ("metaml.data", *modules):
        if find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)
    from threadpoolctl import threadpool_limits

    threadpool_limits(settings.n_threads)
    gc.collect()
    gc.freeze()
    return registry


def _answer_requests(
    channel: socket.socket, settings: Settings, registry: Mapping[str, Algorithm], workers: set[int]
) -> None:
    channel.settimeout(PARENT_CHECK_SECONDS)
    while True:
        try:
            request, fds, _, _ = socket.recv_fds(channel, 1024, 1)
        except TimeoutError:
            # A fork of the parent may hold its end of the socket open for longer than the parent lives.
            if os.getppid() != settings.parent:
                return
            continue
        except ConnectionError:
            return
        if not request:
            return
        verb, *arguments = request.decode().split()
        if verb == "start":
            answer = str(_start(fds[0], channel, settings, registry))
            workers.add(int(answer))
        else:
            answer = _end(int(arguments[0]), workers)
        channel.sendall(answer.encode())


def _start(fd: int, channel: socket.socket, settings: Settings, registry: Mapping[str, Algorithm]) -> int:
    fork_server = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            channel.close()
            serve(fd, fork_server, Path(settings.folder), registry, settings.n_threads)
            status = 0
        finally:
            os._exit(status)
    os.close(fd)
    return pid


def _end(pid: int, workers: set[int]) -> str:
    """Return the exit status of a worker after ending it and everything that descends from it."""
    if pid not in workers:
        return UNKNOWN
    family = descendants(pid)
    kill_group(pid)
    kill_all(family)
    status = _wait(pid)
    workers.discard(pid)
    for _ in range(20):
        orphans = [child for child in psutil.Process().children() if child.pid not in workers]
        if not orphans:
            break
        for orphan in orphans:
            kill_all([orphan, *descendants(orphan.pid)])
            _wait(orphan.pid)
    return status


def _wait(pid: int) -> str:
    """Return the exit status of a child that is about to die."""
    deadline = time.monotonic() + DEATH_SECONDS
    while time.monotonic() < deadline:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            return UNKNOWN
        if found:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.005)
    return UNKNOWN


def _dump_no_core() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
