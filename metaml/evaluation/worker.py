"""A worker: a process that evaluates jobs one after the other until it is stopped or replaced."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import threading
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from metaml.errors import BadRequest
from metaml.evaluation.crossval import evaluate, one_line
from metaml.evaluation.dataset_store import DatasetStore
from metaml.evaluation.job import Job, Outcome
from metaml.evaluation.memory import MEGABYTE, release_memory, resident_bytes
from metaml.system.process_tree import adopt_orphans, die_with, has_children

if TYPE_CHECKING:
    from metaml.algorithms import Algorithm

JOBS_PER_WORKER = 500
"""A worker is replaced after this many jobs, so that memory leaks of libraries cannot add up."""


class Begun(NamedTuple):
    """The data set is loaded and the evaluation starts; limits count from here."""

    baseline_bytes: int


class Overrunning(NamedTuple):
    """The evaluation continues beyond its limit; it may, because it is ahead of the best one so far."""


class Refused(NamedTuple):
    """The job cannot be evaluated at all: it is invalid, or something it needs is missing."""

    why: str


class Done(NamedTuple):
    """The evaluation is over; a worker that retires takes no more jobs."""

    outcome: Outcome
    retires: bool


def find_registry(name: str) -> Mapping[str, Algorithm]:
    """Return the algorithms that `package.module:NAME` holds."""
    module, _, attribute = name.partition(":")
    return cast("Mapping[str, Algorithm]", getattr(importlib.import_module(module), attribute))


def serve(fd: int, parent: int, folder: Path, registry: Mapping[str, Algorithm], n_threads: int) -> None:
    """Evaluate the jobs that arrive on a socket until it closes."""
    os.setsid()
    _stay_nice()
    die_with(parent)
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _offer_to_oom_killer()
    store = DatasetStore(folder)
    connection = Connection(fd)
    n_threads_at_rest = threading.active_count()
    for count in range(1, JOBS_PER_WORKER + 1):
        try:
            job = cast(Job, connection.recv())
        except EOFError:
            return
        try:
            outcome = _outcome(job, connection, store, registry, n_threads)
        except BadRequest as error:
            connection.send(Refused(str(error)))
            continue
        retires = count == JOBS_PER_WORKER or has_children() or threading.active_count() > n_threads_at_rest
        connection.send(Done(outcome, retires))
        if retires:
            return


def _outcome(
    job: Job, connection: Connection, store: DatasetStore, registry: Mapping[str, Algorithm], n_threads: int
) -> Outcome:
    try:
        dataset = store.get(job.dataset)
        if job.algorithm not in registry:
            raise BadRequest(f"There is no algorithm {job.algorithm!r}. Choose one of: {', '.join(registry)}.")
        release_memory()
        connection.send(Begun(resident_bytes()))
        with _memory_ceiling(job.limits.megabytes):
            return evaluate(
                job,
                dataset,
                registry[job.algorithm],
                n_threads=n_threads,
                on_overtime=lambda: connection.send(Overrunning()),
                on_fold=connection.send,
            )
    except BadRequest:
        raise
    except MemoryError as error:
        return Outcome("memory", 0.0, error=one_line(error))
    except Exception as error:
        return Outcome("failed", 0.0, error=one_line(error))


@contextlib.contextmanager
def _memory_ceiling(megabytes: float | None) -> Iterator[None]:
    """Make the kernel refuse memory far beyond the limit, in case the parent process notices too late.

    RLIMIT_DATA counts private writable memory (Linux ≥ 4.7), not address space: unlike RLIMIT_AS it leaves
    the reserved but unused arenas and stacks of threaded libraries alone.
    """
    if megabytes is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    ceiling = _private_bytes() + int((2 * megabytes + 500) * MEGABYTE)
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _private_bytes() -> int:
    """Return the private writable memory of this process, or its resident memory if that is unknown."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return resident_bytes()


def _stay_nice() -> None:
    """Copy the parent's priority to the new session: Linux schedules by session, and a new one starts at 0."""
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(os.getpriority(os.PRIO_PROCESS, 0)), encoding="ascii")


def _offer_to_oom_killer() -> None:
    """Ask the kernel to kill this process first, and not its parent, when the machine runs out of memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
