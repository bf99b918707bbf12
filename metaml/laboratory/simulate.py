"""Simulates an optimizer: it chooses among recorded configurations, and their recorded scores are looked up."""

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import PoolCandidates
from metaml.acquisition.designs import spread
from metaml.acquisition.starts import DESIGN, STARTS
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.laboratory.other_datasets import OtherDatasets, what_others_say
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.metalearning.blending import BlendedCommittee
from metaml.search.optimizer import Optimizer
from metaml.search.strategy import Strategy, strategy_named

HEADER = ("table", "dataset", "algorithm", "method", "seed", "order")


@dataclass(frozen=True)
class OptimizerVariant:
    """An optimizer by name and options; with `speed` = 2 it makes two evaluations where others make one."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    speed: int = 1

    @property
    def strategy(self) -> Strategy:
        """Return the strategy that its options name."""
        return strategy_named(self.options.get("strategy", "default"))

    @property
    def learns_from_others(self) -> bool:
        """Return whether it needs the runs on other data sets."""
        return self.strategy.experience == "blended" or self.strategy.start_rule[0] in STARTS


@dataclass(frozen=True)
class Cell:
    """One finished simulation: which configurations of which pool were evaluated, in order."""

    table: str
    dataset: str
    algorithm: str
    method: str
    seed: int
    order: tuple[int, ...]


BASELINES: dict[str, OptimizerVariant] = {
    "random": OptimizerVariant("random", {"strategy": "random"}),
    "random x2": OptimizerVariant("random x2", {"strategy": "random"}, speed=2),
}


def shared_starts(pool: RecordedRuns, n: int, seed: int) -> list[int]:
    """Return the positions that every method starts from; they depend only on the pool's names and the seed."""
    text = f"{pool.dataset}\n{pool.algorithm}\n{seed}".encode()
    entropy = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
    rng = np.random.default_rng(entropy)
    return [int(k) for k in rng.permutation(len(pool.configs))[:n]]


def simulate(
    pool: RecordedRuns,
    method: OptimizerVariant,
    *,
    n: int,
    seed: int,
    n_starts: int = 3,
    budget: float | None = None,
    candidates: PoolCandidates | None = None,
    others: OtherDatasets | None = None,
) -> tuple[int, ...]:
    """Return the positions a method evaluates: `n` (times its speed), or until the pool or a budget of seconds ends.

    `others` is what other data sets say, which some methods need.
    """
    candidates = candidates or PoolCandidates(pool.configs)
    options = dict(method.options)
    if method.strategy.experience == "blended":
        if others is None:
            raise BadRequest(f"{method.name} needs the runs on other data sets. Give them, or leave out 'blended'.")
        candidates = PoolCandidates(pool.configs, rows=others.rows)
        options = _blended(method, others)
    starts = start_positions(pool, method.strategy, candidates, others, n_starts=n_starts, seed=seed)
    optimizer = Optimizer(candidates, starts=[pool.configs[k] for k in starts], seed=seed, **options)
    order: list[int] = []
    spent = 0.0
    for _ in range(min(n * method.speed, len(pool.configs))):
        proposal = optimizer.ask()
        index = proposal.index
        if index is None:
            break
        seconds = None if pool.seconds is None else float(pool.seconds[index])
        optimizer.observe(proposal.config, float(pool.scores[index]), seconds)
        order.append(index)
        spent += seconds or 0.0
        if budget is not None and spent >= budget:
            break
    return tuple(order)


def start_positions(
    pool: RecordedRuns,
    strategy: Strategy,
    candidates: PoolCandidates,
    others: OtherDatasets | None,
    *,
    n_starts: int,
    seed: int,
) -> list[int]:
    """Return the positions that a strategy starts from; without a rule for them, those that every method shares."""
    rule, n = strategy.start_rule
    if not rule:
        return shared_starts(pool, n_starts, seed)
    if rule == DESIGN:
        return spread(candidates.rows, n, np.random.default_rng(seed))
    if others is None:
        raise BadRequest(f"The starts {rule!r} need the runs on other data sets. Give them, or choose {DESIGN}.")
    return STARTS[rule](others, n)


def _blended(method: OptimizerVariant, others: OtherDatasets) -> dict[str, Any]:
    """Return the options of an optimizer in which the meta-learner has a vote."""
    strategy = method.strategy
    cost = strategy.cost or method.options.get("cost")
    return {
        "strategy": BlendedCommittee(others.rank, strategy.experts, cost=cost),
        "random_every": strategy.random_every,
        "batch": strategy.batch,
    }


