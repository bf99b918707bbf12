"""What a second layer is worth, and whether its check can tell: a store of predictions, judged on rows held out.

python benchmarks/layers.py make  --store DIR     evaluates what is missing (hours of one core; can be interrupted)
python benchmarks/layers.py table --store DIR

For each data set, two thirds of the rows train. Layer 1 is the default of every algorithm; layer 2 is some defaults on
columns and out-of-fold predictions. Each layer is built twice: with all five folds, and for the check with one fold set
aside. The table compares ensembles selected from layer 1, from layer 2 and from both: on the held-out third, in
cross-validation, and on the fold that was set aside.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, from_frame
from metaml.ensemble.combination import combine
from metaml.ensemble.layers import with_predictions
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.evaluation.crossval import fold_seed
from metaml.splits import FoldPlan, make_plan
from metaml.splits.shuffled import plan_folds

STACKERS = ("lightgbm", "extra_trees", "xgboost", "catboost", "random_forest", "mlp", "elastic_net")
CLIP = 10.0

Array = Any
Predicted = dict[str, tuple[Array, Array]]


def prepare(name: str, folder: Path) -> tuple[Dataset, pd.DataFrame, Array]:
    """Return the training rows of a data set, the columns of the held-out rows, and their target."""
    listed = chosen_data.manifest(folder)
    target, task = str(listed.at[name, "target"]), str(listed.at[name, "task"])
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    classes = None if task == "regression" else frame[target].astype(str).to_numpy()
    train, test = plan_folds(len(frame), classes, n_folds=3, seed=chosen_data.SEED).split(0)
    dataset = from_frame(frame.iloc[train].reset_index(drop=True), target=target, task=task)
    held_out = frame.iloc[test].reset_index(drop=True)
    X = dataset.schema.read(held_out.drop(columns=target)).X
    if dataset.labels is None:
        return dataset, X, held_out[target].to_numpy(float)
    codes = {str(label): code for code, label in enumerate(dataset.labels.tolist())}
    return dataset, X, np.array([codes.get(str(value), -1) for value in held_out[target]])


def outputs(dataset: Dataset, estimator: Any, X: pd.DataFrame) -> Array:
    """Return probabilities or values."""
    if dataset.labels is None:
        return np.asarray(estimator.predict(X), dtype=float)
    result = np.zeros((len(X), len(dataset.labels)))
    result[:, estimator.classes_] = estimator.predict_proba(X)
    return result


def evaluate(dataset: Dataset, X: pd.DataFrame, X_test: pd.DataFrame, plan: FoldPlan, algorithm: str) -> dict[str, Any]:
    """Return what a default predicts: out of fold (the mean of all folds for unused rows) and for held-out rows."""
    width = () if dataset.labels is None else (len(dataset.labels),)
    own, test, unused = np.zeros((len(X), *width)), np.zeros((len(X_test), *width)), plan.unused
    found, begun = ALGORITHMS[algorithm], time.process_time()
    for fold in range(plan.n_folds):
        train, tested = plan.split(fold)
        estimator: Any = found.build(found.space(dataset.task).default(), task=dataset.task, seed=fold_seed(0, fold))
        estimator.fit(X.iloc[train].reset_index(drop=True), dataset.y[train])
        own[tested] = outputs(dataset, estimator, X.iloc[tested].reset_index(drop=True))
        test += outputs(dataset, estimator, X_test) / plan.n_folds
        if len(unused):
            own[unused] += outputs(dataset, estimator, X.iloc[unused].reset_index(drop=True)) / plan.n_folds
    return {"own": own.astype(np.float32), "test": test.astype(np.float32), "seconds": time.process_time() - begun}


def make(asked: argparse.Namespace) -> None:
    """Evaluate what is missing in the store."""
    for name in asked.datasets:
        dataset, X_test, truth = prepare(name, asked.data)
        plan, place = make_plan(dataset, 5), asked.store / name
        place.mkdir(parents=True, exist_ok=True)
        np.savez(place / "truth.npz", y=dataset.y, test=truth, folds=plan.assignment, task=dataset.task)
        for tag, one in (("all", plan), ("check", plan.without_fold(0))):
            first = layer(place, f"{tag}1", dataset, dataset.X, X_test, one, tuple(ALGORITHMS))
            X = with_predictions(dataset.X, [own for own, _ in first.values()])
            stacked = with_predictions(X_test, [test for _, test in first.values()])
            layer(place, f"{tag}2", dataset, X, stacked, one, STACKERS)
        print(f"{name}: done", flush=True)


def layer(
    place: Path,
    tag: str,
    dataset: Dataset,
    X: pd.DataFrame,
    X_test: pd.DataFrame,
    plan: FoldPlan,
    algorithms: tuple[str, ...],
) -> Predicted:
    """Return the predictions of a layer, from the store if they are there."""
    for algorithm in (name for name in algorithms if name in ALGORITHMS):
        path = place / f"{tag}_{algorithm}.npz"
        if not path.exists():
            np.savez_compressed(path, **evaluate(dataset, X, X_test, plan, algorithm))
    return stored(place, tag)


def stored(place: Path, tag: str) -> Predicted:
    """Return what the store has of a layer, by algorithm."""
    found = {path.stem.partition("_")[2]: np.load(path) for path in sorted(place.glob(f"{tag}_*.npz"))}
    return {name: (item["own"].astype(float), item["test"].astype(float)) for name, item in found.items()}


def table(asked: argparse.Namespace) -> None:
    """Print the relative loss of layer 2, and of both, to that of layer 1."""
    rows = []
    for place in sorted(asked.store.iterdir()):
        first, second = stored(place, "all1"), stored(place, "all2")
        checks = stored(place, "check1"), stored(place, "check2")
        if not second or not checks[1]:
            continue
        truth = np.load(place / "truth.npz")
        metric, folds = default_metric(str(truth["task"])), truth["folds"].astype(float)  # type: ignore[arg-type]
        known = np.ones(len(truth["test"]), dtype=bool) if truth["task"] == "regression" else truth["test"] >= 0
        row: dict[str, object] = {"data set": place.name, "rows": len(truth["y"])}
        losses = {}
        both = {**{f"1 {name}": item for name, item in first.items()}, **{f"2 {k}": v for k, v in second.items()}}
        for label, pool in (("1", first), ("2", second), ("both", both)):
            weights = select([own for own, _ in pool.values()], truth["y"], metric, folds=folds)
            test = combine([test for _, test in pool.values()], weights)
            own = combine([own for own, _ in pool.values()], weights)
            losses["held out", label] = loss(metric, score(test[known], truth["test"][known], metric, y=truth["y"]))
            losses["cross-validated", label] = loss(metric, score(own, truth["y"], metric, folds=folds))
        used, unseen = np.flatnonzero(truth["folds"] > 0), np.flatnonzero(truth["folds"] == 0)
        for label, pool in (("1", checks[0]), ("both", {**checks[0], **{f"2 {k}": v for k, v in checks[1].items()}})):
            arrays = [own for own, _ in pool.values()]
            weights = select([own[used] for own in arrays], truth["y"][used], metric, folds=folds[used])
            seen = combine([own[unseen] for own in arrays], weights)
            losses["check", label] = loss(metric, score(seen, truth["y"][unseen], metric, y=truth["y"]))
        row["2 held out"] = 100 * (losses["held out", "2"] / losses["held out", "1"] - 1)
        for where in ("held out", "cross-validated", "check"):
            row[f"both {where}"] = 100 * (losses[where, "both"] / losses[where, "1"] - 1)
        row["checked"] = row["both held out"] if float(str(row["both check"])) <= 0 else 0.0
        rows.append(row)
    frame = pd.DataFrame(rows).set_index("data set")
    print("Relative loss to the ensemble of layer 1 in per cent; checked: both layers where the check says so.\n")
    print(frame.round(2).to_string())
    for column in frame.columns[1:]:
        values = frame[column].clip(-CLIP, CLIP)
        spread = values.std() / len(values) ** 0.5
        won, lost = int((frame[column] < 0).sum()), int((frame[column] > 0).sum())
        print(f"{column}: {values.mean():.2f} ± {spread:.2f}, median {frame[column].median():.2f}, {won} : {lost}")


def loss(metric: str, value: float) -> float:
    """Return 1 - AUC, or the positive loss."""
    return 1 - value if metric == "roc_auc" else -value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["make", "table"])
    parser.add_argument("--store", type=Path, required=True, help="folder of the predictions")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--datasets", nargs="+", default=list(chosen_data.DECIDED_ON), metavar="NAME")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    {"make": make, "table": table}[asked.command](asked)


if __name__ == "__main__":
    main()
