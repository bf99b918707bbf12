"""Is the neural network better than the perceptron of scikit-learn, for the same processor time?

python benchmarks/networks.py seconds                CPU seconds of a fit on tables of many sizes
python benchmarks/networks.py losses [NAME ...]      held-out loss on the data sets that its defaults were chosen on

Each fit of one is followed by that of the other. With losses, two thirds of the rows train, and a random tenth of these
is left out in each repeat.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import loss, outputs, prepare

from metaml.algorithms import ALGORITHMS
from metaml.ensemble.selection import score
from metaml.evaluation import default_metric

NAMES = ("mlp", "neural_network")
TUNED_ON = (
    "wine-quality-red",
    "rotterdam-recur",
    "mfeat-fourier",
    "catsup-choice",
    "sylvine",
    "wind",
    "health-insurance",
    "deliveries",
)
"""Neither held out nor used for decisions about the line-up."""
ROWS, COLUMNS = (500, 2000, 8000, 30000), (10, 50)


def seconds(asked: argparse.Namespace) -> None:  # noqa: ARG001
    """Print CPU seconds and accuracy on a noisy problem of two classes."""
    for n_rows in ROWS:
        for n_columns in COLUMNS:
            rng = np.random.default_rng(0)
            X = pd.DataFrame(rng.normal(size=(n_rows + 2000, n_columns))).add_prefix("x")
            Z = X.to_numpy()
            y = (Z[:, 0] * Z[:, 1] + np.sin(2 * Z[:, 2]) + Z[:, 3:].mean(axis=1) + rng.normal(size=len(Z)) > 0) * 1
            found = []
            for name in NAMES:
                estimator, begun = _estimator(name, "binary", 0), time.process_time()
                estimator.fit(X[:n_rows], y[:n_rows])
                taken = time.process_time() - begun
                found.append(f"{name} {taken:.2f} s, accuracy {estimator.score(X[n_rows:], y[n_rows:]):.3f}")
            print(f"{n_rows} x {n_columns}: {'; '.join(found)}", flush=True)


def losses(asked: argparse.Namespace) -> None:
    """Print the loss of the network relative to that of the perceptron, and its relative CPU seconds."""
    changes = []
    for data in asked.datasets:
        dataset, X_test, truth = prepare(data, asked.data)
        metric, known = default_metric(dataset.task), np.ones(len(truth), dtype=bool)
        if dataset.labels is not None:
            known = truth >= 0
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
        for seed in range(asked.repeats):
            rows = np.flatnonzero(np.random.default_rng(seed).random(len(dataset.y)) > 0.1)
            X, y = dataset.X.iloc[rows].reset_index(drop=True), dataset.y[rows]
            for name in NAMES:
                estimator, begun = _estimator(name, dataset.task, seed), time.process_time()
                estimator.fit(X, y)
                taken = time.process_time() - begun
                test = outputs(dataset, estimator, X_test)
                found[name].append((loss(metric, score(test[known], truth[known], metric, y=dataset.y)), taken))
        old, new = (np.mean(found[name], axis=0) for name in NAMES)
        changes.append(100 * (new / old - 1))
        print(f"{data}: loss {changes[-1][0]:+.1f} %, seconds {changes[-1][1]:+.0f} %", flush=True)
    values = np.array(changes)[:, 0]
    print(
        f"loss {values.mean():+.1f} ± {values.std(ddof=1) / len(values) ** 0.5:.1f} %, median {np.median(values):+.1f}"
    )


def _estimator(name: str, task: Any, seed: int) -> Any:
    found = ALGORITHMS[name]
    return found.build(found.space(task).default(), task=task, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["seconds", "losses"])
    parser.add_argument("datasets", nargs="*", default=list(TUNED_ON), metavar="NAME")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--repeats", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    {"seconds": seconds, "losses": losses}[asked.command](asked)


if __name__ == "__main__":
    main()