def regret_curve(pool: RecordedRuns, order: Sequence[int], n: int, speed: int = 1) -> Floats:
    """Return the regret after 1 to `n` evaluations; an exhausted pool keeps its last value."""
    best = np.maximum.accumulate(pool.scores[list(order)])[speed - 1 :: speed][:n]
    regret = pool.regret(best)
    return np.concatenate([regret, np.full(n - len(regret), regret[-1])])


def expected_random_curve(pool: RecordedRuns, *, n: int, seed: int, n_starts: int = 3, n_draws: int = 50) -> Floats:
    """Return the regret of random search from the shared starts, the mean of `n_draws` continuations."""
    starts = shared_starts(pool, n_starts, seed)
    others = np.setdiff1d(np.arange(len(pool.configs)), starts)
    rng = np.random.default_rng(seed)
    curves = [regret_curve(pool, [*starts, *rng.permutation(others)[:n]], n) for _ in range(n_draws)]
    mean: Floats = np.mean(curves, axis=0)
    return mean


def regret_over_seconds(pool: RecordedRuns, order: Sequence[int], budget: float, n_points: int = 100) -> Floats:
    """Return the regret at `n_points` equal steps of a time budget.

    Before the first result, it is the regret of the worst score.
    """
    if pool.seconds is None:
        return np.full(n_points, np.nan)
    chosen = list(order)
    finished = np.cumsum(pool.seconds[chosen])
    best = np.concatenate([[pool.scores.min()], np.maximum.accumulate(pool.scores[chosen])])
    times = budget * np.arange(1, n_points + 1) / n_points
    return pool.regret(best[np.searchsorted(finished, times, side="right")])


def simulate_all(
    pools: Mapping[str, Sequence[RecordedRuns]],
    methods: Sequence[OptimizerVariant],
    *,
    seeds: Iterable[int],
    n: int,
    path: Path | None = None,
    log: Mapping[str, Sequence[str]] | None = None,
    n_starts: int = 3,
    n_workers: int = 1,
    metafeatures: pd.DataFrame | None = None,
) -> list[Cell]:
    """Return a cell for each pool, method and seed; finished cells are read from the csv file at `path`.

    New cells are appended to that file. `pools` are keyed by the name of their table; `log` has, for each table, the
    parameters that were sampled on a log scale; `metafeatures` has a row for each data set, for methods that learn from
    the other data sets.
    """
    finished = read_cells(path) if path is not None and path.exists() else []
    done = {(c.table, c.dataset, c.algorithm, c.method, c.seed) for c in finished}
    seeds = tuple(seeds)
    tasks = []
    for table, members in pools.items():
        declared = tuple((log or {}).get(table, ()))
        others: Mapping[str, OtherDatasets] = {}
        if any(method.learns_from_others for method in methods):
            others = what_others_say(members, metafeatures=metafeatures, log=declared)
        for pool in members:
            missing = [
                (method, seed)
                for method in methods
                for seed in seeds
                if (table, pool.dataset, pool.algorithm, method.name, seed) not in done
            ]
            if missing:
                tasks.append((table, pool, missing, n, n_starts, declared, others.get(pool.dataset)))
    for cells in _results(tasks, n_workers):
        finished += cells
        if path is not None:
            append_cells(path, cells)
    return finished


def _results(tasks: Sequence[tuple[Any, ...]], n_workers: int) -> Iterator[list[Cell]]:
    if n_workers <= 1:
        yield from (_simulate_pool(*task) for task in tasks)
        return
    with ProcessPoolExecutor(n_workers, mp_context=get_context("forkserver")) as workers:
        futures = [workers.submit(_simulate_pool, *task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()


def _simulate_pool(
    table: str,
    pool: RecordedRuns,
    wanted: Sequence[tuple[OptimizerVariant, int]],
    n: int,
    n_starts: int,
    log: Sequence[str],
    others: OtherDatasets | None = None,
) -> list[Cell]:
    candidates = PoolCandidates(pool.configs, log=log)
    cells = []
    for method, seed in wanted:
        order = simulate(pool, method, n=n, seed=seed, n_starts=n_starts, candidates=candidates, others=others)
        cells.append(Cell(table, pool.dataset, pool.algorithm, method.name, seed, order))
    return cells


def read_cells(path: Path) -> list[Cell]:
    """Return the finished simulations of a csv file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Cell(
                row["table"],
                row["dataset"],
                row["algorithm"],
                row["method"],
                int(row["seed"]),
                tuple(int(k) for k in row["order"].split()),
            )
            for row in csv.DictReader(file)
        ]


def append_cells(path: Path, cells: Sequence[Cell]) -> None:
    """Append finished simulations to a csv file; a new file gets a header."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(HEADER)
        for c in cells:
            writer.writerow([c.table, c.dataset, c.algorithm, c.method, c.seed, " ".join(map(str, c.order))])
