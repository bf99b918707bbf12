"""Are ten folds better than five folds drawn three times? The models of all folds are averaged either way.

python benchmarks/ten_folds.py [--datasets NAME ...]

With ten folds a model sees nine tenths of the rows instead of four fifths, for about three quarters of the seconds. Two
thirds of the rows of each data set train, the others judge: the default of some algorithms, and the ensemble that is
chosen from them by their out-of-fold predictions.

Named on 2026-11-19, before the run on the twenty data sets of `benchmarks/deep_line_up.py`: repeats have ten folds if
the ensemble's loss falls by two standard errors there, or on both lists together. It did not.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data
from layers import CLIP, Array, loss, outputs, prepare

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.evaluation import default_metric
from metaml.evaluation.crossval import fold_seed
from metaml.splits import make_plan

DATASETS = (
    "oil-spill",
    "pc4",
    "maternal-health-risk",
    "vowel",
    "yeast",
    "stock",
    "insurance-charges",
    "cell-segmentation",
    "communities-crime",
    "SkillCraft1",
    "wages-psid",
    "credit-scoring",
)
LEARNERS = ("lightgbm", "xgboost", "extra_trees", "mlp", "gradient_boosting")
WAYS = {"three times five": (5, (100, 101, 102)), "ten": (10, (103,))}
"""The number of folds, and the seeds by which they are drawn."""


def predicted(
    dataset: Dataset, X_test: pd.DataFrame, algorithm: str, n_folds: int, seeds: tuple[int, ...]
) -> tuple[Array, Array]:
    """Return the out-of-fold predictions of a default and those of the held-out rows, means over all models."""
    width = () if dataset.labels is None else (len(dataset.labels),)
    own, test = np.zeros((len(dataset.y), *width)), np.zeros((len(X_test), *width))
    found = ALGORITHMS[algorithm]
    for seed in seeds:
        plan = make_plan(dataset, n_folds, seed)
        for fold in range(n_folds):
            train, tested = plan.split(fold)
            config = found.space(dataset.task).default()
            estimator: Any = found.build(config, task=dataset.task, seed=fold_seed(seed, fold))
            estimator.fit(dataset.X.iloc[train].reset_index(drop=True), dataset.y[train])
            own[tested] += outputs(dataset, estimator, dataset.X.iloc[tested].reset_index(drop=True)) / len(seeds)
            test += outputs(dataset, estimator, X_test) / (n_folds * len(seeds))
    return own, test


def compared(name: str, folder: Path) -> dict[str, float]:
    """Return by how many per cent the held-out loss is larger with ten folds: of each learner, and of the ensemble."""
    dataset, X_test, truth = prepare(name, folder)
    metric = default_metric(dataset.task)
    known: Array = np.ones(len(truth), dtype=bool) if dataset.task == "regression" else truth >= 0

    def lost(prediction: Array) -> float:
        return loss(metric, score(prediction[known], truth[known], metric, y=dataset.y))

    losses: dict[tuple[str, str], float] = {}
    for way, (n_folds, seeds) in WAYS.items():
        found = {learner: predicted(dataset, X_test, learner, n_folds, seeds) for learner in LEARNERS}
        losses |= {(learner, way): lost(test) for learner, (_, test) in found.items()}
        weights = select([own for own, _ in found.values()], dataset.y, metric)
        losses["ensemble", way] = lost(combine([test for _, test in found.values()], weights))
    return {who: 100 * (losses[who, "ten"] / losses[who, "three times five"] - 1) for who in (*LEARNERS, "ensemble")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), metavar="NAME")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = {}
    for name in asked.datasets:
        rows[name] = compared(name, asked.data)
        print(name, {who: round(value, 2) for who, value in rows[name].items()}, flush=True)
    frame = pd.DataFrame(rows).T
    clipped = frame.clip(-CLIP, CLIP)
    table = {
        "mean": clipped.mean(),
        "standard error": clipped.std() / len(frame) ** 0.5,
        "median": frame.median(),
        "better with ten": (frame < 0).sum(),
    }
    print(pd.DataFrame(table).round(2).to_string())


if __name__ == "__main__":
    main()
