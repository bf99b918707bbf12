"""A data set with its most useful columns only, for a model that may read so many and no more."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.arrays import Array
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.data.columns import Repair
from metaml.data.fingerprint import fingerprint
from metaml.ensemble.selection import score
from metaml.evaluation import default_metric
from metaml.model import fit_member
from metaml.report import feature_importance
from metaml.system.threads import importing

JUDGE = "lightgbm"
MOST_ROWS = 3000
FEWEST_TESTED = 20


def with_best_columns(dataset: Dataset, n: int, *, seed: int = 0) -> Dataset:
    """Return the data set with its `n` most useful raw columns; the others are listed as left out.

    A boosted model is fitted, and its score falls more or less as a column is shuffled on rows that it has not seen. Of
    those to leave out, the less useful half goes. Then the rest is judged anew: one of two similar columns gains when
    the other is gone.
    """
    sources = list(dict.fromkeys(feature.source for feature in dataset.schema.features))
    rng = np.random.default_rng(seed)
    kept = sources
    while len(kept) > n:
        worth = _worth(_only(dataset, kept), rng)
        n_gone = -(-(len(kept) - n) // 2)
        gone = set(sorted(kept, key=lambda name: worth[name])[:n_gone])
        kept = [name for name in kept if name not in gone]
    if kept == sources:
        return dataset
    why = f"not among the {n} most useful columns"
    repairs = tuple(Repair(name, "left out", why) for name in sources if name not in kept)
    reduced = _only(dataset, kept)
    return replace(
        reduced,
        repairs=(*dataset.repairs, *repairs),
        ignored=(*dataset.ignored, *(repair.column or "" for repair in repairs)),
        fingerprint=fingerprint(reduced.X, dataset.y, dataset.labels, dataset.target, dataset.roles),
    )


def _only(dataset: Dataset, sources: Sequence[str]) -> Dataset:
    features = tuple(feature for feature in dataset.schema.features if feature.source in sources)
    schema = replace(dataset.schema, features=features)
    return replace(dataset, X=dataset.X[list(schema.columns)], schema=schema)


def _worth(dataset: Dataset, rng: np.random.Generator) -> dict[str, float]:
    """Return how much the score falls as each raw column is shuffled."""
    rows = rng.permutation(len(dataset.y))[:MOST_ROWS]
    test = rows[: max(len(rows) // 3, min(FEWEST_TESTED, len(rows) // 2))]
    train = np.setdiff1d(rows, test)
    y = dataset.y
    labels, codes = (None, y) if dataset.labels is None else np.unique(y[train], return_inverse=True)
    part = dataset.part(train)
    part = part if labels is None else replace(part, y=codes)
    algorithm = ALGORITHMS[JUDGE]
    with importing:
        member = fit_member(part, algorithm, algorithm.space(dataset.task).default(), seed=0)
    metric = default_metric(dataset.task)
    falls = feature_importance(
        [(_predictor(member.estimators[0], dataset, labels), test)],
        dataset.X,
        y,
        lambda truth, predicted, weight=None: score(predicted, truth, metric, y=y, row_weights=weight),
        rng=rng,
        budget=Budget(None),
        n_repeats=2,
        row_weights=dataset.row_weights,
    )
    by_output = {fall.column: fall.mean for fall in falls}
    return {
        feature.source: max((by_output.get(output, 0.0) for output in feature.outputs), default=0.0)
        for feature in dataset.schema.features
    }


def _predictor(estimator: Any, dataset: Dataset, labels: Array | None) -> Any:
    def predict(rows: pd.DataFrame) -> Array:
        if labels is None or dataset.labels is None:
            return np.asarray(estimator.predict(rows), dtype=np.float64)
        chances = np.zeros((len(rows), len(dataset.labels)))
        chances[:, labels] = estimator.predict_proba(rows)
        return chances

    return predict
