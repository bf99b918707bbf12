"""Is an ensemble chosen by luck? Candidates of real searches, judged by the folds that found them and by fresh ones.

python benchmarks/bagging.py search --store DIR     160 evaluations on each data set (`metaml tune --iterations`)
python benchmarks/bagging.py make   --store DIR     the best of them on three times five folds, with test predictions
python benchmarks/bagging.py table  --store DIR

Two thirds of the rows train. The table compares held-out losses with that of the ensemble that the folds of the search
choose and whose models they are.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import loss, outputs, prepare

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.boosting import for_all_rows
from metaml.ensemble.combination import combine
from metaml.ensemble.pool import distinct, n_each_for, pool
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.evaluation.crossval import fold_seed
from metaml.splits import make_plan

DATASETS = ("pc4", "maternal-health-risk", "insurance-charges", "yeast", "oil-spill")
"""Of those that decisions are made on; they prove nothing afterwards."""
N_PLANS, N_FOLDS, N_SEEDS = 3, 5, 2
MOST_SECONDS = 25.0
CLIP = 10.0
Array = Any


def search(asked: argparse.Namespace) -> None:
    """Search on the training rows of each data set, without experience."""
    listed = chosen_data.manifest(asked.data)
    for name in asked.datasets:
        target, task, place = str(listed.at[name, "target"]), str(listed.at[name, "task"]), asked.store / name
        chosen_data.split(name, target, task, place / "split", asked.data)
        words = [sys.executable, "-m", "metaml_cli", "tune", str(place / "split" / "train.csv"), "--target", target]
        words += ["--task", task, "--iterations", "160", "--no-kb", "--workers", "2", "--output", str(place / "found")]
        subprocess.run(words, check=True)


def candidates(place: Path) -> pd.DataFrame:
    """Return the best five evaluations of a search, the best two of each algorithm, and the defaults."""
    found = pd.read_csv(place / "found" / "leaderboard.csv")
    found = found[found["status"] == "ok"]
    kept = [found.head(5), found.groupby("algorithm").head(2), found[found["origin"] == "default"]]
    return pd.concat(kept).drop_duplicates("number").sort_values("rank")


def make(asked: argparse.Namespace) -> None:
    """Evaluate the candidates on other folds and fit them to all rows; what is there stays."""
    for name in asked.datasets:
        place = asked.store / name
        dataset, X_test, truth = prepare(name, asked.data)
        plans = [make_plan(dataset, N_FOLDS, seed) for seed in range(N_PLANS)]
        folds = np.stack([plan.assignment for plan in plans])
        np.savez(place / "truth.npz", y=dataset.y, test=truth, task=dataset.task, folds=folds)
        for _, row in candidates(place).iterrows():
            path = place / f"{row['number']:04d}_{row['algorithm']}.npz"
            if not path.exists() and (done := evaluated(dataset, X_test, plans, row)) is not None:
                np.savez_compressed(path, **done)
        print(f"{name}: done", flush=True)


def evaluated(dataset: Any, X_test: pd.DataFrame, plans: list[Any], row: pd.Series) -> dict[str, Array] | None:
    """Return what a candidate predicts, out of fold and for held-out rows; None if it takes too long."""
    found, config = ALGORITHMS[row["algorithm"]], json.loads(row["config"])
    width = () if dataset.labels is None else (len(dataset.labels),)
    own = np.zeros((N_PLANS, len(dataset.y), *width), np.float32)
    test = np.zeros((N_PLANS, len(X_test), *width), np.float32)
    begun = time.process_time()
    for number, plan in enumerate(plans):
        for fold in range(N_FOLDS):
            train, tested = plan.split(fold)
            estimator: Any = found.build(config, task=dataset.task, seed=fold_seed(number, fold))
            estimator.fit(dataset.X.iloc[train].reset_index(drop=True), dataset.y[train])
            own[number][tested] = outputs(dataset, estimator, dataset.X.iloc[tested].reset_index(drop=True))
            test[number] += outputs(dataset, estimator, X_test) / N_FOLDS
            if time.process_time() - begun > MOST_SECONDS:
                return None
    whole = np.zeros((len(X_test), *width), np.float32)
    for seed in range(N_SEEDS):
        estimator = found.build(for_all_rows(config), task=dataset.task, seed=1000 + seed)
        whole += outputs(dataset, estimator.fit(dataset.X, dataset.y), X_test) / N_SEEDS
    return {"own": own, "test": test, "whole": whole, "score": row["score"]}


def table(asked: argparse.Namespace) -> None:
    """Print the held-out loss of each way to choose and to fit an ensemble."""
    rows = []
    for name in asked.datasets:
        place = asked.store / name
        facts, paths = np.load(place / "truth.npz"), sorted(place.glob("*_*.npz"))
        items, names = [np.load(path) for path in paths], [path.stem.partition("_")[2] for path in paths]
        y, metric, folds = facts["y"], default_metric(str(facts["task"])), facts["folds"].astype(float)  # type: ignore[arg-type]
        known = np.ones(len(facts["test"]), dtype=bool) if facts["task"] == "regression" else facts["test"] >= 0

        def held_out(test: list[Array], weights: Array, *, rows: Array, truth: Array, metric: str, y: Array) -> float:
            return loss(metric, score(combine(test, weights)[rows], truth[rows], metric, y=y))

        def chosen_by(own: list[Array], folds: Array, *, y: Array, metric: str, names: list[str]) -> Array:
            scores = [score(prediction, y, metric, folds=folds) for prediction in own]
            places = pool(names, scores, n_best=8, n_each=n_each_for(len(y)))
            places = [places[k] for k in distinct([own[k] for k in places])]
            weights = np.zeros(len(own))
            weights[places] = select([own[k] for k in places], y, metric, folds=folds)
            return weights

        settings = {"rows": known, "truth": facts["test"], "metric": metric, "y": y}
        own, test = [item["own"].astype(float) for item in items], [item["test"].astype(float) for item in items]
        whole = [item["whole"].astype(float) for item in items]
        of = {"y": y, "metric": metric, "names": names}
        searched = chosen_by([each[0] for each in own], folds[0], **of)
        once = chosen_by([each[1] for each in own], folds[1], **of)
        twice = chosen_by([each[1:].mean(axis=0) for each in own], folds[1], **of)
        every = chosen_by([each.mean(axis=0) for each in own], folds[1], **of)
        base = held_out([each[0] for each in test], searched, **settings)
        losses = {
            "one repeat": held_out([each[1] for each in test], once, **settings),
            "two repeats": held_out([each[1:].mean(axis=0) for each in test], twice, **settings),
            "repeats and search": held_out([each.mean(axis=0) for each in test], every, **settings),
            "search, all rows": held_out(whole, searched, **settings),
            "two repeats, all rows": held_out(whole, twice, **settings),
        }
        cv = loss(metric, score(combine([each[0] for each in own], searched), y, metric, folds=folds[0]))
        changes = {way: 100 * (value / base - 1) for way, value in losses.items()}
        rows.append({"data set": name, "rows": len(y), "cross-validated": 100 * (cv / base - 1), **changes})
    frame = pd.DataFrame(rows).set_index("data set")
    print(frame.round(1).to_string())
    for column in frame.columns[1:]:
        values = frame[column].clip(-CLIP, CLIP)
        won, lost = int((frame[column] < 0).sum()), int((frame[column] > 0).sum())
        spread = values.std() / len(values) ** 0.5
        print(f"{column}: {values.mean():.1f} ± {spread:.1f}, median {frame[column].median():.1f}, {won} : {lost}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["search", "make", "table"])
    parser.add_argument("--store", type=Path, required=True, help="folder of the searches and of the predictions")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), metavar="NAME")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    {"search": search, "make": make, "table": table}[asked.command](asked)


if __name__ == "__main__":
    main()
