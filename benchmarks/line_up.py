"""What does an ensemble of our learners lack? Candidates for the line-up of a search, each added to the defaults.

python benchmarks/line_up.py make  --store DIR     evaluates what is missing (can be interrupted)
python benchmarks/line_up.py table --store DIR

Two thirds of the rows of each data set train, in five folds; the models of the folds are averaged. The pool is the
default of every algorithm that a search tries. The table says how the held-out loss of the ensemble that is chosen
from the pool changes if one candidate joins it, and what that candidate takes. Named before it was run: a candidate
joins the line-up if it lowers the loss by half a per cent and by two standard errors, on 60 % of the data sets or more.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import CLIP, Array, loss, outputs, prepare

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.data import Dataset
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.evaluation.crossval import fold_seed
from metaml.splits import FoldPlan, make_plan

CANDIDATES: dict[str, tuple[str, dict[str, object]]] = {
    "catboost": ("catboost", {}),
    "additive": ("additive", {}),
    "neural network": ("neural_network", {}),
    "lightgbm, extra trees": ("lightgbm", {"extra_trees": True, "learning_rate": 0.05}),
    "lightgbm, 127 leaves": ("lightgbm", {"num_leaves": 127, "learning_rate": 0.05, "feature_fraction": 0.9}),
    "k-NN, quantiles": ("k_neighbors", {"scaling": "quantile", "metric": "manhattan"}),
    "linear, quantiles": ("elastic_net", {"scaling": "quantile", "alpha": 0.01}),
    "mlp, quantiles": ("mlp", {"scaling": "quantile", "n_layers": 1, "width": 256, "learning_rate": 0.001}),
}
"""Algorithms and settings that a search does not try, or seldom, by the name in the table."""
POOL = tuple(name for name in SEARCHED if (name, {}) not in CANDIDATES.values())
INSTEAD = {"neural network, no mlp": ("neural network", "mlp")}
"""A candidate that joins while a member of the pool leaves."""
TOGETHER = {"the three that came near": ("additive", "neural network", "lightgbm, extra trees")}
"""Candidates that join at the same time."""


def evaluate(
    dataset: Dataset, X_test: pd.DataFrame, plan: FoldPlan, algorithm: str, over: dict[str, object]
) -> dict[str, Any]:
    """Return what a configuration predicts out of fold and for held-out rows, and its CPU seconds."""
    width = () if dataset.labels is None else (len(dataset.labels),)
    own, test = np.zeros((len(dataset.y), *width)), np.zeros((len(X_test), *width))
    found, begun = ALGORITHMS[algorithm], time.process_time()
    config: Any = {**found.space(dataset.task).default(), **over}
    for fold in range(plan.n_folds):
        train, tested = plan.split(fold)
        estimator: Any = found.build(config, task=dataset.task, seed=fold_seed(0, fold))
        estimator.fit(dataset.X.iloc[train].reset_index(drop=True), dataset.y[train])
        own[tested] = outputs(dataset, estimator, dataset.X.iloc[tested].reset_index(drop=True))
        test += outputs(dataset, estimator, X_test) / plan.n_folds
    return {"own": own, "test": test, "seconds": time.process_time() - begun}


def make(asked: argparse.Namespace) -> None:
    """Evaluate what is missing in the store."""
    candidates = {label: CANDIDATES[label] for label in asked.candidates}
    wanted: dict[str, tuple[str, dict[str, object]]] = {**{name: (name, {}) for name in POOL}, **candidates}
    for name in asked.datasets:
        dataset, X_test, truth = prepare(name, asked.data)
        plan, place = make_plan(dataset, 5), asked.store / name
        place.mkdir(parents=True, exist_ok=True)
        np.savez(place / "truth.npz", y=dataset.y, test=truth, folds=plan.assignment, task=dataset.task)
        for label, (algorithm, over) in wanted.items():
            path = place / f"{label}.npz"
            if algorithm in ALGORITHMS and not path.exists():
                np.savez_compressed(path, **evaluate(dataset, X_test, plan, algorithm, over))
        print(f"{name}: done", flush=True)


def table(asked: argparse.Namespace) -> None:
    """Print by how much each candidate changes the held-out loss of the ensemble, in per cent."""
    rows, seconds = [], []
    for place in sorted(asked.store.iterdir()):
        stored = {path.stem: np.load(path) for path in place.glob("*.npz") if path.stem != "truth"}
        if not set(POOL) <= set(stored):
            continue
        truth = np.load(place / "truth.npz")
        alone = _held_out_loss([stored[name] for name in POOL], truth)
        row: dict[str, object] = {"data set": place.name, "rows": len(truth["y"])}
        pools = {label: (*POOL, label) for label in CANDIDATES}
        for label, (candidate, left) in INSTEAD.items():
            pools[label] = (*(name for name in POOL if name != left), candidate)
        pools |= {label: (*POOL, *together) for label, together in TOGETHER.items()}
        for label, pool in pools.items():
            if set(pool) <= set(stored):
                joined = _held_out_loss([stored[name] for name in pool], truth)
                row[label] = 100 * (joined / alone - 1)
        rows.append(row)
        typical = float(stored["lightgbm"]["seconds"])
        seconds.append({label: float(stored[label]["seconds"]) / typical for label in CANDIDATES if label in stored})
    frame, slower = pd.DataFrame(rows).set_index("data set"), pd.DataFrame(seconds)
    print(frame.round(2).to_string())
    for label in frame.columns[1:]:
        found = frame[label].dropna()
        values = found.clip(-CLIP, CLIP)
        error, won, lost = values.std() / len(values) ** 0.5, int((found < 0).sum()), int((found > 0).sum())
        cost = f"{slower[label].median():.1f} x the CPU seconds of lightgbm" if label in slower else "a change"
        print(f"{label}: {values.mean():+.2f} ± {error:.2f} %, median {found.median():+.2f}, {won} : {lost}, {cost}")


def _held_out_loss(members: list[Any], truth: Any) -> float:
    """Return the held-out loss of the ensemble that selection makes of some members."""
    metric, folds = default_metric(str(truth["task"])), truth["folds"].astype(float)  # type: ignore[arg-type]
    known: Array = np.ones(len(truth["test"]), dtype=bool) if truth["task"] == "regression" else truth["test"] >= 0
    weights = select([member["own"] for member in members], truth["y"], metric, folds=folds)
    test = combine([member["test"] for member in members], weights)
    return loss(metric, score(test[known], truth["test"][known], metric, y=truth["y"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["make", "table"])
    parser.add_argument("--store", type=Path, required=True, help="folder of the predictions")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--datasets", nargs="+", default=list(chosen_data.DECIDED_ON), metavar="NAME")
    parser.add_argument("--candidates", nargs="*", default=list(CANDIDATES), choices=list(CANDIDATES), metavar="NAME")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    {"make": make, "table": table}[asked.command](asked)


if __name__ == "__main__":
    main()
