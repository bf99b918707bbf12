"""A scheduler and workers of Dask in processes of their own, on loopback."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil

from metaml.cluster import DaskExecutor, SchedulerAddress, scheduler_address

SECONDS = 300.0
"""What should happen in moments may take as long on a busy machine."""
PATHS = [str(Path(__file__).parent / "evaluation"), *(path for path in sys.path if path)]

PROGRAM = (
    "import runpy, sys; from metaml.system.process_tree import die_with; die_with(int(sys.argv[1])); "
    "del sys.argv[:2]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)
"""Runs a module that ends with the tests, also if they are killed."""


def wait_until(claim, seconds: float = SECONDS) -> None:
    """Wait for a claim to become true."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def _is_whole(file: Path) -> bool:
    """Return whether Dask has written all of a scheduler file."""
    try:
        return "address" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Cluster:
    """A scheduler, and workers that are started and killed at will; a `with` block ends all of them."""

    def __init__(self, n_workers: int = 1, *, n_slots: int = 1, nanny: bool = False, tls: Path | None = None) -> None:
        self.n_workers, self.n_slots, self.nanny, self.tls = n_workers, n_slots, nanny, tls
        self.processes: list[subprocess.Popen[bytes]] = []
        self.port = 0

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="metaml-cluster-")
        self.folder = Path(self._folder.name)
        try:
            self.start_scheduler()
            self.workers = [self.start_worker() for _ in range(self.n_workers)]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                # Children end by themselves while they are killed one after the other.
                for child in psutil.Process(process.pid).children(recursive=True):
                    with suppress(psutil.NoSuchProcess):
                        child.kill()
                process.kill()
            process.wait()
        self._folder.cleanup()

    def restore(self) -> None:
        """Start what has died, and end workers that were started later."""
        for process in self.processes:
            if process not in (self.scheduler, *self.workers) and process.poll() is None:
                self.kill(process)
        if self.scheduler.poll() is not None:
            for worker in self.workers:
                self.kill(worker)
            self.start_scheduler()
        self.workers = [self.start_worker() if worker.poll() is not None else worker for worker in self.workers]

    @property
    def address(self) -> SchedulerAddress:
        files = self._files()
        names = zip(("tls_ca", "tls_cert", "tls_key"), files, strict=True) if files else ()
        return scheduler_address(self.url, **dict(names))

    @property
    def url(self) -> str:
        return str(json.loads((self.folder / "scheduler.json").read_text())["address"])

    def start_scheduler(self) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._start(
            "distributed.cli.dask_scheduler",
            *("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--scheduler-file", str(file)),
            *(("--protocol", "tls") if self.tls else ()),
        )
        wait_until(lambda: _is_whole(file))
        self.port = int(self.url.rpartition(":")[2])

    def start_worker(
        self, *words: str, n_slots: int | None = None, identity: Path | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Start a worker; one with an `identity` shows the certificate of that folder, not of the cluster."""
        return self._start(
            "distributed.cli.dask_worker",
            *(self.url, "--host", "127.0.0.1", "--nthreads", str(n_slots or self.n_slots), "--memory-limit", "0"),
            *("--no-dashboard", "--nanny" if self.nanny else "--no-nanny", "--local-directory", str(self.folder)),
            *words,
            identity=identity,
            **environment,
        )

    def _start(
        self, module: str, *arguments: str, identity: Path | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        files = self._files(identity)
        tls = zip(("--tls-ca-file", "--tls-cert", "--tls-key"), files, strict=True) if files else ()
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                PROGRAM,
                str(os.getpid()),
                module,
                *arguments,
                *(word for pair in tls for word in pair),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS), **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if "CLUSTER_LOG" not in os.environ else None,
        )
        self.processes.append(process)
        return process

    def _files(self, identity: Path | None = None) -> tuple[str, ...]:
        """Return the files of a TLS connection: who is trusted, who we are, and the key; none without TLS."""
        if self.tls is None:
            return ()
        own = identity or self.tls
        return str(self.tls / "cert.pem"), str(own / "cert.pem"), str(own / "key.pem")

    def executor(self, n_workers: int | None = None, datasets=(), **options) -> DaskExecutor:
        return DaskExecutor(self.address, n_workers, datasets, **{"preload": (), **options})

    def kill(self, process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait()


def finish(executor, jobs, seconds: float = SECONDS):
    """Return the outcomes of jobs, after checking that each came back once."""
    for job in jobs:
        executor.submit(job)
    found = [executor.next(seconds) for _ in jobs]
    assert sorted(id(job) for job, _ in found) == sorted(id(job) for job in jobs)
    assert executor.next(0) is None
    return [outcome for _, outcome in found]
