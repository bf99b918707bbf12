"""The interface between a search and what evaluates its jobs, such as `LocalExecutor` on this machine."""

from __future__ import annotations

import queue
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from metaml.data import Dataset
    from metaml.evaluation.job import FoldDone, Job, Outcome


class Executor(Protocol):
    """Evaluates jobs, several at a time, each within its limits; used from one thread.

    Deadlines in a job are seconds left, never a clock time. A job that fails gives an outcome. Only a job that cannot
    start at all raises an error, in `next`.
    """

    @property
    def n_workers(self) -> int:
        """Return how many jobs it evaluates at a time."""
        ...

    def add(self, dataset: Dataset) -> None:
        """Make a data set known to the workers; jobs name it by its fingerprint."""
        ...

    def submit(self, job: Job) -> int:
        """Return a ticket for a job that begins as soon as a worker is free."""
        ...

    def next(self, timeout: float | None = None) -> tuple[Job, Outcome] | None:
        """Return the next job that finishes, and its outcome.

        Return None if no job is open, or if none finishes within `timeout` seconds. The job is the object submitted.
        """
        ...

    def cancel(self, ticket: int | None = None) -> None:
        """Stop one job, or all of them; their outcomes never arrive."""
        ...

    def take_folds(self, ticket: int) -> tuple[FoldDone, ...]:
        """Return the folds that a job has reported, and forget them."""
        ...

    def close(self) -> None:
        """Cancel all jobs and end all workers."""
        ...


def next_answer(
    in_flight: MutableMapping[int, Job],
    answers: queue.SimpleQueue[tuple[int, Outcome | Exception]],
    timeout: float | None,
) -> tuple[Job, Outcome] | None:
    """Return what `Executor.next` does, given the open jobs by ticket and a queue of answers; the job is open no more.

    Answers to cancelled jobs are dropped. An exception in place of an outcome is raised.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while in_flight:
        try:
            left = None if end is None else max(end - time.monotonic(), 0.0)
            ticket, answer = answers.get(timeout=left)
        except queue.Empty:
            return None
        job = in_flight.pop(ticket, None)
        if job is None:
            continue
        if isinstance(answer, Exception):
            raise answer
        return job, answer
    return None
