"""Which columns of a table are most useful, and evaluations that read only the best of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.base import BEST_COLUMNS
from metaml.arrays import Array
from metaml.data import Dataset
from metaml.metrics import default_metric, metric
from metaml.spaces.config import Config
from metaml.system.threads import importing

JUDGE = "lightgbm"
MOST_ROWS = 3000
FEWEST_TESTED = 20
N_SHUFFLES = 2


def columns_for(config: Config, dataset: Dataset) -> pd.DataFrame:
    """Return the features that an estimator of this configuration is fitted to: all, or those of the best columns."""
    return with_columns_for(config, dataset).X


def with_columns_for(config: Config, dataset: Dataset) -> Dataset:
    """Return the data set with the columns that an estimator of this configuration is fitted to."""
    if BEST_COLUMNS not in config:
        return dataset
    n: Any = config[BEST_COLUMNS]
    return only_columns(dataset, (dataset.ranking or ranked_columns(dataset))[:n])


def with_ranking(dataset: Dataset) -> Dataset:
    """Return the data set with its ranking, so that no evaluation has to find it."""
    return replace(dataset, ranking=dataset.ranking or ranked_columns(dataset))


def ranked_columns(dataset: Dataset) -> tuple[str, ...]:
    """Return the raw columns, the most useful first; always the same for the same data set.

    The less useful half gets the last places. Then the rest is judged anew, because one of two similar columns gains
    when the other is gone.
    """
    rng = np.random.default_rng(0)
    kept, last = sources_of(dataset), list[str]()
    while len(kept) > 1:
        worth = worth_of_columns(only_columns(dataset, kept), rng)
        order = sorted(kept, key=lambda name: -worth[name])
        middle = -(-len(order) // 2)
        kept, last = order[:middle], [*order[middle:], *last]
    return (*kept, *last)


def sources_of(dataset: Dataset) -> list[str]:
    """Return the raw columns that the features are made from."""
    return list(dict.fromkeys(feature.source for feature in dataset.schema.features))


def only_columns(dataset: Dataset, sources: Sequence[str]) -> Dataset:
    """Return the data set with the features of some raw columns, under the same fingerprint."""
    schema = dataset.schema.only(sources)
    return replace(dataset, X=dataset.X[list(schema.columns)], schema=schema)


def worth_of_columns(dataset: Dataset, rng: np.random.Generator) -> dict[str, float]:
    """Return how much the score of a boosted model falls as each raw column is shuffled, on rows it has not seen."""
    rows = rng.permutation(len(dataset.y))[:MOST_ROWS]
    test = rows[: max(len(rows) // 3, min(FEWEST_TESTED, len(rows) // 2))]
    predict = _fitted(dataset, np.setdiff1d(rows, test))
    judge = metric(default_metric(dataset.task)).on(dataset.y).function
    truth, weight = dataset.y[test], dataset.weights_of(test)
    whole = dataset.X.iloc[test].reset_index(drop=True)
    before = judge(truth, predict(whole), weight)
    falls = dict.fromkeys(sources_of(dataset), 0.0)
    for _ in range(N_SHUFFLES):
        for feature in dataset.schema.features:
            shuffled, order = whole.copy(), rng.permutation(len(test))
            for output in feature.outputs:
                shuffled[output] = whole[output].take(order).set_axis(whole.index)
            fall = before - judge(truth, predict(shuffled), weight)
            falls[feature.source] += 0.0 if np.isnan(fall) else fall / N_SHUFFLES
    return falls


def _fitted(dataset: Dataset, train: Array) -> Callable[[pd.DataFrame], Array]:
    """Return what predicts values, or probabilities of all classes, after learning from some rows."""
    algorithm, y = ALGORITHMS[JUDGE], dataset.y[train]
    codes, labels = y, dataset.labels
    if labels is not None:
        present, codes = np.unique(y, return_inverse=True)
    with importing:
        estimator: Any = algorithm.unfitted(algorithm.space(dataset.task).default(), dataset, seed=0)
    X, weight = dataset.X.iloc[train].reset_index(drop=True), dataset.weights_of(train)
    estimator = estimator.fit(X, codes) if weight is None else estimator.fit(X, codes, sample_weight=weight)

    def predict(rows: pd.DataFrame) -> Array:
        if labels is None:
            return np.asarray(estimator.predict(rows), dtype=np.float64)
        chances = np.zeros((len(rows), len(labels)))
        chances[:, present] = estimator.predict_proba(rows)
        return chances

    return predict
