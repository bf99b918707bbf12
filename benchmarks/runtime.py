"""Runtime awareness: how well seconds are predicted, and which rule makes the most of a budget of seconds.

    python benchmarks/runtime.py --regressors     RMSE in log seconds and CPU time, regressors of thesis table 5.1
    python benchmarks/runtime.py --rules          regret against seconds for every cost rule

Pools have at most 500 configurations. A budget is 40 times a pool's mean seconds; the mean regret over it counts.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tables import DECLARED_LOG, MAX_POOL, METADATA, pools

from metaml.acquisition import COST_ACQUISITIONS
from metaml.acquisition.candidates import PoolCandidates
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import level, paired_difference
from metaml.laboratory.simulate import BASELINES, OptimizerVariant, regret_over_seconds, simulate

Array = NDArray[np.float64]
TABLES = ("optimus measured", "hyperbench RandomForest", "hyperbench XGBoost", "hyperbench SVC", "hyperbench SGD")
BUDGET = 40


def small_pools(table: str, metadata: Path, n: int) -> list[RecordedRuns]:
    """Return up to `n` pools of at most 500 configurations each."""
    found = []
    usable = [pool for pool in pools(table, metadata) if not pool.is_flat]
    order = np.random.default_rng(7).permutation(len(usable))
    for pool in (usable[k] for k in order[:n]):
        kept = np.random.default_rng(0).permutation(len(pool.configs))[:MAX_POOL]
        seconds = None if pool.seconds is None else pool.seconds[kept]
        configs = tuple(pool.configs[k] for k in kept)
        found.append(RecordedRuns(pool.dataset, pool.algorithm, configs, pool.scores[kept], seconds))
    return found


def regressors() -> dict[str, Callable[[], Any]]:
    """Return the regressors of table 5.1, ours first; CatBoost if it is installed."""
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import (
        AdaBoostRegressor,
        ExtraTreesRegressor,
        GradientBoostingRegressor,
        RandomForestRegressor,
    )
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import LinearSVR
    from sklearn.tree import DecisionTreeRegressor
    from xgboost import XGBRegressor

    made: dict[str, Callable[[], Any]] = {
        "Duration (ours)": lambda: None,
        "LGBMRegressor": lambda: LGBMRegressor(n_jobs=1, verbose=-1),
        "GradientBoosting": lambda: GradientBoostingRegressor(random_state=0),
        "XGBRegressor": lambda: XGBRegressor(n_jobs=1, random_state=0),
        "RandomForest": lambda: RandomForestRegressor(n_jobs=1, random_state=0),
        "ExtraTrees": lambda: ExtraTreesRegressor(n_jobs=1, random_state=0),
        "DecisionTree": lambda: DecisionTreeRegressor(random_state=0),
        "AdaBoost": lambda: AdaBoostRegressor(random_state=0),
        "LinearRegression": LinearRegression,
        "KNeighbors": lambda: KNeighborsRegressor(n_jobs=1),
        "LinearSVR": lambda: LinearSVR(random_state=0, max_iter=5000),
    }
    try:
        from catboost import CatBoostRegressor

        made["CatBoost"] = lambda: CatBoostRegressor(verbose=False, thread_count=1, random_seed=0)
    except ImportError:
        pass
    return made


def compare_regressors(arguments: argparse.Namespace) -> None:
    """Print RMSE in log seconds and CPU milliseconds, by 3-fold cross-validation and from 30 rows."""
    import warnings

    from metaml.surrogates.duration import Duration

    warnings.filterwarnings("ignore")
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for table in arguments.tables:
        for pool in small_pools(table, arguments.metadata, arguments.datasets):
            X = np.nan_to_num(PoolCandidates(pool.configs, log=DECLARED_LOG.get(table, ())).rows, nan=0.5)
            assert pool.seconds is not None
            seconds = np.maximum(pool.seconds, 1e-4)
            folds = np.random.default_rng(1).integers(0, 3, len(seconds))
            splits = [("all", np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
            splits += [("30 rows", train[:30], test) for _, train, test in splits]
            for name, make in regressors().items():
                for size, train, test in splits:
                    start = time.process_time()
                    if name.startswith("Duration"):
                        predicted = np.log(Duration().fit(X[train], seconds[train]).predict(X[test]))
                    else:
                        predicted = make().fit(X[train], np.log(seconds[train])).predict(X[test])
                    errors[name][f"{size} ms"].append(1000 * (time.process_time() - start))
                    rmse = float(np.sqrt(np.mean((predicted - np.log(seconds[test])) ** 2)))
                    errors[name][f"{size} {table.split()[0]}"].append(rmse)
    columns = list(next(iter(errors.values())))
    print("RMSE in log seconds, and CPU ms of fit + predict")
    print("regressor".ljust(18), *(c.rjust(18) for c in columns))
    for name, row in sorted(errors.items(), key=lambda item: np.mean(item[1]["all optimus"])):
        print(name.ljust(18), *(f"{np.mean(row[c]):18.3f}" for c in columns))


METHODS = [
    BASELINES["random"],
    OptimizerVariant("no cost", {}),
    *(OptimizerVariant(rule, {"cost": rule}) for rule in COST_ACQUISITIONS),
]


def spend(pool: RecordedRuns, table: str, seeds: int) -> dict[str, float]:
    """Return each method's mean regret over the budget, a mean over seeds."""
    candidates = PoolCandidates(pool.configs, log=DECLARED_LOG.get(table, ()))
    assert pool.seconds is not None
    budget = BUDGET * float(pool.seconds.mean())
    means = {}
    for method in METHODS:
        curves = []
        for seed in range(seeds * (10 if method.name == "random" else 1)):
            order = simulate(pool, method, n=150, seed=seed, budget=budget, candidates=candidates)
            curves.append(regret_over_seconds(pool, order, budget).mean())
        means[method.name] = float(np.mean(curves))
    return means


def compare_rules(arguments: argparse.Namespace) -> None:
    """Print the mean regret over the budget for every cost rule, and paired differences to none."""
    for table in arguments.tables:
        members = small_pools(table, arguments.metadata, arguments.datasets)
        with ProcessPoolExecutor(arguments.workers, mp_context=get_context("forkserver")) as workers:
            futures = {p.dataset: workers.submit(spend, p, table, arguments.seeds) for p in members}
            found = {dataset: future.result() for dataset, future in futures.items()}
        by_method = {m.name: {d: row[m.name] for d, row in found.items()} for m in METHODS}
        size = f"{len(found)} data sets x {arguments.seeds} seeds"
        print(f"\n{table}: {size}; mean regret over the budget, and its difference to no cost rule")
        for name, values in by_method.items():
            difference = paired_difference(values, by_method["no cost"])
            print(
                name.ljust(28),
                f"{level(values).mean:7.2f}",
                f"{difference.mean:+7.2f} ({difference.error:.2f})",
                flush=True,
            )


def main(argv: Sequence[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=TABLES)
    parser.add_argument("--datasets", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--regressors", action="store_true")
    parser.add_argument("--rules", action="store_true")
    arguments = parser.parse_args(argv)
    if arguments.regressors or not arguments.rules:
        compare_regressors(arguments)
    if arguments.rules or not arguments.regressors:
        compare_rules(arguments)


if __name__ == "__main__":
    main()
