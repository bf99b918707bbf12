"""Simulates several workers on recorded runs: schedules are compared by what is found in the same time.

The clock is virtual: an evaluation takes its recorded seconds, and to propose takes none.
"""

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import PoolCandidates
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import level, paired_difference
from metaml.laboratory.simulate import OptimizerVariant, shared_starts
from metaml.search.bandit_search import NextTrial, Search
from metaml.search.optimizer import Optimizer
from metaml.search.schedules import Schedule, Turn, schedule_named

N_STARTS = 16
N_POINTS = 50
EVALUATIONS_EACH = 10.0
"""A simulation ends after this many times the mean seconds of a pool's configurations."""


@dataclass(frozen=True)
class Recorded:
    """A recorded evaluation as a search is told of it."""

    score: float
    seconds: float
    status: str = "ok"
    expected_seconds: float = 0.0

    @property
    def scores(self) -> Mapping[str, Sequence[float]]:
        """Return the score under a name."""
        return {"score": (self.score,)}


@dataclass(eq=False)
class Timeline:
    """What some workers did: the positions they evaluated, when each was done, and how long workers were busy."""

    n_workers: int
    budget: float
    positions: list[int] = field(default_factory=list)
    done_at: list[float] = field(default_factory=list)
    busy: float = 0.0

    @property
    def busy_share(self) -> float:
        """Return the part of the time of all workers in which they evaluated."""
        return self.busy / (self.n_workers * self.budget)

    def regret(self, pool: RecordedRuns, n_points: int = N_POINTS) -> Floats:
        """Return the regret at equal steps of the budget; before the first result, that of the worst score."""
        best = np.concatenate([[pool.scores.min()], np.maximum.accumulate(pool.scores[self.positions])])
        times = self.budget * np.arange(1, n_points + 1) / n_points
        return pool.regret(best[np.searchsorted(self.done_at, times, side="right")])


def simulate_workers(
    pool: RecordedRuns,
    method: OptimizerVariant,
    schedule: str | Schedule,
    *,
    n_workers: int,
    seed: int,
    evaluations_each: float = EVALUATIONS_EACH,
    n_starts: int = N_STARTS,
    candidates: PoolCandidates | None = None,
) -> Timeline:
    """Return what workers do that share one search over a pool; all schedules start from the same configurations."""
    if pool.seconds is None:
        raise BadRequest(f"The runs of {pool.algorithm} on {pool.dataset} have no seconds. Give runs with seconds.")
    rule = schedule_named(schedule) if isinstance(schedule, str) else schedule
    starts = [pool.configs[k] for k in shared_starts(pool, n_starts, seed)]
    optimizer = Optimizer(candidates or PoolCandidates(pool.configs), starts=starts, seed=seed, **method.options)
    design = [(pool.algorithm, start) for start in starts]
    search = Search({pool.algorithm: optimizer}, "round_robin", initial_design=design, seed=seed)
    line = Timeline(n_workers, evaluations_each * float(pool.seconds.mean()))
    waiting: deque[NextTrial] = deque()
    running: list[tuple[float, int, float, NextTrial]] = []
    now, n_begun = 0.0, 0
    while now <= line.budget:
        while len(running) + len(waiting) < n_workers and n_begun + len(waiting) < len(pool.configs):
            more = rule.ask(search, Turn(n_workers, len(running) + len(waiting), None, len(pool.configs) - n_begun))
            waiting.extend(more)
            if not more:
                break
        while waiting and len(running) < n_workers:
            trial = waiting.popleft()
            seconds = float(pool.seconds[_position(trial)])
            heapq.heappush(running, (now + seconds, n_begun, seconds, trial))
            line.busy += min(seconds, line.budget - now)
            n_begun += 1
        if not running:
            break
        now, _, seconds, trial = heapq.heappop(running)
        position = _position(trial)
        if now <= line.budget:
            search.tell(trial.algorithm, trial.proposal.config, Recorded(float(pool.scores[position]), seconds))
            line.positions.append(position)
            line.done_at.append(now)
    return line


def without_pattern(pool: RecordedRuns, seed: int = 0) -> RecordedRuns:
    """Return a pool whose seconds are shuffled over its configurations: they cannot be predicted any more."""
    if pool.seconds is None:
        return pool
    return replace(pool, seconds=np.random.default_rng(seed).permutation(pool.seconds))


def ways_of(methods: Sequence[OptimizerVariant], schedules: Sequence[str]) -> dict[str, tuple[OptimizerVariant, str]]:
    """Return each optimizer with each schedule, under a name; BadRequest for a schedule that does not exist.

    >>> list(ways_of([OptimizerVariant("gbqr")], ["asynchronous", "rambo"]))
    ['gbqr asynchronous', 'gbqr rambo']
    """
    for name in schedules:
        schedule_named(name)
    return {f"{method.name} {name}": (method, name) for method in methods for name in schedules}


def compare_schedules(
    pools: Mapping[str, Sequence[RecordedRuns]],
    ways: Mapping[str, tuple[OptimizerVariant, str]],
    *,
    n_workers: int,
    n_seeds: int = 3,
    evaluations_each: float = EVALUATIONS_EACH,
) -> pd.DataFrame:
    """Return for each algorithm and way (optimizer and schedule) its regret over time, and how busy workers were.

    Regret is in per cent of the range of a pool's scores, its mean over the time; lower is better. Differences are to
    the first way, paired over data sets, with their standard error.
    """
    rows = []
    for algorithm, members in pools.items():
        found: dict[str, dict[str, list[Timeline]]] = {name: {} for name in ways}
        for pool in members:
            candidates = PoolCandidates(pool.configs)
            for name, (method, schedule) in ways.items():
                found[name][pool.dataset] = [
                    simulate_workers(
                        pool,
                        method,
                        schedule,
                        n_workers=n_workers,
                        seed=seed,
                        evaluations_each=evaluations_each,
                        candidates=candidates,
                    )
                    for seed in range(n_seeds)
                ]
        by_name = {pool.dataset: pool for pool in members}
        means = {
            name: {data: _mean_regret(by_name[data], lines) for data, lines in each.items()}
            for name, each in found.items()
        }
        for name, each in found.items():
            difference = paired_difference(means[name], means[next(iter(ways))])
            lines = [line for many in each.values() for line in many]
            rows.append(
                {
                    "algorithm": algorithm,
                    "schedule": name,
                    "workers": n_workers,
                    "data sets": len(members),
                    "mean regret": round(level(means[name]).mean, 2),
                    "minus first": round(difference.mean, 2),
                    "± error": round(difference.error, 2),
                    "evaluations": round(float(np.mean([len(line.positions) for line in lines])), 1),
                    "busy": round(float(np.mean([line.busy_share for line in lines])), 2),
                }
            )
    return pd.DataFrame(rows)


def _mean_regret(pool: RecordedRuns, lines: Sequence[Timeline]) -> float:
    return float(np.mean([line.regret(pool).mean() for line in lines]))


def _position(trial: NextTrial) -> int:
    if trial.proposal.index is None:
        raise BadRequest(f"A configuration of {trial.algorithm} that nobody recorded cannot be looked up.")
    return trial.proposal.index
