"""The seam between a loop and those who evaluate for it: `LocalExecutor` on this machine, others over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from metaml.data import Dataset
    from metaml.evaluation.job import FoldDone, Job, Outcome


class Executor(Protocol):
    """Evaluates jobs, several at a time, each within its limits; used from one thread.

    Deadlines in a job are seconds left, never a time of one machine's clock. A job that fails is an outcome; only a
    job that cannot begin at all raises, in `next`.
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
