"""Cross-validation or a held-out part: which leads to the better model in a short time, by rows and seconds.

python benchmarks/folds.py --results folds.jsonl [--budget 10] [--seeds 1] [--rows 2000 20000] [--datasets 12]

Searches without experience on two thirds of the rows, once with five folds and once with a fifth held out; the last
third gives the score. The data sets that other benchmarks test with are not among them.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
from automl_tools.chosen_data import CHOSEN
from proof import halves, read, related, tested
from starter import DATASETS

from metaml.data import from_frame
from metaml.evaluation import default_metric, metric
from metaml.search.settings import TuneSettings
from metaml.tuning.run import tune


def asked_for(asked: argparse.Namespace) -> list[str]:
    """Return data sets evenly over sizes, the tasks in turn."""
    barred = {*related(list(CHOSEN)), *related(tested(asked.folder))}
    low, high = asked.rows
    with (asked.folder / "manifest.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] not in barred and low <= int(row["n_rows"]) <= high]
    chosen = []
    for task in ("binary", "multiclass", "regression"):
        own = sorted((row for row in rows if row["task"] == task), key=lambda row: int(row["n_rows"]))
        places = np.linspace(0, len(own) - 1, asked.datasets // 3).round().astype(int)
        chosen += [own[place]["name"] for place in dict.fromkeys(places.tolist())]
    return chosen


def one(asked: argparse.Namespace, name: str, seed: int, n_folds: int) -> dict[str, object]:
    """Return the result of one search."""
    train, test, target = halves(asked.folder / f"{name}.csv.gz", seed)
    dataset = from_frame(train, target=target, name=name)
    # With the rows given, the number of folds is as asked for.
    settings = TuneSettings(
        seconds=asked.budget, n_workers=2, seed=seed, uses_memory=False, n_folds=n_folds, max_rows=len(train)
    )
    tuned = tune(dataset, settings)
    truth = test[target]
    if dataset.labels is None:
        known = truth.notna().to_numpy()
        answer = np.asarray(tuned.finished.model.predict(test), dtype=np.float64)[known]
        loss = -metric("rmse").function(truth[known].to_numpy(np.float64), answer)
    else:
        codes = pd.Series({str(label): code for code, label in enumerate(dataset.labels)})
        y = codes.reindex(truth.astype(str)).to_numpy(np.float64)
        known = ~np.isnan(y)
        chances = tuned.finished.model.predict_proba(test)[known]
        score = metric(default_metric(dataset.task)).function(y[known].astype(np.int64), chances)
        loss = 1 - score if dataset.task == "binary" else -score
    n_ok = sum(trial.run.status == "ok" for trial in tuned.found.trials)
    return {
        "dataset": name,
        "rows": len(train),
        "columns": dataset.X.shape[1],
        "task": dataset.task,
        "budget": asked.budget,
        "seed": seed,
        "folds": n_folds,
        "loss": float(loss),
        "n": n_ok,
        "kind": tuned.finished.kind,
        "algorithms": sorted({trial.run.algorithm for trial, _, _ in tuned.finished.chosen}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--results", type=Path, default=Path("folds.jsonl"))
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs=2, default=(2000, 20_000))
    parser.add_argument("--datasets", type=int, default=12)
    parser.add_argument("--folds", type=int, nargs="+", default=(5, 1))
    asked = parser.parse_args()
    done = set()
    if asked.results.exists():
        done = {(row["dataset"], row["budget"], row["seed"], row["folds"]) for row in read(asked.results)}
    for seed in range(asked.seeds):
        for name in asked_for(asked):
            for n_folds in asked.folds:
                if (name, asked.budget, seed, n_folds) not in done:
                    row = one(asked, name, seed, n_folds)
                    with asked.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    frame = pd.DataFrame(read(asked.results))
    frame = frame[frame["budget"] == asked.budget]
    wide = frame.pivot_table(index=["rows", "dataset", "task", "seed"], columns="folds", values="loss")
    for n_folds in wide.columns.drop(5):
        pair = wide[[5, n_folds]].dropna()
        gain = 100 * (np.log(pair[5]) - np.log(pair[n_folds]))
        print(gain.round(1).to_string())
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        text = f"{gain.mean():.1f} % +- {error:.1f} (median {gain.median():.1f}), in {(gain > 0).sum()} of {len(gain)}"
        print(f"With {n_folds} folds instead of 5 the loss is smaller by {text}.")


if __name__ == "__main__":
    main()
