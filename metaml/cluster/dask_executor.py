"""The executor of many machines: it gives jobs to the workers of a Dask cluster.

Each worker keeps the limits of its jobs with an `IsolatedEvaluator`, as on one machine. Workers may come and go at any
time, and so may the scheduler; a job is answered once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

from metaml.cluster.dispatcher import Attempt, AttemptTimeouts, Dispatcher
from metaml.errors import BadRequest
from metaml.evaluation.dataset_store import dataset_bytes
from metaml.evaluation.executor import next_answer
from metaml.evaluation.fork_server import ALGORITHMS

if TYPE_CHECKING:
    from metaml.cluster.address import SchedulerAddress
    from metaml.cluster.dask_engine import DaskEngine
    from metaml.data import Dataset
    from metaml.evaluation.job import FoldDone, Job, Outcome

FIRST_WORKER_SECONDS = 60.0
FOLDS_SECONDS = 1.0
CLOSE_SECONDS = 8.0
SENDER_PAUSE_SECONDS = 0.03
"""A little more than Dask waits between two batches of messages."""
T = TypeVar("T")


class DaskExecutor:
    """Evaluates jobs on the workers of a Dask cluster; use it in a `with` block, from one thread.

    It takes all slots of the workers, or at most `n_workers`. The workers know the algorithms of `registry`, written
    `package.module:NAME`. `on_note` receives a sentence about what happens to the cluster, from another thread.
    """

    def __init__(
        self,
        address: SchedulerAddress,
        n_workers: int | None = None,
        datasets: Iterable[Dataset] = (),
        *,
        registry: str = ALGORITHMS,
        n_threads: int = 1,
        preload: Sequence[str] | None = None,
        evaluator: str | None = None,
        patience: AttemptTimeouts | None = None,
        first_worker_seconds: float = FIRST_WORKER_SECONDS,
        on_note: Callable[[str], None] = lambda _: None,
    ) -> None:
        if n_workers is not None and n_workers < 1:
            raise BadRequest(f"An executor of {n_workers} workers cannot work. Ask for at least 1.")
        self._address, self._datasets, self._on_note = address, tuple(datasets), on_note
        self._most_jobs, self._patience, self._first_worker_seconds = n_workers, patience, first_worker_seconds
        self._settings: dict[str, Any] = {
            "registry": registry,
            "n_threads": n_threads,
            "preload": None if preload is None else tuple(preload),
            **({} if evaluator is None else {"evaluator": evaluator}),
        }
        self._tickets = itertools.count()
        self._in_flight: dict[int, Job] = {}
        self._added: set[str] = set()
        self._folds: defaultdict[int, list[FoldDone]] = defaultdict(list)
        self._answers: queue.SimpleQueue[tuple[int, Outcome | Exception]] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> Self:
        """Connect to the scheduler and wait for the first worker; a `with` block does it."""
        from metaml.cluster.dask_engine import DaskEngine
        from metaml.cluster.worker_side import SideSettings

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="metaml-cluster", daemon=True)
        self._thread.start()
        self._engine: DaskEngine = DaskEngine(
            self._address,
            SideSettings(**self._settings),
            on_note=self._on_note,
            on_error=self._fail,
            on_folds=lambda ticket, folds: self._folds[ticket].extend(folds),
        )
        self._dispatcher = Dispatcher(
            self._engine,
            lambda ticket, outcome: self._answers.put((ticket, outcome)),
            most_jobs=self._most_jobs,
            patience=self._patience,
        )
        self._engine.dispatcher = self._dispatcher
        try:
            self._await(self._engine.connect())
            self._begin(self._engine.watch())
            self._wait_for_worker()
            for dataset in self._datasets:
                self.add(dataset)
        except BaseException:
            self.close()
            raise
        return self

    @property
    def n_workers(self) -> int:
        """Return how many jobs it evaluates at a time, as the cluster is now; 1 while it has no worker."""
        return max(self._dispatcher.n_slots, 1)

    @property
    def n_transfers(self) -> dict[tuple[str, str], int]:
        """Return how many times each data set (fingerprint) was sent to each worker."""
        return {(worker, dataset): n for (worker, dataset), n in self._engine.n_transfers.items()}

    @property
    def refused_workers(self) -> dict[str, str]:
        """Return the workers that get no jobs, each with the reason."""
        return dict(self._engine.refused)

    def add(self, dataset: Dataset) -> None:
        """Make a data set known; it is sent once to each worker that has a job on it."""
        if dataset.fingerprint not in self._added:
            self._added.add(dataset.fingerprint)
            self._call(self._engine.add, dataset.fingerprint, dataset_bytes(dataset))

    def submit(self, job: Job) -> int:
        """Return a ticket for a job that begins as soon as a worker is free."""
        ticket = next(self._tickets)
        self._in_flight[ticket] = job
        if job.dataset in self._added:
            self._call(self._dispatcher.submit, ticket, job, time.monotonic())
        else:
            why = f"The workers have no data set {job.dataset}: it was not added."
            self._answers.put((ticket, BadRequest(why)))
        return ticket

    def next(self, timeout: float | None = None) -> tuple[Job, Outcome] | None:
        """Return the job that finishes next and its outcome; None if no job is left, or none done in `timeout` seconds.

        A job that cannot begin on any worker raises here.
        """
        return next_answer(self._in_flight, self._answers, timeout)

    def cancel(self, ticket: int | None = None) -> None:
        """Stop one job, or all of them; their outcomes never come."""
        for number in [*self._in_flight] if ticket is None else [ticket]:
            job = self._in_flight.pop(number, None)
            if job is not None and job.tells_folds and ticket is not None:
                self._await(self._cancel_with_folds(number))
            elif job is not None:
                self._call(self._dispatcher.cancel, number, time.monotonic())

    def take_folds(self, ticket: int) -> tuple[FoldDone, ...]:
        """Return the folds that a job has reported, once it is done or cancelled; forget them."""
        return tuple(self._folds.pop(ticket, ()))

    def close(self) -> None:
        """Cancel all jobs, and let the workers end what they started for this executor."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        self._in_flight.clear()
        # If the cluster does not answer, its scheduler cleans up when it sees that this process is gone.
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._close(), loop).result(CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(1.0)
        if not self._thread.is_alive():
            loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    # In the thread of the cluster

    async def _close(self) -> None:
        await self._engine.close()
        # Dask's sender pauses after the last message. If the loop stopped then, Python would print a lost TimeoutError.
        await asyncio.sleep(SENDER_PAUSE_SECONDS)

    async def _cancel_with_folds(self, ticket: int) -> None:
        attempt = self._dispatcher.attempt_of(ticket)
        if attempt is not None:
            await self._engine.folds_so_far(attempt, FOLDS_SECONDS)
        self._dispatcher.cancel(ticket, time.monotonic())

    def _fail(self, attempt: Attempt, error: Exception) -> None:
        self._dispatcher.cancel(attempt.ticket, time.monotonic())
        self._answers.put((attempt.ticket, error))

    # Between the threads

    def _call(self, function: Callable[..., Any], *arguments: Any) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(function, *arguments)

    def _begin(self, coroutine: Coroutine[Any, Any, T]) -> Any:
        assert self._loop is not None  # noqa: S101 - only called after `start`
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _await(self, coroutine: Coroutine[Any, Any, T]) -> T:
        found: T = self._begin(coroutine).result()
        return found

    def _wait_for_worker(self) -> None:
        """Wait until a worker can take jobs; BadRequest if none comes."""
        deadline = time.monotonic() + self._first_worker_seconds
        while not self._dispatcher.n_slots:
            if time.monotonic() > deadline or self._engine.has_only_refused:
                refused = "; ".join(f"{name}: {why}" for name, why in self._engine.refused.items())
                reasons = f" Refused were: {refused}." if refused else ""
                when = "" if self._engine.has_only_refused else f" within {self._first_worker_seconds:.2g} s"
                raise BadRequest(
                    f"No worker of {self._address.text} could take jobs{when}.{reasons} Start one with: metaml worker "
                    f"--scheduler {self._address.text}"
                )
            time.sleep(0.02)
