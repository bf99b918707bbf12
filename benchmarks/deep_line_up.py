"""What does an ensemble of two layers gain from more kinds of learners?

python benchmarks/deep_line_up.py make  --store DIR     evaluates what is missing (can be interrupted)
python benchmarks/deep_line_up.py table --store DIR

`benchmarks/line_up.py` asks the same of one layer. Here the first layer is the default of every algorithm that a search
tries, CatBoost among them, without or with the `JOINING` ones. The second layer stacks both. The table compares the
ensembles that are chosen from both layers, by their loss on the held-out third. Named on 2026-11-19, before it was
run: what joins is tried by searches of two minutes and more if the loss falls by two standard errors and on 60 % of the
data sets.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import CLIP, STACKERS, Array, loss, prepare
from line_up import evaluate

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.data import Dataset
from metaml.ensemble.combination import combine
from metaml.ensemble.layers import with_predictions
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.splits import make_plan

DATASETS = (
    "tokyo1",
    "fishing-mode",
    "qsar-fish-toxicity",
    "pc3",
    "analcatdata_halloffame",
    "sacramento",
    "loan-approval-ma",
    "volcanoes-a4",
    "colleges_usnews",
    "rotterdam-recur",
    "mfeat-zernike",
    "wine-quality-red",
    "wells-switch",
    "cjs",
    "wage",
    "stroke",
    "cracker-choice",
    "wind",
    "sylvine",
    "health-insurance",
)
"""Drawn from those that no other decision was made on; tasks in turns, so that a part of them can be read, too."""
JOINING: dict[str, tuple[str, dict[str, object]]] = {
    "neural_network": ("neural_network", {}),
    "additive": ("additive", {}),
    "extra_trees_boosting": ("lightgbm", {"extra_trees": True, "learning_rate": 0.05}),
}
FURTHER_STACKERS = ("neural_network",)
WAYS: dict[str, tuple[str, ...]] = {"with neural_network": ("neural_network",), "with all three": tuple(JOINING)}


def make(asked: argparse.Namespace) -> None:
    """Evaluate what is missing in the store."""
    for name in asked.datasets:
        dataset, X_test, truth = prepare(name, asked.data)
        plan, place, begun = make_plan(dataset, 5), asked.store / name, time.process_time()
        place.mkdir(parents=True, exist_ok=True)
        np.savez(place / "truth.npz", y=dataset.y, test=truth, folds=plan.assignment, task=dataset.task)
        first = {name: (name, {}) for name in SEARCHED} | JOINING
        fill(place, "first", first, dataset, X_test, plan)
        for way, joining in {"without": (), **WAYS}.items():
            base = stored(place, "first", (*SEARCHED, *joining))
            X = with_predictions(dataset.X, [own for own, _ in base.values()])
            stacked = with_predictions(X_test, [test for _, test in base.values()])
            names = (*STACKERS, *(name for name in FURTHER_STACKERS if name in joining))
            fill(place, way, {name: (name, {}) for name in names}, _with(dataset, X), stacked, plan)
        print(f"{name}: {time.process_time() - begun:.0f} CPU seconds", flush=True)


def _with(dataset: Dataset, X: pd.DataFrame) -> Dataset:
    from dataclasses import replace

    return replace(dataset, X=X)


def fill(
    place: Path,
    tag: str,
    wanted: dict[str, tuple[str, dict[str, object]]],
    dataset: Dataset,
    X_test: pd.DataFrame,
    plan: Array,
) -> None:
    """Store what the configurations of a layer predict, as far as it is missing."""
    for label, (algorithm, over) in wanted.items():
        path = place / f"{tag}_{label}.npz"
        if algorithm in ALGORITHMS and not path.exists():
            np.savez_compressed(path, **evaluate(dataset, X_test, plan, algorithm, over))


def stored(place: Path, tag: str, labels: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
    """Return what the store has of a layer: the predictions out of fold and of the held-out rows."""
    found = {
        label: np.load(place / f"{tag}_{label}.npz") for label in labels if (place / f"{tag}_{label}.npz").exists()
    }
    return {label: (item["own"], item["test"]) for label, item in found.items()}


def table(asked: argparse.Namespace) -> None:
    """Print by how much the held-out loss changes with more kinds of learners, in one layer and in two."""
    rows = []
    for name in asked.datasets:
        place = asked.store / name
        if not (place / f"{list(WAYS)[-1]}_{FURTHER_STACKERS[-1]}.npz").exists():
            continue
        truth = np.load(place / "truth.npz")
        row: dict[str, object] = {"data set": name, "rows": len(truth["y"])}
        for n_layers in (1, 2):
            plain = _held_out_loss(_pool(place, "without", (), n_layers), truth)
            if n_layers == 2:
                row["two layers for one"] = 100 * (plain / _held_out_loss(_pool(place, "without", (), 1), truth) - 1)
            for way, joining in WAYS.items():
                joined = _held_out_loss(_pool(place, way, joining, n_layers), truth)
                row[f"{way}, layers {n_layers}"] = 100 * (joined / plain - 1)
        rows.append(row)
    frame = pd.DataFrame(rows).set_index("data set")
    print(frame.round(2).to_string())
    for label in frame.columns[1:]:
        values = frame[label].clip(-CLIP, CLIP)
        error, won, lost = values.std() / len(values) ** 0.5, int((values < 0).sum()), int((values > 0).sum())
        print(f"{label}: {values.mean():+.2f} ± {error:.2f} %, median {frame[label].median():+.2f}, {won} : {lost}")


def _pool(place: Path, way: str, joining: tuple[str, ...], n_layers: int) -> list[tuple[Array, Array]]:
    first = stored(place, "first", (*SEARCHED, *joining))
    second = stored(place, way, (*STACKERS, *FURTHER_STACKERS)) if n_layers == 2 else {}
    return [*first.values(), *second.values()]


def _held_out_loss(pool: list[tuple[Array, Array]], truth: Array) -> float:
    metric, folds = default_metric(str(truth["task"])), truth["folds"].astype(float)  # type: ignore[arg-type]
    known: Array = np.ones(len(truth["test"]), dtype=bool) if truth["task"] == "regression" else truth["test"] >= 0
    weights = select([own for own, _ in pool], truth["y"], metric, folds=folds)
    test = combine([test for _, test in pool], weights)
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
