"""The executor of one machine: several worker processes, a thread for each.

Limits are kept by the `IsolatedEvaluator` of each worker, not by the executor. Jobs and outcomes are small and
picklable, and jobs name their data by fingerprint, so an executor over a cluster can use the same evaluators.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from metaml.errors import BadRequest
from metaml.evaluation.dataset_store import DatasetStore
from metaml.evaluation.executor import next_answer
from metaml.evaluation.fork_server import ALGORITHMS, ForkServer
from metaml.system.scratch import Scratch
from metaml.system.threads import importing

if TYPE_CHECKING:
    from metaml.data import Dataset
    from metaml.evaluation.isolation import IsolatedEvaluator
    from metaml.evaluation.job import FoldDone, Job, Outcome


class LocalExecutor:
    """Evaluates jobs in `n_workers` worker processes; use it in a `with` block, from one thread.

    The workers know the data sets that were added, and the algorithms of `registry`, written
    `package.module:NAME`. The libraries of those in `preload` are imported beforehand, by default of all. Each worker
    uses at most `n_threads` threads.
    """

    def __init__(
        self,
        n_workers: int,
        datasets: Iterable[Dataset] = (),
        *,
        registry: str = ALGORITHMS,
        n_threads: int = 1,
        preload: Sequence[str] | None = None,
    ) -> None:
        if n_workers < 1:
            raise BadRequest(f"An executor of {n_workers} workers cannot work. Ask for at least 1.")
        self.n_workers = n_workers
        self._datasets = tuple(datasets)
        self._settings: dict[str, Any] = {"registry": registry, "n_threads": n_threads, "preload": preload}
        self._scratch = Scratch()
        self._tickets = itertools.count()
        self._in_flight: dict[int, Job] = {}
        self._folds: defaultdict[int, list[FoldDone]] = defaultdict(list)
        self._waiting: queue.SimpleQueue[tuple[int, Job, float] | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[int, Outcome | Exception]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self) -> Self:
        """Start the fork server and the threads; a `with` block does it."""
        self._scratch.open()
        self._store = DatasetStore(self._scratch.folder)
        self._fork_server = ForkServer(self._scratch.folder, **self._settings)
        self._fork_server.start()
        self._threads = [
            threading.Thread(target=self._work, name=f"metaml-worker-{number}", daemon=True)
            for number in range(self.n_workers)
        ]
        for dataset in self._datasets:
            self.add(dataset)
        for thread in self._threads:
            thread.start()
        return self

    @property
    def free(self) -> int:
        """Return how many more jobs could begin at once."""
        return max(0, self.n_workers - len(self._in_flight))

    def add(self, dataset: Dataset) -> None:
        """Make a data set known to the workers."""
        self._store.put(dataset)

    def submit(self, job: Job) -> int:
        """Return a ticket for a job that begins as soon as a worker is free."""
        ticket = next(self._tickets)
        self._in_flight[ticket] = job
        self._waiting.put((ticket, job, time.monotonic()))
        return ticket

    def next(self, timeout: float | None = None) -> tuple[Job, Outcome] | None:
        """Return the job that finishes next and its outcome; None if no job is left, or none done in `timeout` seconds.

        A job that no worker can begin, as none can be started or its data set is missing, raises here.
        """
        return next_answer(self._in_flight, self._answers, timeout)

    def cancel(self, ticket: int | None = None) -> None:
        """Kill or drop one job, or all of them; their outcomes never come."""
        if ticket is None:
            self._in_flight.clear()
        else:
            self._in_flight.pop(ticket, None)

    def take_folds(self, ticket: int) -> tuple[FoldDone, ...]:
        """Return the folds that a job has finished so far, and forget them; it may be done, cancelled or running."""
        return tuple(self._folds.pop(ticket, ()))

    def close(self) -> None:
        """Cancel all jobs and end all workers."""
        self.cancel()
        self._fork_server.give_up()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        self._fork_server.close()
        self._scratch.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _is_cancelled(self, ticket: int) -> bool:
        return ticket not in self._in_flight

    def _hear_of_fold(self, ticket: int, fold: FoldDone) -> None:
        self._folds[ticket].append(fold)

    def _work(self) -> None:
        evaluator: IsolatedEvaluator | None = None
        while (task := self._waiting.get()) is not None:
            if evaluator is None:
                evaluator = self._new_evaluator()
            ticket, job, submitted = task
            if self._is_cancelled(ticket):
                continue
            try:
                is_cancelled = partial(self._is_cancelled, ticket)
                answer: Outcome | Exception = evaluator.run(
                    job.after_waiting(time.monotonic() - submitted), is_cancelled, partial(self._hear_of_fold, ticket)
                )
            except Exception as error:
                answer = error
            self._answers.put((ticket, answer))
        if evaluator is not None:
            evaluator.close()

    def _new_evaluator(self) -> IsolatedEvaluator:
        # With the first job at hand, NumPy is there; before, the workers would have to wait for it.
        with importing:
            from metaml.evaluation.isolation import IsolatedEvaluator
        return IsolatedEvaluator(self._fork_server)
