"""Surrogates side by side on recorded runs, without a knowledge base.

    python benchmarks/surrogates.py                 the seven tables: ratio to random search, paired differences
    python benchmarks/surrogates.py --optimus       the thesis' own table: optima found within 120 evaluations

Regret is (max - best) / (max - min) x 100 within a data set. All methods share three random starts for each
data set and seed. Finished simulations are kept in a csv file and not run again.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tables import DECLARED_LOG, METADATA, SEVEN, pools

from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import Estimate, Levels, mean_estimate, paired_difference, ratio
from metaml.laboratory.simulate import (
    BASELINES,
    Cell,
    OptimizerVariant,
    expected_random_curve,
    regret_curve,
    simulate_all,
)

Array = NDArray[np.float64]
RESULTS = Path(__file__).parent / "results"
AT = (5, 10, 20, 50)
SCREENED = 12
"""Data sets of each table on which settings were compared before; the others are the confirmation."""

METHODS: dict[str, OptimizerVariant] = {
    **BASELINES,
    "gbqr": OptimizerVariant("gbqr", {"strategy": "gbqr"}),
    "gaussian_process": OptimizerVariant("gaussian_process", {"strategy": "gaussian_process"}),
    "default": OptimizerVariant("default", {}),
    "forest": OptimizerVariant("forest", {"strategy": "forest"}),
    "extra_trees": OptimizerVariant("extra_trees", {"strategy": "extra_trees"}),
    "mean_boosting": OptimizerVariant("mean_boosting", {"strategy": "mean_boosting"}),
}


def chosen(table: str, metadata: Path, n: int, half: str) -> list[RecordedRuns]:
    """Return `n` pools of a table in a fixed shuffled order: the screened first, or only the others."""
    usable = [pool for pool in pools(table, metadata) if not pool.is_flat]
    order = np.random.default_rng(7).permutation(len(usable))
    order = {"all": order, "screening": order[:SCREENED], "confirmation": order[SCREENED:]}[half]
    return [usable[k] for k in order[:n]]


def curve_of(cell: Cell, pool: RecordedRuns, n: int) -> Array:
    """Return a cell's regret; for random search the mean of many draws from the same starts, to spare noise."""
    if cell.method == "random":
        return expected_random_curve(pool, n=n, seed=cell.seed)
    return regret_curve(pool, cell.order, n, METHODS[cell.method].speed)


def levels(cells: Sequence[Cell], by_name: dict[tuple[str, str], RecordedRuns], n: int) -> dict[str, dict[str, Levels]]:
    """Return the mean regret over 1 to `n` evaluations: method, table, data set."""
    values: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for c in cells:
        pool = by_name.get((c.table, c.dataset))
        if pool is not None:
            values[c.method][c.table][c.dataset].append(float(curve_of(c, pool, n).mean()))
    return {
        method: {table: {d: float(np.mean(v)) for d, v in rows.items()} for table, rows in tables.items()}
        for method, tables in values.items()
    }


def seven(arguments: argparse.Namespace) -> None:
    """Print the ratio to random search on the seven tables."""
    members = {t: chosen(t, arguments.metadata, arguments.datasets, arguments.half) for t in arguments.tables}
    methods = [METHODS[name] for name in arguments.methods]
    path = arguments.results / "surrogates.csv"
    # Table by table, so that a run that is stopped has finished tables.
    cells: list[Cell] = []
    for table, pool_list in members.items():
        cells = simulate_all(
            {table: pool_list},
            methods,
            seeds=range(arguments.seeds),
            n=50,
            path=path,
            log=DECLARED_LOG,
            n_workers=arguments.workers,
        )
    by_name = {(table, pool.dataset): pool for table, pool_list in members.items() for pool in pool_list}
    cells = [c for c in cells if c.seed < arguments.seeds and c.method in arguments.methods]
    report(levels(cells, by_name, 50), cells, by_name, arguments)


