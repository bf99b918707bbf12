"""Do slower boosters, or more kinds of learners, make a better ensemble where there are minutes?

python benchmarks/slow_boosting.py make  --store DIR     evaluates what is missing (can be interrupted)
python benchmarks/slow_boosting.py table --store DIR

A slow booster has a third of the learning rate and twice the patience. Two thirds of the rows of each data set train,
in five folds; the models of the folds are averaged. The pool is the default of every algorithm that a search tries and
CatBoost's, without support vector machines, which take minutes here. A change replaces all boosters in it, or joins it.
Named on 2026-11-19, before it was run: a change is made in long searches if the held-out loss of the ensemble falls by
half a per cent and by two standard errors, on 60 % of the data sets or more.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import CLIP, loss, prepare
from line_up import evaluate

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.splits import make_plan

BOOSTERS = ("lightgbm", "xgboost", "gradient_boosting", "catboost")
OTHERS = tuple(name for name in SEARCHED if name not in (*BOOSTERS, "svm"))
JOINING = ("neural_network", "additive")
SLOW: dict[str, object] = {"learning_rate": 0.033, "early_stopping_rounds": 40}
WAYS: dict[str, dict[str, object]] = {
    "default": {},
    "slow": SLOW,
}
LARGE = (
    "house_8L",
    "elevators",
    "pol",
    "deliveries",
    "default-credit-card-clients",
    "krkopt",
    "hotel-rates",
    "gss-wages",
)
DATASETS = (*LARGE, *chosen_data.DECIDED_ON)


def make(asked: argparse.Namespace) -> None:
    """Evaluate what is missing in the store."""
    for name in asked.datasets:
        dataset, X_test, truth = prepare(name, asked.data)
        plan, place = make_plan(dataset, 5), asked.store / name
        place.mkdir(parents=True, exist_ok=True)
        np.savez(place / "truth.npz", y=dataset.y, test=truth, folds=plan.assignment, task=dataset.task)
        wanted = {f"{way}_{booster}": (booster, over) for way, over in WAYS.items() for booster in BOOSTERS}
        wanted |= {other: (other, {}) for other in (*OTHERS, *JOINING)}
        for label, (algorithm, over) in wanted.items():
            path = place / f"{label}.npz"
            if algorithm in ALGORITHMS and not path.exists():
                np.savez_compressed(path, **evaluate(dataset, X_test, plan, algorithm, over))
        print(f"{name}: done", flush=True)


def table(asked: argparse.Namespace) -> None:
    """Print by how much the held-out loss changes, of each booster and of the ensemble, and the CPU seconds."""
    rows = [
        changes(asked.store / name) for name in asked.datasets if (asked.store / name / f"{JOINING[-1]}.npz").exists()
    ]
    frame = pd.DataFrame(rows)
    print(frame.round(2).to_string())
    for label in frame.columns[2:]:
        values = frame[label].clip(-CLIP, CLIP)
        error, won, lost = values.std() / len(values) ** 0.5, int((values < 0).sum()), int((values > 0).sum())
        print(f"{label}: {values.mean():+.2f} ± {error:.2f} %, median {frame[label].median():+.2f}, {won} : {lost}")


def changes(place: Path) -> dict[str, object]:
    """Return the changes on one data set in per cent, and CPU seconds as multiples of the defaults'."""
    truth = np.load(place / "truth.npz")
    read = {path.stem: np.load(path) for path in place.glob("*.npz") if path.stem != "truth"}
    row: dict[str, object] = {"data set": place.name, "rows": len(truth["y"])}
    others = [name for name in OTHERS if name in read]
    for way in [way for way in WAYS if way != "default"]:
        for booster in BOOSTERS:
            alone, plain = ([f"{kind}_{booster}"] for kind in (way, "default"))
            row[f"{way}, {booster}"] = 100 * (_loss(read, alone, truth) / _loss(read, plain, truth) - 1)
        new, old = ([f"{kind}_{booster}" for booster in BOOSTERS] for kind in (way, "default"))
        usual = _loss(read, [*old, *others], truth) / 100
        row[f"{way}, ensemble"] = _loss(read, [*new, *others], truth) / usual - 100
        row[f"{way}, beside the defaults"] = _loss(read, [*new, *old, *others], truth) / usual - 100
        row[f"{way}, seconds as multiples"] = sum(float(read[k]["seconds"]) for k in new) / sum(
            float(read[k]["seconds"]) for k in old
        )
    for name in JOINING:
        row[f"{name} joins"] = _loss(read, [*old, *others, name], truth) / usual - 100
        row[f"{name}, seconds as multiples"] = _seconds(read, [name]) / _seconds(read, old)
    return row


def _seconds(read: dict[str, dict[str, np.ndarray]], labels: list[str]) -> float:
    return sum(float(read[label]["seconds"]) for label in labels)


def _loss(read: dict[str, dict[str, np.ndarray]], labels: list[str], truth: dict[str, np.ndarray]) -> float:
    metric = default_metric(str(truth["task"]))  # type: ignore[arg-type]
    known = np.ones(len(truth["test"]), dtype=bool) if truth["task"] == "regression" else truth["test"] >= 0
    weights = select([read[k]["own"] for k in labels], truth["y"], metric, folds=truth["folds"].astype(float))
    test = combine([read[k]["test"] for k in labels], weights)
    return loss(metric, score(test[known], truth["test"][known], metric, y=truth["y"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["make", "table"])
    parser.add_argument("--store", type=Path, required=True, help="folder of the predictions")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), metavar="NAME")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    {"make": make, "table": table}[asked.command](asked)


if __name__ == "__main__":
    main()
