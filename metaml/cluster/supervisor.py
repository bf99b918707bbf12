"""Keeps processes of a cluster running on this machine: a worker comes back after it, or its scheduler, has died."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import psutil

from metaml.errors import BadRequest, MetamlError
from metaml.system.process_tree import descendants, kill_all

if TYPE_CHECKING:
    from metaml.cluster.address import SchedulerAddress

WORKER, SCHEDULER = "distributed.cli.dask_worker", "distributed.cli.dask_scheduler"
PROGRAM = (
    "import runpy, sys; from metaml.system.process_tree import die_with; die_with(int(sys.argv[1])); "
    "name = sys.argv[2]; sys.argv = [name, *sys.argv[3:]]; runpy.run_module(name, run_name='__main__')"
)
TICK_SECONDS, PAUSE_SECONDS = 0.2, 1.0
END_SECONDS = 5.0
LOST_SCHEDULER_SECONDS = 30
"""A worker that finds no scheduler for this long is started again, as a file may say by then that it has moved."""

Command = Callable[[], Sequence[str]]
"""Returns a module and its arguments, as they are when the process is started."""


def worker_command(address: SchedulerAddress, *, n_slots: int, n_workers: int = 1) -> Command:
    """Return how workers are started that evaluate `n_slots` jobs each at a time.

    The evaluators watch the memory of their jobs, which Dask does not see; so it keeps no limit of its own.
    """

    def command() -> list[str]:
        from metaml.cluster.address import is_loopback

        url, tls = address.url, address.tls
        host = ["--host", "127.0.0.1"] if is_loopback(url) else []
        files = [] if tls is None else ["--tls-ca-file", str(tls.ca), "--tls-cert", str(tls.cert)]
        files += [] if tls is None else ["--tls-key", str(tls.key)]
        numbers = ["--nworkers", str(n_workers), "--nthreads", str(n_slots), "--memory-limit", "0"]
        return [WORKER, url, *host, *files, *numbers, "--no-dashboard", "--death-timeout", str(LOST_SCHEDULER_SECONDS)]

    return command


def scheduler_command(port: int) -> Command:
    """Return how a scheduler for this machine alone is started."""
    return lambda: [SCHEDULER, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]


def check_port(port: int) -> None:
    """Raise BadRequest if a port of this machine is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise BadRequest(f"Port {port} of this machine is taken. Choose another one with --port.") from None


@dataclass(eq=False)
class _Kept:
    """A process that is kept running, and when it may be started again."""

    command: Command
    process: subprocess.Popen[bytes] | None = None
    not_before: float = 0.0


class Supervisor:
    """Runs processes until `stop` or a signal; one that ends is started again. They end with this process."""

    def __init__(self, commands: Sequence[Command], *, on_note: Callable[[str], None] = lambda _: None) -> None:
        self._kept = [_Kept(command) for command in commands]
        self._on_note = on_note
        self._is_over = threading.Event()

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Keep the processes running until SIGINT, SIGTERM or `stop`; call `on_ready` once all are started."""
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._restart_ended()
            on_ready()
            while not self._is_over.wait(TICK_SECONDS):
                self._restart_ended()
        finally:
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Let `run` end."""
        self._is_over.set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.stop()

    def _restart_ended(self) -> None:
        """Start what is not running, but not more often than once in a while."""
        for kept in self._kept:
            if kept.process is not None and kept.process.poll() is not None:
                self._on_note(f"A process of the cluster ended (exit code {kept.process.returncode}). It comes back.")
                kept.process, kept.not_before = None, time.monotonic() + PAUSE_SECONDS
            if kept.process is None and time.monotonic() >= kept.not_before:
                try:
                    words = kept.command()
                except MetamlError as error:
                    # A scheduler that is about to come back has not written its file yet.
                    self._on_note(str(error))
                    kept.not_before = time.monotonic() + PAUSE_SECONDS
                    continue
                kept.process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(os.getpid()), *words],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # A Ctrl-C in the terminal is for this process, which then ends the others in order.
                    start_new_session=True,
                )

    def _end(self) -> None:
        running = [kept.process for kept in self._kept if kept.process is not None and kept.process.poll() is None]
        families = [process for child in running for process in descendants(child.pid)]
        for child in running:
            child.terminate()
        psutil.wait_procs([psutil.Process(child.pid) for child in running if child.poll() is None], END_SECONDS)
        kill_all(families)
        for child in running:
            child.kill()
            child.wait()