def report(
    found: dict[str, dict[str, Levels]],
    cells: Sequence[Cell],
    by_name: dict[tuple[str, str], RecordedRuns],
    arguments: argparse.Namespace,
) -> None:
    """Print ratios, paired differences to GBQR, and regret at some evaluations."""
    tables = [t for t in arguments.tables if all(t in found[m] for m in found)]
    size = f"{arguments.datasets} data sets x {arguments.seeds} seeds"
    print(f"{arguments.half}: {size}, ratio of mean regret 1-50 to random")
    print(
        "method".ljust(18),
        *(t.replace("openml100", "om").replace("hyperbench", "hb")[:10].rjust(10) for t in tables),
        "mean",
    )
    for method, rows in found.items():
        ratios = [ratio(rows[t], found["random"][t]) for t in tables]
        print(method.ljust(18), *(f"{r:10.2f}" for r in ratios), f"{np.mean(ratios):6.3f}")
    for reference in ("gbqr", "random"):
        print(f"\npaired difference to {reference}, in points of regret (standard error)")
        for method, rows in found.items():
            if method != reference and reference in found:
                estimates = [paired_difference(rows[t], found[reference][t]) for t in tables]
                print(method.ljust(18), *(_shown(e) for e in estimates), " all", _shown(mean_estimate(estimates)))
    print("\nregret at", *AT, "and share of optima found within 50, mean of the tables")
    for method in found:
        curves: dict[str, list[Array]] = defaultdict(list)
        for c in cells:
            if c.method == method and c.table in tables and (c.table, c.dataset) in by_name:
                curves[c.table].append(curve_of(c, by_name[c.table, c.dataset], 50))
        at = [np.mean([np.mean([v[k - 1] for v in curves[t]]) for t in tables]) for k in AT]
        optimum = np.mean([np.mean([v[-1] <= 1e-9 for v in curves[t]]) for t in tables])
        print(method.ljust(18), *(f"{v:7.2f}" for v in at), f"{optimum:6.2f}")


def optimus(arguments: argparse.Namespace) -> None:
    """Print on how many data sets of the thesis' table each method finds the optimum within 120 evaluations."""
    table = "optimus" if arguments.failures else "optimus measured"
    members = {table: pools(table, arguments.metadata)}
    methods = [METHODS[name] for name in arguments.methods]
    cells = simulate_all(
        members,
        methods,
        seeds=range(arguments.seeds),
        n=120,
        path=arguments.results / "optimus.csv",
        n_workers=arguments.workers,
    )
    by_name = {pool.dataset: pool for pool in members[table]}
    print(f"{table}: optima found within 120 evaluations, of {len(by_name)}, by seed; mean regret 1-120")
    for method in arguments.methods:
        own = [c for c in cells if c.table == table and c.method == method and c.seed < arguments.seeds]
        speed = METHODS[method].speed
        curves = {(c.dataset, c.seed): regret_curve(by_name[c.dataset], c.order, 120, speed) for c in own}
        found = [sum(int(curves[d, s][-1] <= 1e-9) for d in by_name) for s in range(arguments.seeds)]
        print(method.ljust(18), found, f"mean {np.mean(found):.1f}", f"regret {np.mean(list(curves.values())):.2f}")


def _shown(estimate: Estimate) -> str:
    return f"{estimate.mean:+6.2f}({estimate.error:.2f})"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument(
        "--methods", nargs="+", default=["random", "gbqr", "gaussian_process", "default"], choices=METHODS
    )
    parser.add_argument("--tables", nargs="+", default=list(SEVEN), choices=SEVEN)
    parser.add_argument("--half", default="confirmation", choices=("all", "screening", "confirmation"))
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--optimus", action="store_true")
    parser.add_argument("--failures", action="store_true", help="keep failed runs as scores of 0, as the thesis does")
    arguments = parser.parse_args()
    optimus(arguments) if arguments.optimus else seven(arguments)


if __name__ == "__main__":
    main()
