"""A cluster with a virtual clock: the dispatcher's decisions for hundreds of workers in seconds, without a process."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from metaml.cluster.dispatcher import Attempt, AttemptTimeouts, ClusterWorker, Dispatcher
from metaml.evaluation.job import Job, Outcome

MEGABYTES = 64_000.0


@dataclass(frozen=True, kw_only=True)
class Weather:
    """How a simulated cluster behaves: seconds of a job (log-normal), of the network, and how often workers die.

    A worker dies during an attempt with probability `death_rate` and comes back after `restart_seconds`. With
    probability `silence_rate` it never answers.
    """

    mean_seconds: float = 2.0
    sigma: float = 1.0
    latency_seconds: float = 0.02
    death_rate: float = 0.0
    silence_rate: float = 0.0
    restart_seconds: float = 10.0


@dataclass(frozen=True)
class Simulated:
    """What a simulation did: its virtual seconds, the share of them that workers were busy, and how often they died."""

    seconds: float
    busy_share: float
    n_deaths: int
    n_sent: int


class SimulatedEngine:
    """Evaluates jobs in virtual time; an `Engine`."""

    def __init__(self, n_workers: int, weather: Weather, rng: np.random.Generator) -> None:
        self.n_workers, self.weather, self.rng = n_workers, weather, rng
        self.now = 0.0
        self._actions: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._names = itertools.count()
        self._since: dict[int, float] = {}
        self._busy = 0.0
        self._n_deaths = 0

    def run(
        self, jobs: Iterator[Job], on_outcome: Callable[[Job, Outcome], None], patience: AttemptTimeouts | None = None
    ) -> Simulated:
        """Evaluate all jobs, each worker with one more waiting for it; return what it took."""
        open_jobs: dict[int, Job] = {}
        tickets = itertools.count()

        def answer(ticket: int, outcome: Outcome) -> None:
            on_outcome(open_jobs.pop(ticket), outcome)
            submit_next()

        def submit_next() -> None:
            job = next(jobs, None)
            if job is not None:
                open_jobs[(ticket := next(tickets))] = job
                # Not from inside the dispatcher, which is still busy with the last answer.
                self._at(self.now, lambda: self.dispatcher.submit(ticket, job, self.now))

        self.dispatcher = Dispatcher(self, answer, patience=patience)
        for _ in range(self.n_workers):
            self._join()
        for _ in range(2 * self.n_workers):
            submit_next()
        self._tick()
        while open_jobs:
            self.now, _, act = heapq.heappop(self._actions)
            act()
        share = self._busy / (self.now * self.n_workers)
        return Simulated(self.now, share, self._n_deaths, self.dispatcher.n_sent)

    def send(self, attempt: Attempt) -> None:
        """Decide how an attempt ends, and when."""
        weather, number = self.weather, attempt.number
        begun = self.now + weather.latency_seconds
        seconds = float(self.rng.lognormal(np.log(weather.mean_seconds) - weather.sigma**2 / 2, weather.sigma))
        # The evaluators of a worker keep the limit.
        seconds = min(seconds, attempt.job.longest_seconds)
        fate = self.rng.random()
        self._since[number] = begun
        self.dispatcher.arrived(number, self.now)
        self._at(begun, lambda: self.dispatcher.begun(number, self.now))
        if fate < weather.death_rate:
            self._at(begun + seconds * self.rng.random(), lambda: self._die(attempt))
        elif fate >= weather.death_rate + weather.silence_rate:
            self._at(begun + seconds, lambda: self._finish(attempt, seconds))

    def withdraw(self, attempt: Attempt) -> None:
        """Count what was spent on an attempt in vain."""
        self._count(attempt)

    def _tick(self) -> None:
        """Look at deadlines once per second, and hear of silent workers again after a while."""
        self.dispatcher.tick(self.now)
        for name in self.dispatcher.silent:
            self._at(self.now + self.weather.restart_seconds, partial(self._hear_of, name))
        self._at(self.now + 1.0, self._tick)

    def _hear_of(self, name: str) -> None:
        self.dispatcher.heard_of(name, self.now)

    def _finish(self, attempt: Attempt, seconds: float) -> None:
        if attempt.number in self._since:
            self._count(attempt)
            self._at(
                self.now + self.weather.latency_seconds,
                lambda: self.dispatcher.answer(attempt.number, Outcome("ok", seconds), self.now),
            )

    def _die(self, attempt: Attempt) -> None:
        if attempt.number in self._since:
            self._n_deaths += 1
            self.dispatcher.leave(attempt.worker, self.now)
            self._at(self.now + self.weather.restart_seconds, self._join)

    def _count(self, attempt: Attempt) -> None:
        begun = self._since.pop(attempt.number, None)
        self._busy += 0.0 if begun is None else max(self.now - begun, 0.0)

    def _join(self) -> None:
        name = f"worker-{next(self._names)}"
        self.dispatcher.join(ClusterWorker(name, name, 1, MEGABYTES), self.now)

    def _at(self, moment: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._actions, (moment, next(self._order), act))
