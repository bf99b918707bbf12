"""What a search makes as large as it can: for each objective, one number per outcome.

A search for a front has two or three objectives. Those that depend on predicted labels have another value at each
threshold between two classes: an outcome then has several operating points, one for each threshold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import pandas as pd

from metaml.arrays import Array, Flags, Floats
from metaml.data import Dataset
from metaml.ensemble.own_scores import with_own_scores
from metaml.ensemble.threshold_scores import depends_on_thresholds, threshold_score
from metaml.errors import BadRequest
from metaml.evaluation import METRICS, FoldPlan, Outcome, default_metric, metric
from metaml.metrics.base import Weight, mean_over_rows, rarer_class, some
from metaml.pareto import RESOURCES

Point = tuple[float, ...]
"""A value for each objective."""

N_THRESHOLDS = 24
DIGITS = 6
FEWEST_ROWS = 10
"""Rows of a class that a group needs for its recall to be compared with that of other groups."""
RATES = {"fnr": "false negatives", "fpr": "false positives"}
GAP = "gap:"
ALIASES = {"size": "model_bytes"}


class Objective(Protocol):
    """Something that evaluations are compared by.

    A search has a tuple of them, and the first one ranks its trials.
    """

    @property
    def name(self) -> str:
        """Return its name, which tells it from the other objectives of a search."""
        ...

    def value(self, outcome: Outcome) -> float:
        """Return what an outcome is worth: higher is better, NaN if it has no value."""
        ...


@dataclass(frozen=True, eq=False)
class MetricObjective:
    """The score of a metric: the mean over folds, after thresholds if the metric looks at labels.

    `truth` is the target of each row, `folds` the fold that tests it. `is_forward`: folds follow one another in time.
    `row_weights` say how much each row counts.
    """

    name: str
    truth: Array
    folds: Array
    is_forward: bool = False
    row_weights: Weight = None

    def value(self, outcome: Outcome) -> float:
        """Return the score of an outcome."""
        outcome = with_own_scores(outcome, self.name, self.truth, self.folds, self.row_weights)
        return threshold_score(
            outcome, self.truth, self.folds, self.name, is_forward=self.is_forward, row_weights=self.row_weights
        )


@dataclass(frozen=True)
class ResourceObjective:
    """What one model takes: seconds to fit or for one row, bytes, or columns that it reads, with the sign turned."""

    name: str

    def value(self, outcome: Outcome) -> float:
        """Return minus what the outcome's models take, as this machine would have taken it."""
        if outcome.status != "ok":
            return math.nan
        taken = {
            "fit_seconds": outcome.scale * outcome.fit_seconds / max(len(outcome.folds), 1),
            "predict_seconds": None if outcome.row_seconds is None else outcome.scale * outcome.row_seconds,
            "model_bytes": outcome.model_bytes,
            "n_columns": outcome.n_columns_read,
        }[self.name]
        return math.nan if taken is None else -float(taken)


Worth = Callable[[Array, Array], float]
"""Given the positions of rows and the label (or value) predicted for each, what that is worth."""


@dataclass(frozen=True, eq=False)
class DecisionObjective:
    """What the predicted labels, or the predicted values, of all tested rows are worth together."""

    name: str
    worth: Worth

    def value(self, outcome: Outcome) -> float:
        """Return the worth of the most probable labels."""
        if outcome.status != "ok" or outcome.predictions is None:
            return math.nan
        return self.of_predictions(np.asarray(outcome.predictions))

    def of_predictions(self, predictions: Array, threshold: float | None = None, positive: int = 1) -> float:
        """Return the worth of predictions; of two classes the `positive` one is chosen above the threshold."""
        rows = tested_rows(predictions)
        return round(self.worth(rows, decided(predictions[rows], threshold, positive)), DIGITS)


def tested_rows(predictions: Array) -> Array:
    """Return the positions of rows that were predicted."""
    return np.flatnonzero(np.isfinite(predictions.reshape(len(predictions), -1)).all(axis=1))


def decided(predictions: Array, threshold: float | None = None, positive: int = 1) -> Array:
    """Return the label of each row of probabilities; values stay as they are.

    >>> decided(np.array([[0.7, 0.3], [0.2, 0.8]]), threshold=0.25).tolist()
    [1, 1]
    """
    if predictions.ndim == 1 or predictions.shape[1] == 1:
        return predictions.ravel()
    if threshold is None:
        return np.asarray(predictions.argmax(axis=1))
    return np.where(predictions[:, positive] > threshold, positive, 1 - positive)


