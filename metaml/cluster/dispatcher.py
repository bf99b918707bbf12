"""Decides which worker of a cluster evaluates which job, and what happens when a worker dies or falls silent.

It knows no network, no thread and no clock: an engine does what it asks for and tells it what happened and when. The
engine of a real cluster is `DaskEngine`; `SimulatedEngine` has a virtual clock.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from metaml.evaluation.job import Job, Outcome

MOST_DEATHS = 4
"""A job that was on this many workers when they died has crashed."""
START_SECONDS, GRACE_SECONDS = 75.0, 10.0


@dataclass(frozen=True)
class ClusterWorker:
    """A worker of a cluster: how many jobs it takes at a time, and what it is.

    `scale` is what one second there is worth here. Workers on one host share its `megabytes`.
    """

    name: str
    host: str
    n_slots: int
    megabytes: float
    environment: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Attempt:
    """A job that was given to a worker. If the worker dies, another attempt is made elsewhere."""

    number: int
    ticket: int
    worker: str
    job: Job


class Engine(Protocol):
    """Carries attempts to workers."""

    def send(self, attempt: Attempt) -> None:
        """Begin an attempt on its worker."""
        ...

    def withdraw(self, attempt: Attempt) -> None:
        """End an attempt whose answer is of no use any more."""
        ...


@dataclass(frozen=True)
class AttemptTimeouts:
    """How many seconds an attempt may take to begin, and how many more than its limits to answer."""

    start_seconds: float = START_SECONDS
    grace_seconds: float = GRACE_SECONDS


@dataclass(eq=False)
class _Ticket:
    """A job that is not answered yet, since when it waits, and on how many workers that died it has been."""

    number: int
    job: Job
    submitted: float
    n_deaths: int = 0
    avoided: set[str] = field(default_factory=set)
    attempt: Attempt | None = None


@dataclass(eq=False)
class _Load:
    """What a worker is doing. A silent one has missed a deadline and gets no job until it answers again."""

    worker: ClusterWorker
    attempts: dict[int, Attempt] = field(default_factory=dict)
    is_silent: bool = False

    @property
    def n_free(self) -> int:
        return 0 if self.is_silent else self.worker.n_slots - len(self.attempts)


OnAnswer = Callable[[int, Outcome], None]
"""Receives the outcome of a ticket, exactly once."""


class Dispatcher:
    """Keeps jobs until they are answered. Each is answered once, even if workers die; late answers are dropped.

    No more jobs are sent than there are free slots, and no more to a host than its memory allows, given the memory
    limits of the jobs. `now` is in seconds of any clock.
    """

    def __init__(
        self,
        engine: Engine,
        on_answer: OnAnswer,
        *,
        most_jobs: int | None = None,
        patience: AttemptTimeouts | None = None,
    ) -> None:
        self._engine, self._on_answer, self._most_jobs = engine, on_answer, most_jobs
        self._patience = patience or AttemptTimeouts()
        self._tickets: dict[int, _Ticket] = {}
        self._waiting: deque[int] = deque()
        self._loads: dict[str, _Load] = {}
        self._attempts: dict[int, Attempt] = {}
        self._deadlines: dict[int, float] = {}
        self._begun: set[int] = set()
        self._reserved: Counter[str] = Counter()
        self._numbers = itertools.count()
        self._last_megabytes = 0.0
        self.n_sent = 0

    # Told by the owner of the jobs

    def submit(self, ticket: int, job: Job, now: float) -> None:
        """Take a job; it begins as soon as a worker is free."""
        self._last_megabytes = job.limits.megabytes or 0.0
        self._tickets[ticket] = _Ticket(ticket, job, now)
        self._waiting.append(ticket)
        self._fill(now)

    def cancel(self, ticket: int, now: float) -> Attempt | None:
        """Forget a job; return the attempt that was under way."""
        found = self._tickets.pop(ticket, None)
        attempt = None if found is None else found.attempt
        if attempt is not None:
            self._withdraw(attempt)
        elif found is not None:
            self._waiting.remove(ticket)
        self._fill(now)
        return attempt

    def attempt_of(self, ticket: int) -> Attempt | None:
        """Return the attempt that is under way for a job, if there is one."""
        found = self._tickets.get(ticket)
        return None if found is None else found.attempt

    @property
    def n_slots(self) -> int:
        """Return how many jobs can be evaluated at a time, as memory limits are now."""
        by_host: dict[str, tuple[int, float]] = {}
        for load in list(self._loads.values()):
            if not load.is_silent:
                n_slots, _ = by_host.get(load.worker.host, (0, 0.0))
                by_host[load.worker.host] = (n_slots + load.worker.n_slots, load.worker.megabytes)
        each = self._last_megabytes
        total = sum(min(n, max(int(most // each), 1)) if each else n for n, most in by_host.values())
        return total if self._most_jobs is None else min(total, self._most_jobs)

    @property
    def n_open(self) -> int:
        """Return how many jobs are not answered yet."""
        return len(self._tickets)

    @property
    def workers(self) -> tuple[ClusterWorker, ...]:
        """Return the workers that are here."""
        return tuple(load.worker for load in self._loads.values())

    @property
    def silent(self) -> tuple[str, ...]:
        """Return the workers that have missed a deadline and have not answered since."""
        return tuple(name for name, load in self._loads.items() if load.is_silent)

    # Told by the engine

    def join(self, worker: ClusterWorker, now: float) -> None:
        """Take note of a worker that is ready for jobs."""
        self.leave(worker.name, now)
        self._loads[worker.name] = _Load(worker)
        self._fill(now)

    def leave(self, name: str, now: float, *, is_blamed: bool = True) -> None:
        """Take note that a worker is gone; its jobs go elsewhere. If `is_blamed`, they may have killed it."""
        load = self._loads.get(name)
        if load is None:
            return
        lost = list(load.attempts.values())
        for attempt in reversed(lost):
            self._retry(attempt, is_blamed=is_blamed)
        del self._loads[name]
        self._fill(now)

    def reset(self, now: float) -> None:
        """Take note that all workers are gone with the scheduler; no job is to blame."""
        for name in list(self._loads):
            self.leave(name, now, is_blamed=False)

    def arrived(self, number: int, now: float) -> None:
        """Take note that an attempt has reached its worker: from now on it must begin soon."""
        if number in self._attempts:
            self._deadlines[number] = now + self._patience.start_seconds

    def begun(self, number: int, now: float) -> None:
        """Take note that the limits of an attempt count from now on."""
        attempt = self._attempts.get(number)
        if attempt is not None:
            self._begun.add(number)
            self._deadlines[number] = now + attempt.job.longest_seconds + self._patience.grace_seconds
            self.heard_of(attempt.worker, now)

    def heard_of(self, name: str, now: float) -> None:
        """Take note that a worker is alive."""
        load = self._loads.get(name)
        if load is not None and load.is_silent:
            load.is_silent = False
            self._fill(now)

    def answer(self, number: int, outcome: Outcome, now: float) -> None:
        """Pass an outcome on, unless its attempt was given up."""
        attempt = self._attempts.get(number)
        if attempt is None:
            return
        worker = self._loads[attempt.worker].worker
        self._close(attempt)
        del self._tickets[attempt.ticket]
        self._on_answer(attempt.ticket, replace(outcome, environment=worker.environment or None, scale=worker.scale))
        self.heard_of(attempt.worker, now)
        self._fill(now)

    def lose(self, number: int, now: float, *, is_blamed: bool = False) -> None:
        """Take note that an attempt came to nothing."""
        attempt = self._attempts.get(number)
        if attempt is not None:
            self._retry(attempt, is_blamed=is_blamed)
            self._fill(now)

    def tick(self, now: float) -> None:
        """Give up attempts that should have been answered by now; their workers are silent.

        A job that never began is not to blame: a busy network or a starved worker kept it waiting.
        """
        for number in [number for number, deadline in self._deadlines.items() if deadline <= now]:
            attempt = self._attempts[number]
            self._loads[attempt.worker].is_silent = True
            self._retry(attempt, is_blamed=number in self._begun)
        self._fill(now)

    # Inside

    def _fill(self, now: float) -> None:
        """Send waiting jobs to free slots, first come, first served."""
        while self._waiting and (self._most_jobs is None or len(self._attempts) < self._most_jobs):
            ticket = self._tickets[self._waiting[0]]
            load = self._best_worker(ticket)
            if load is None:
                return
            self._waiting.popleft()
            job = ticket.job.after_waiting(now - ticket.submitted)
            attempt = Attempt(next(self._numbers), ticket.number, load.worker.name, job)
            ticket.attempt = self._attempts[attempt.number] = load.attempts[attempt.number] = attempt
            self._reserved[load.worker.host] += _megabytes(job)
            self.n_sent += 1
            self._engine.send(attempt)

    def _best_worker(self, ticket: _Ticket) -> _Load | None:
        """Return the worker with the most free slots whose host has memory left, if possible one it has not met."""
        need = _megabytes(ticket.job)
        fitting = [load for load in self._loads.values() if load.n_free > 0 and self._has_memory(load.worker, need)]
        if not fitting:
            return None
        return min(fitting, key=lambda load: (load.worker.name in ticket.avoided, -load.n_free, load.worker.name))

    def _has_memory(self, worker: ClusterWorker, megabytes: int) -> bool:
        reserved = self._reserved[worker.host]
        return reserved == 0 or reserved + megabytes <= worker.megabytes

    def _retry(self, attempt: Attempt, *, is_blamed: bool) -> None:
        """Withdraw an attempt; its job comes next, unless it has been on too many workers that died."""
        self._withdraw(attempt)
        ticket = self._tickets[attempt.ticket]
        ticket.attempt = None
        ticket.avoided.add(attempt.worker)
        ticket.n_deaths += is_blamed
        if ticket.n_deaths >= MOST_DEATHS:
            del self._tickets[ticket.number]
            error = f"{MOST_DEATHS} workers of the cluster died or fell silent while they evaluated it"
            self._on_answer(ticket.number, Outcome("crashed", 0.0, error=error))
        else:
            self._waiting.appendleft(ticket.number)

    def _withdraw(self, attempt: Attempt) -> None:
        self._close(attempt)
        self._engine.withdraw(attempt)

    def _close(self, attempt: Attempt) -> None:
        """Forget an attempt; later messages about it are ignored."""
        del self._attempts[attempt.number]
        self._deadlines.pop(attempt.number, None)
        self._begun.discard(attempt.number)
        load = self._loads[attempt.worker]
        del load.attempts[attempt.number]
        self._reserved[load.worker.host] -= _megabytes(attempt.job)


def _megabytes(job: Job) -> int:
    return int(job.limits.megabytes or 0)
