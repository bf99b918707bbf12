"""Compares optimizers and policies on recorded runs, with tables and curves as the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.bandits import POLICIES
from metaml.errors import BadRequest
from metaml.laboratory.arms import gaps, make_problems
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import level, paired_difference
from metaml.laboratory.simulate import Cell, OptimizerVariant, regret_curve, regret_over_seconds, simulate_all
from metaml.search.presets import PRESETS
from metaml.search.strategy import STRATEGIES, strategy_without

CHECKPOINTS = (5, 10, 20, 50, 100)
N_SECOND_POINTS = 50
BUDGET_IN_PULLS = 40.0
"""Regret over time is measured up to this many times the mean seconds of a pool's configurations."""


@dataclass(frozen=True, eq=False)
class Study:
    """The result of a comparison of optimizers on recorded runs.

    - `regret`: a row for each algorithm and optimizer, in percent of the range of scores; lower is better.
    - `curves`: the same by evaluations and by seconds, one value per row, for plots.
    - `policies`: the gap of each bandit.

    >>> nothing = pd.DataFrame()
    >>> Study(regret=nothing, curves=nothing, policies=nothing).regret.empty
    True
    """

    regret: pd.DataFrame
    curves: pd.DataFrame
    policies: pd.DataFrame


def methods_of(names: Sequence[str]) -> list[OptimizerVariant]:
    """Return the optimizers by name, such as `gbqr+confidence_bound:2`.

    `name/cost` adds a rule that weighs expected improvement against seconds. A preset is an optimizer, too.
    """
    methods = []
    for name in names:
        strategy, _, cost = name.partition("/")
        strategy = strategy if strategy not in PRESETS else PRESETS[strategy].strategy
        if strategy.partition("+")[0] not in STRATEGIES:
            raise BadRequest(f"There is no optimiser {strategy!r}. Choose among: {', '.join(STRATEGIES)}.")
        strategy_without(strategy, "process")
        methods.append(OptimizerVariant(name, {"strategy": strategy, "cost": cost or None}))
    return methods


def study(
    pools: Mapping[str, Sequence[RecordedRuns]],
    methods: Sequence[OptimizerVariant],
    *,
    policies: Sequence[str] = (),
    n_seeds: int = 3,
    n: int = 100,
    n_workers: int = 1,
    path: Path | None = None,
    metafeatures: pd.DataFrame | None = None,
) -> Study:
    """Return the results of every optimizer on every algorithm, and of every policy over all algorithms.

    Regret is (max − best)/(max − min) × 100 within a data set. Means are over seeds first, then over data sets;
    differences to the last method are paired. Finished simulations are kept in the csv file at `path`. `metafeatures`
    (a row for each data set) are for optimizers that learn from the other data sets.
    """
    seeds = range(n_seeds)
    cells = simulate_all(pools, methods, seeds=seeds, n=n, path=path, n_workers=n_workers, metafeatures=metafeatures)
    wanted = {method.name for method in methods}
    cells = [cell for cell in cells if cell.method in wanted and cell.seed in seeds]
    rows, curves = [], []
    for algorithm, members in pools.items():
        found = {method.name: _Curves(members, cells, algorithm, method, n) for method in methods}
        reference = found[methods[-1].name]
        for name, mine in found.items():
            rows.append({"algorithm": algorithm, "optimiser": name, "data sets": len(members), **mine.row(reference)})
            curves += mine.points(algorithm, name)
    return Study(pd.DataFrame(rows), pd.DataFrame(curves), _policies(pools, methods, cells, policies, n))


class _Curves:
    """The mean regret curves of one optimizer on one algorithm, for each data set."""

    def __init__(
        self, pools: Sequence[RecordedRuns], cells: Sequence[Cell], algorithm: str, method: OptimizerVariant, n: int
    ) -> None:
        self.by_evaluation: dict[str, Floats] = {}
        self.by_seconds: dict[str, Floats] = {}
        self.found: dict[str, float] = {}
        for pool in pools:
            orders = [
                cell.order
                for cell in cells
                if (cell.table, cell.dataset, cell.method) == (algorithm, pool.dataset, method.name)
            ]
            regrets = [regret_curve(pool, order, n, method.speed) for order in orders]
            self.by_evaluation[pool.dataset] = np.mean(regrets, axis=0)
            self.found[pool.dataset] = float(np.mean([regret[-1] <= 0 for regret in regrets]))
            if pool.seconds is not None:
                budget = BUDGET_IN_PULLS * float(pool.seconds.mean())
                timed = [regret_over_seconds(pool, order, budget, N_SECOND_POINTS) for order in orders]
                self.by_seconds[pool.dataset] = np.mean(timed, axis=0)

    def row(self, reference: "_Curves") -> dict[str, object]:
        """Return the values of a table row."""
        row: dict[str, object] = {}
        for after in CHECKPOINTS:
            values = {
                name: float(curve[after - 1]) for name, curve in self.by_evaluation.items() if len(curve) >= after
            }
            if values:
                row[f"@{after}"] = round(level(values).mean, 2)
        row["optimum found"] = round(level(self.found).mean, 2)
        mine, other = (
            {name: float(curve.mean()) for name, curve in curves.by_evaluation.items()} for curves in (self, reference)
        )
        difference = paired_difference(mine, other)
        row["mean"] = round(level(mine).mean, 2)
        row["minus last"] = round(difference.mean, 2)
        row["± error"] = round(difference.error, 2)
        if self.by_seconds:
            row["mean over seconds"] = round(float(np.mean([c.mean() for c in self.by_seconds.values()])), 2)
        return row

    def points(self, algorithm: str, name: str) -> list[dict[str, object]]:
        """Return the mean curves point by point."""
        points: list[dict[str, object]] = []
        for axis, curves in (("evaluations", self.by_evaluation), ("seconds", self.by_seconds)):
            if not curves:
                continue
            mean = np.mean(list(curves.values()), axis=0)
            steps = np.arange(1, len(mean) + 1) * (1.0 if axis == "evaluations" else BUDGET_IN_PULLS / len(mean))
            points += [
                {"algorithm": algorithm, "optimiser": name, "axis": axis, "at": float(at), "regret": float(value)}
                for at, value in zip(steps, mean, strict=True)
            ]
        return points


def _policies(
    pools: Mapping[str, Sequence[RecordedRuns]],
    methods: Sequence[OptimizerVariant],
    cells: Sequence[Cell],
    names: Sequence[str],
    n: int,
) -> pd.DataFrame:
    """Return the gap × 100 to the best configuration of all algorithms; the first optimizer runs the arms."""
    unknown = [name for name in names if name not in POLICIES]
    if unknown:
        raise BadRequest(f"There is no policy {', '.join(unknown)}. Choose among: {', '.join(POLICIES)}.")
    if not names or len(pools) < 2:
        return pd.DataFrame()
    arms = [cell for cell in cells if cell.method == methods[0].name]
    problems = make_problems([pool for members in pools.values() for pool in members], arms)
    if not problems:
        return pd.DataFrame()
    rounds = [after for after in (10, 30, 50) if after <= n]
    rows = []
    for name in names:
        policy = POLICIES[name]()
        levels = gaps(lambda _, policy=policy: policy, problems, rounds=rounds, n_repeats=5)  # type: ignore[misc]
        row: dict[str, object] = {"policy": name, "data sets": len(problems)}
        for after in rounds:
            estimate = level(levels[after])
            row |= {f"@{after}": round(estimate.mean, 3), f"@{after} ±": round(estimate.error, 3)}
        rows.append(row)
    return pd.DataFrame(rows)