def objective_of(metric: str, dataset: Dataset, plan: FoldPlan) -> MetricObjective:
    """Return the score of a metric on the folds of a data set."""
    return MetricObjective(metric, dataset.y, plan.assignment, plan.is_forward, dataset.row_weights)


def objective_name(word: str) -> str:
    """Return the name of an objective as people write it.

    >>> objective_name("size"), objective_name("FNR"), objective_name("log_loss"), objective_name("gap:Sex")
    ('model_bytes', 'fnr', 'neg_log_loss', 'gap:Sex')
    """
    if word.startswith(GAP):
        return word
    name = ALIASES.get(word.lower(), word.lower())
    if name in RATES or name in RESOURCES:
        return name
    try:
        return metric(name).name
    except BadRequest:
        known = ", ".join([*RESOURCES, *RATES, f"{GAP}COLUMN", *(name.removeprefix("neg_") for name in METRICS)])
        raise BadRequest(f"No objective is named {word!r}. Choose among: {known}.") from None


def objective_names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the objectives of a front; BadRequest unless they are two or three different ones."""
    names = tuple(objective_name(word.strip()) for word in words)
    if len(names) not in (2, 3) or len(set(names)) != len(names):
        raise BadRequest(
            f"A front has two or three different objectives, not {', '.join(words) or 'none'}. Change them."
        )
    return names


def ranking_metric(wanted: str, objectives: Sequence[str], dataset: Dataset) -> str:
    """Return the metric that ranks trials: the one that is wanted; if that is `auto`, the first one to be optimised."""
    if wanted != "auto":
        return metric(wanted).name
    return next((name for name in objectives if name in METRICS), default_metric(dataset.task))


def objectives_of(metric: str, front: Sequence[str], dataset: Dataset, plan: FoldPlan) -> tuple[Objective, ...]:
    """Return the objectives of a search: the metric that ranks, and those of a front if one is searched."""
    return (objective_of(metric, dataset, plan), *front_objectives(front, dataset, plan))


def valued(outcome: Outcome, objectives: Sequence[Objective], dataset: Dataset) -> tuple[Point, tuple[Point, ...]]:
    """Return the value of each objective, and those of a front, which follow the first, at other thresholds."""
    values = tuple(objective.value(outcome) for objective in objectives)
    return values, operating_points(outcome, objectives[1:], dataset)


def front_objectives(names: Sequence[str], dataset: Dataset, plan: FoldPlan) -> tuple[Objective, ...]:
    """Return the objectives of a front; BadRequest for one that does not fit the data set.

    With an objective that depends on the threshold, metrics of labels are those at the same threshold, too.
    """
    is_of_labels = dataset.task == "binary" and any(_is_of_labels(name) for name in names)
    made = tuple(_front_objective(name, dataset, plan, is_at_threshold=is_of_labels) for name in names)
    if not is_of_labels or moves_thresholds(made, dataset):
        return made
    return tuple(_front_objective(name, dataset, plan, is_at_threshold=False) for name in names)


def _is_of_labels(name: str) -> bool:
    return name in RATES or name.startswith(GAP)


def moves_thresholds(objectives: Sequence[Objective], dataset: Dataset) -> bool:
    """Return whether each threshold between two classes makes another operating point.

    Not if errors of one kind are free: then one class for every row would be as good as the truth.
    """
    judges = [one for one in objectives if isinstance(one, DecisionObjective)]
    if dataset.task != "binary" or not judges:
        return False
    rows = np.arange(len(dataset.y))
    best = np.array([one.worth(rows, dataset.y) for one in judges])
    alike = [np.array([one.worth(rows, np.full_like(dataset.y, label)) for one in judges]) for label in (0, 1)]
    return all(bool((worth < best).any()) for worth in alike)


def _front_objective(name: str, dataset: Dataset, plan: FoldPlan, *, is_at_threshold: bool) -> Objective:
    if name in RESOURCES:
        return ResourceObjective(name)
    if name in RATES:
        if dataset.task != "binary":
            raise BadRequest(
                f"{name} needs a target of two classes; {dataset.target!r} is {dataset.task}. Leave it out."
            )
        truth = dataset.y == rarer_class(dataset.y)
        of = truth if name == "fnr" else ~truth
        return DecisionObjective(name, partial(_rate, of, dataset.y, dataset.row_weights))
    if name.startswith(GAP):
        groups = fairness_groups(name.removeprefix(GAP), dataset)
        return DecisionObjective(name, partial(_gap, groups, dataset.y, dataset.row_weights, dataset.task))
    if dataset.task not in metric(name).tasks:
        raise BadRequest(f"The objective {name} does not fit the {dataset.task} target {dataset.target!r}. Change it.")
    if is_at_threshold and depends_on_thresholds(name):
        judge = metric(name).on(dataset.y).function
        return DecisionObjective(name, lambda rows, labels: judge(dataset.y[rows], labels, dataset.weights_of(rows)))
    return objective_of(name, dataset, plan)


def _rate(of: Flags, truth: Array, weights: Weight, rows: Array, labels: Array) -> float:
    """Return minus the share of errors among the rows of one class."""
    own = of[rows]
    errors = (labels[own] != truth[rows][own]).astype(np.float64)
    return -mean_over_rows(errors, some(some(weights, rows), own)) if own.any() else math.nan


def _gap(groups: Array, truth: Array, weights: Weight, task: str, rows: Array, labels: Array) -> float:
    """Return minus the largest difference between two groups: in the recall of a class, or in the mean error.

    With two classes that is the difference in equalised odds (Hardt et al. 2016).
    """
    found = []
    wrong = np.abs(labels - truth[rows]) if task == "regression" else (labels != truth[rows]).astype(np.float64)
    for code in [None] if task == "regression" else np.unique(truth[rows]):
        own = np.ones(len(rows), dtype=np.bool_) if code is None else truth[rows] == code
        parts = [own & (groups[rows] == group) for group in np.unique(groups[rows])]
        enough = [part for part in parts if part.sum() >= FEWEST_ROWS]
        means = [mean_over_rows(wrong[part], some(some(weights, rows), part)) for part in enough]
        found.append(max(means) - min(means) if len(means) > 1 else 0.0)
    return -max(found, default=math.nan)


def fairness_groups(column: str, dataset: Dataset) -> Array:
    """Return the group of each row: the level of a column, or whether a number of many values is above the median."""
    if column not in dataset.X.columns:
        names = ", ".join(map(str, list(dataset.X.columns)[:8]))
        raise BadRequest(
            f"{GAP}{column} names no feature of {dataset.name}. Its features: {names}. Choose one of them."
        )
    values = dataset.X[column]
    if not isinstance(values.dtype, pd.CategoricalDtype) and values.nunique() > FEWEST_ROWS:
        return np.asarray(values > values.median(), dtype=np.int64)
    codes: Array = pd.factorize(values, use_na_sentinel=False)[0]
    return codes


def operating_points(outcome: Outcome, objectives: Sequence[Objective], dataset: Dataset) -> tuple[Point, ...]:
    """Return the values at each of some thresholds between two classes; none if no objective depends on it."""
    predictions = outcome.predictions
    if outcome.status != "ok" or predictions is None or not moves_thresholds(objectives, dataset):
        return ()
    positive = rarer_class(dataset.y)
    fixed = [None if isinstance(o, DecisionObjective) else o.value(outcome) for o in objectives]
    made = np.asarray(predictions, dtype=np.float64)
    thresholds = thresholds_of(made, dataset.y, positive, N_THRESHOLDS)
    points = [
        tuple(
            o.of_predictions(made, threshold, positive) if isinstance(o, DecisionObjective) else float(known or 0.0)
            for o, known in zip(objectives, fixed, strict=True)
        )
        for threshold in thresholds.tolist()
    ]
    return tuple(dict.fromkeys(points))


def thresholds_of(probabilities: Array, truth: Array, positive: int, n: int) -> Floats:
    """Return up to `n` thresholds, between equal shares of the rows of either class."""
    rows = tested_rows(probabilities)
    chances, is_positive = probabilities[rows, positive], truth[rows] == positive
    shares = (np.arange(n // 2) + 0.5) / (n // 2)
    parts = [np.quantile(chances[flags], shares) for flags in (is_positive, ~is_positive) if flags.any()]
    return np.unique(np.concatenate(parts)) if parts else np.empty(0)
