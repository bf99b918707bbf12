"""Evaluation in a process of its own, under limits that hold whatever the learner does.

An `IsolatedEvaluator` is an `Evaluator` that blocks: it hands the job to its long-lived worker and watches it
from outside. A worker that overruns its time or memory is killed with all its descendants, one that dies is
replaced. Nothing here knows about executors: the local one has an evaluator in each of its threads, and a worker of a
cluster can hold one as well, so that the same limits hold there.

Why not `pebble`: its pool never answers for a job that leaves by `os._exit(0)`, breaks when an idle worker is killed,
waits 3 s for each worker that ignores SIGTERM, one after the other, has no memory limit, and leaves the children of
a killed worker alive, as it does the workers when their parent is killed.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import time
from collections.abc import Callable

import psutil

from metaml.errors import BadRequest
from metaml.evaluation.crossval import too_large, too_slow
from metaml.evaluation.fork_server import ATTEMPTS, ForkServer, Worker
from metaml.evaluation.job import FoldDone, Job, Outcome, Status
from metaml.evaluation.memory import MEGABYTE
from metaml.evaluation.worker import Begun, Done, Overrunning, Refused
from metaml.system.process_tree import descendants
from metaml.system.threads import importing

TICK_SECONDS = 0.05
TICKS_PER_CENSUS = 10
LOAD_SECONDS = 60.0
SMALL_ANSWER_BYTES = 16 * MEGABYTE
LARGE_ANSWER_BYTES = 2000 * MEGABYTE
NEARLY = 0.8
"""A worker that is killed by the kernel when it has reached this share of its memory limit has died of memory."""


class _Overrun(Exception):
    """The job is to be killed, for the reason given."""

    def __init__(self, status: Status, error: str) -> None:
        super().__init__(error)
        self.status = status


class _WorkerGone(Exception):
    """The worker has died, or says what no worker says."""


class IsolatedEvaluator:
    """Evaluates jobs one at a time in a worker process, within their limits; an `Evaluator`."""

    def __init__(self, fork_server: ForkServer) -> None:
        self._fork_server = fork_server
        self._worker: Worker | None = None

    def __call__(self, job: Job) -> Outcome:
        """Return the outcome of a job, at most moments after its limit."""
        return self.run(job)

    def run(
        self,
        job: Job,
        should_stop: Callable[[], bool] = lambda: False,
        on_fold: Callable[[FoldDone], None] = lambda _: None,
        on_begin: Callable[[], None] = lambda: None,
    ) -> Outcome:
        """Return the outcome of a job; once `should_stop` says so it is killed and has crashed.

        `on_begin` is called when its data set is loaded and its limits begin to count.

        A job that makes no sense, or whose data set is missing, raises BadRequest: it says nothing of its algorithm.
        """
        for _ in range(ATTEMPTS):
            if self._worker is None:
                self._worker = self._fork_server.new_worker()
            watch = _Watch(job, self._worker, should_stop, on_fold, on_begin)
            try:
                done = watch.until_done()
            except _Overrun as overrun:
                self.close()
                return watch.outcome(overrun.status, str(overrun))
            except _WorkerGone:
                exit_status = self.close()
                if watch.has_begun:
                    return watch.death(exit_status)
                # Whatever killed a worker that had not begun, it was not this job.
                continue
            if done.retires:
                self.close()
            return done.outcome
        return Outcome("crashed", 0.0, error=f"{ATTEMPTS} workers died before they could begin")

    def close(self) -> int | None:
        """Return the exit status of the worker, if there was one and it is known; it is dead afterwards."""
        worker, self._worker = self._worker, None
        return None if worker is None else self._fork_server.end(worker)


class _Watch:
    """One job in one worker, seen from outside."""

    def __init__(
        self,
        job: Job,
        worker: Worker,
        should_stop: Callable[[], bool],
        on_fold: Callable[[FoldDone], None],
        on_begin: Callable[[], None],
    ) -> None:
        self.has_begun = False
        self._job = job
        self._worker = worker
        self._should_stop = should_stop
        self._on_fold = on_fold
        self._on_begin = on_begin
        self._since = time.monotonic()
        self._most_seconds = job.limits.seconds
        self._baseline_bytes = 0
        self._family_bytes = 0
        self._peak_megabytes = 0.0
        self._ticks = 0

    def until_done(self) -> Done:
        """Return what the worker answers, unless it overruns a limit, refuses or dies."""
        try:
            self._worker.connection.send(self._job)
            while True:
                if self._worker.connection.poll(TICK_SECONDS):
                    message = self._receive()
                    if isinstance(message, Done):
                        return message
                    if isinstance(message, Refused):
                        raise BadRequest(message.why)
                    self._hear(message)
                self._check()
        except (EOFError, OSError) as error:
            raise _WorkerGone from error

    def outcome(self, status: Status, error: str) -> Outcome:
        """Return the outcome of a job that has no scores."""
        seconds = time.monotonic() - self._since if self.has_begun else 0.0
        return Outcome(status, seconds, peak_megabytes=self._peak_megabytes, error=error)

    def death(self, exit_status: int | None) -> Outcome:
        """Return the outcome of a job whose worker crashed or was killed by the system."""
        limit = self._job.limits.megabytes
        is_large = limit is not None and self._peak_megabytes > NEARLY * limit
        if is_large and exit_status in (-signal.SIGKILL, -signal.SIGABRT):
            return self.outcome("memory", too_large(self._job, self._peak_megabytes))
        if exit_status is None:
            return self.outcome("crashed", "the worker died")
        if exit_status < 0:
            return self.outcome("crashed", f"the worker died of {_signal_name(-exit_status)}")
        return self.outcome("crashed", f"the worker left with exit code {exit_status}")

    def _receive(self) -> object:
        is_large = self._job.keep_predictions or self._job.refit
        most = LARGE_ANSWER_BYTES if is_large else SMALL_ANSWER_BYTES
        try:
            content = self._worker.connection.recv_bytes(most)
            # Only a fitted estimator brings libraries with it; nobody else need wait for another thread's imports.
            with importing if self._job.refit else contextlib.nullcontext():
                return pickle.loads(content)  # noqa: S301 - from our own process
        except (pickle.UnpicklingError, AttributeError, ImportError, IndexError, ValueError, TypeError) as error:
            raise _WorkerGone from error

    def _hear(self, message: object) -> None:
        if self.has_begun and isinstance(message, Overrunning) and self._job.overtime is not None:
            overtime = self._job.overtime
            self._most_seconds = max(self._most_seconds, min(overtime.seconds, overtime.left))
            return
        if self.has_begun and isinstance(message, FoldDone):
            self._on_fold(message)
            return
        if self.has_begun or not isinstance(message, Begun):
            raise _WorkerGone
        self.has_begun = True
        self._since = time.monotonic()
        self._baseline_bytes = message.baseline_bytes
        self._on_begin()

    def _check(self) -> None:
        seconds = time.monotonic() - self._since
        if self._should_stop():
            raise _Overrun("crashed", "cancelled")
        if not self.has_begun:
            if seconds > LOAD_SECONDS:
                raise _Overrun("timeout", f"the data set was not loaded within {LOAD_SECONDS:g} s")
            return
        if seconds > self._most_seconds:
            raise _Overrun("timeout", too_slow(self._most_seconds))
        self._check_memory()

    def _check_memory(self) -> None:
        try:
            own_bytes = self._worker.process.memory_info().rss
        except psutil.NoSuchProcess:
            own_bytes = 0
        if own_bytes == 0 and not self._worker.connection.poll(0):
            # Its connection may still be open, in a child it has forked.
            raise _WorkerGone
        if self._ticks % TICKS_PER_CENSUS == 0:
            self._family_bytes = sum(_private_bytes(child) for child in descendants(self._worker.process.pid))
        self._ticks += 1
        megabytes = (own_bytes + self._family_bytes - self._baseline_bytes) / MEGABYTE
        self._peak_megabytes = max(self._peak_megabytes, megabytes)
        limit = self._job.limits.megabytes
        if limit is not None and megabytes > limit:
            raise _Overrun("memory", too_large(self._job, megabytes))


def _private_bytes(process: psutil.Process) -> int:
    """Return the memory a descendant has to itself; what it still shares with the worker counts once."""
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
