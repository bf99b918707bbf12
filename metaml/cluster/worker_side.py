"""What runs inside a Dask worker: evaluators with limits for the jobs of one executor, and its data sets.

The worker's own process never runs a learner. A fork server and its children do, as on one machine; they end with the
worker, however it ends.
"""

from __future__ import annotations

import asyncio
import queue
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from distributed import WorkerPlugin, get_worker

from metaml.cluster.versions import host_facts
from metaml.evaluation.dataset_store import DatasetStore
from metaml.evaluation.fork_server import ForkServer
from metaml.system.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Worker

    from metaml.evaluation.job import FoldDone, Job, Outcome

ISOLATED = "metaml.evaluation.isolation:IsolatedEvaluator"


class NotInstalled(Exception):
    """The worker has not, or no longer, what the executor put there: it was restarted, or the executor has gone."""


class JobEvaluator(Protocol):
    """Evaluates one job at a time, as `IsolatedEvaluator` does."""

    def run(
        self,
        job: Job,
        should_stop: Callable[[], bool],
        on_fold: Callable[[FoldDone], None],
        on_begin: Callable[[], None],
    ) -> Outcome:
        """Return the outcome of a job."""
        ...

    def close(self) -> object:
        """End what was started for jobs."""
        ...


@dataclass(frozen=True)
class SideSettings:
    """What an executor wants of a worker: algorithms (`package.module:NAME`), threads of a job, algorithms to preload.

    `evaluator` is the class that evaluates jobs, given a fork server.
    """

    registry: str
    n_threads: int = 1
    preload: tuple[str, ...] | None = None
    evaluator: str = ISOLATED


class WorkerSide(WorkerPlugin):  # type: ignore[misc] # distributed is untyped
    """The evaluators and data sets of one executor in one Dask worker."""

    def __init__(self, session: str, settings: SideSettings) -> None:
        self.name = self.session = session
        self.settings = settings

    async def setup(self, worker: Worker) -> None:
        """Start the fork server."""
        del worker
        self._scratch = Scratch()
        self._idle: queue.SimpleQueue[JobEvaluator] = queue.SimpleQueue()
        self._folds: defaultdict[int, list[FoldDone]] = defaultdict(list)
        self._starting = asyncio.create_task(asyncio.to_thread(self._start))
        await self._starting

    async def teardown(self, worker: Worker) -> None:
        """End the fork server and remove the data sets, also if the executor goes while they are made."""
        del worker
        await asyncio.wait([self._starting])
        await asyncio.to_thread(self._stop)

    def _start(self) -> None:
        settings = self.settings
        self._scratch.open()
        self.store = DatasetStore(self._scratch.folder)
        self._fork_server = ForkServer(
            self._scratch.folder, registry=settings.registry, n_threads=settings.n_threads, preload=settings.preload
        )
        if settings.evaluator == ISOLATED:
            self._fork_server.start()

    def _stop(self) -> None:
        self._fork_server.give_up()
        self._fork_server.close()
        self._scratch.close()

    def run(self, number: int, job: Job, should_stop: Callable[[], bool], on_begin: Callable[[], None]) -> Reply:
        """Return the outcome of a job with the folds that it has reported."""
        try:
            evaluator = self._idle.get_nowait()
        except queue.Empty:
            evaluator = self._new_evaluator()
        folds = self._folds[number]
        try:
            outcome = evaluator.run(job, should_stop, folds.append, on_begin)
        finally:
            self._idle.put(evaluator)
            self._folds.pop(number, None)
        # The models of a complete evaluation travel with its outcome alone.
        return Reply(outcome, () if outcome.told_folds() else tuple(folds))

    def folds_so_far(self, number: int) -> tuple[FoldDone, ...]:
        """Return the folds that a job under way has reported."""
        return tuple(self._folds.get(number, ()))

    def _new_evaluator(self) -> JobEvaluator:
        from importlib import import_module

        module, _, name = self.settings.evaluator.partition(":")
        evaluator: JobEvaluator = getattr(import_module(module), name)(self._fork_server)
        return evaluator


@dataclass(frozen=True, eq=False)
class Reply:
    """What comes back for an attempt; `folds` are those that the outcome does not have."""

    outcome: Outcome
    folds: tuple[FoldDone, ...]


def run_attempt(session: str, number: int, key: str, job: Job) -> Reply:
    """Return the answer to an attempt; a task of Dask. Once the task is cancelled, the evaluation is killed."""
    worker = get_worker()
    side = _side(worker, session)
    return side.run(
        number,
        job,
        should_stop=lambda: is_withdrawn(worker, key),
        on_begin=lambda: worker.log_event(session, {"begun": number}),
    )


def is_withdrawn(worker: Worker, key: str) -> bool:
    """Return whether the result of a running task is no longer needed.

    This looks into Dask's own state, which has no public name for it; `test_worker_side` pins it.
    """
    task = worker.state.tasks.get(key)
    return task is None or task.state == "cancelled"


# Called in the event loop of a worker, by `Client.run`. `dask_worker` is filled in by Dask.


async def describe(dask_worker: Worker) -> dict[str, Any]:
    """Return what the worker is: environment, memory, slots."""
    facts = await asyncio.to_thread(host_facts)
    return {**facts, "n_slots": dask_worker.state.nthreads, "name": str(dask_worker.name)}


async def install(session: str, settings: SideSettings, dask_worker: Worker) -> None:
    """Start the evaluators of an executor, unless they were started before; NotInstalled if the executor has gone."""
    if session not in dask_worker.plugins:
        await dask_worker.plugin_add(WorkerSide(session, settings), name=session, catch_errors=False)
    # The executor may have gone since it asked. Whoever is later, this question or the scheduler's cleanup, removes it.
    if any(message.get("ended") for _, message in await dask_worker.scheduler.events(topic=session)):
        await dask_worker.plugin_remove(session)
        raise NotInstalled(f"the executor of {session} has gone")


async def put_dataset(session: str, fingerprint: str, content: bytes, dask_worker: Worker) -> None:
    """Write a data set for the evaluators of an executor."""
    await asyncio.to_thread(_side(dask_worker, session).store.put_content, fingerprint, content)


async def folds_so_far(session: str, number: int, dask_worker: Worker) -> tuple[FoldDone, ...]:
    """Return the folds that an attempt under way has reported."""
    return _side(dask_worker, session).folds_so_far(number)


async def ping(dask_worker: Worker) -> str:
    """Return the address of a worker that lives."""
    return str(dask_worker.address)


def _side(worker: Worker, session: str) -> WorkerSide:
    side = worker.plugins.get(session)
    if side is None:
        raise NotInstalled(f"{worker.address} has no evaluators of {session}")
    return side  # type: ignore[no-any-return] # distributed is untyped
