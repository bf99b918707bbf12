"""A test table of the user's own: read before the search, so that errors show at once, and scored after it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data import Dataset, Schema, read_frame
from metaml.data.arrow import ArrowTable, as_pandas
from metaml.data.cells import category_text, floats_of, holds_floats, numbers_of, text_of, without_extremes, words_of
from metaml.data.names import usable_names
from metaml.data.roles import groups_in
from metaml.data.target import find_column
from metaml.data.weights import effective_weights, weights_in
from metaml.errors import BadDataset
from metaml.evaluation import metric
from metaml.metrics import Metric
from metaml.metrics.base import Weight, some
from metaml.model import Model
from metaml.report import OwnTestFacts
from metaml.report.wording import counted

N_RESAMPLES, MOST_RESAMPLED = 100, 20_000
FEWEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class OwnTest:
    """The rows of a test table and their target; `n_unknown` rows have no target that the model could know.

    `weights` say how much each row counts, None if all count the same. `groups` are codes of the rows that belong
    together, None if each stands alone. `notes` are sentences about the table.
    """

    name: str
    frame: pd.DataFrame
    truth: Array
    n_unknown: int = 0
    weights: Weight = None
    groups: npt.NDArray[np.integer] | None = None
    notes: tuple[str, ...] = ()

    def facts(self, model: Model, metric_name: str, y: Array) -> OwnTestFacts:
        """Return what a model scores on the table, with the standard error; `y` is as in `all_scores`."""
        return self.all_facts(model, [metric_name], y)[0]

    def all_facts(self, model: Model, metric_names: Sequence[str], y: Array) -> list[OwnTestFacts]:
        """Return what a model scores on the table by each of these metrics, with the standard errors."""
        answer = model.answer(self.frame)
        notes = [*self.notes, *answer.notes]
        if self.n_unknown:
            notes.append(f"{counted(self.n_unknown, 'row')} left out: the model does not know the value of the target.")
        facts = []
        for name in metric_names:
            found = metric(name).on(y)
            prediction: Array = answer.predictions if answer.probabilities is None else answer.probabilities
            if found.needs == "labels" and model.labels is not None:
                places = {label: code for code, label in enumerate(model.labels.tolist())}
                prediction = np.array([places[label] for label in answer.predictions.tolist()])
            value, error = _with_error(found, self.truth, prediction, self.weights, self.groups)
            rows = len(self.truth)
            facts.append(OwnTestFacts(name=self.name, n_rows=rows, score=value, error=error, notes=tuple(notes)))
        return facts


def own_test(table: str | Path | pd.DataFrame | ArrowTable, dataset: Dataset) -> OwnTest:
    """Return a test table, checked against the data set that the model will be made for."""
    known = dataset.roles.options
    return labelled_rows(
        table, dataset.schema, dataset.labels, dataset.name, " as --test", weight=known.weight, group=known.group
    )


def rows_for(model: Model, table: str | Path | pd.DataFrame | ArrowTable, weight: str | None = None) -> OwnTest:
    """Return the labelled rows of a table that a model is scored on.

    They count by the column `weight`, or by that of the search if the table has it.
    """
    known = model.facts.get("weight")
    column = known if weight is None and isinstance(known, str) else weight
    group = model.facts.get("group")
    return labelled_rows(
        table,
        model.schema,
        model.labels,
        model.dataset,
        weight=column,
        group=group if isinstance(group, str) else None,
        needs_weight=weight is not None,
    )


def labelled_rows(
    table: str | Path | pd.DataFrame | ArrowTable,
    schema: Schema,
    labels: Array | None,
    dataset: str,
    where: str = "",
    *,
    weight: str | None = None,
    group: str | None = None,
    needs_weight: bool = False,
) -> OwnTest:
    """Return the rows of a table whose target is known, checked against the columns and labels of a data set.

    `where` ends the advice on what to give. `weight` is the column that says how much a row counts; if the table lacks
    it, all rows count the same, unless it is needed. `group` is the column that says which rows belong together.
    """
    given = as_pandas(table)
    if isinstance(given, pd.DataFrame):
        frame, name = given, "the test table"
    else:
        frame, name = read_frame(given, like=schema), Path(given).name
    names, _ = usable_names(frame.columns)
    find_column(names, schema.target, name, f"Give a table with it{where}.")
    sources = {feature.source for feature in schema.features}
    if 2 * len(sources - set(names)) > len(sources):
        raise BadDataset(f"{name} lacks most columns of {dataset}. Give a table with the same columns{where}.")
    frame = frame.set_axis(names, axis=1)
    truth = _truth(frame[schema.target], labels)
    is_known = ~np.isnan(truth)
    if needs_weight and weight is not None:
        weight = find_column(names, weight, name, "Choose another with --weight.")
    weights, notes = _weights(frame, weight)
    if weights is not None:
        frame, truth, is_known = frame[weights > 0], truth[weights > 0], is_known[weights > 0]
        weights = weights[weights > 0]
    if is_known.sum() < FEWEST_ROWS:
        n = counted(int(is_known.sum()), "row")
        raise BadDataset(f"{name} has {n} with a known {schema.target!r}. Give more{where.replace(' as ', ' with ')}.")
    rows = np.flatnonzero(is_known)
    known = truth[rows] if labels is None else truth[rows].astype(np.int64)
    return OwnTest(
        name,
        frame.iloc[rows].reset_index(drop=True),
        known,
        int((~is_known).sum()),
        None if weights is None else effective_weights(weights[rows]),
        None if group is None or group not in frame.columns else groups_in(frame[group].iloc[rows])[0],
        notes,
    )


def _weights(frame: pd.DataFrame, column: str | None) -> tuple[Weight, tuple[str, ...]]:
    """Return how much each row counts, and what is to be said about it."""
    if column is None:
        return None, ()
    if column not in frame.columns:
        return None, (f"All rows count the same, as there is no column {column!r} of weights.",)
    return weights_in(frame[column], column), ()


def _truth(column: pd.Series, labels: Array | None) -> Floats:
    """Return codes of the labels or values of a target column, NaN where there is none that was trained on."""
    if labels is None:
        if holds_floats(column):
            return without_extremes(floats_of(column))
        words = words_of(column)
        return words.take(without_extremes(numbers_of(words.words)))
    words = words_of(column)
    codes = {category_text(text_of(label)): float(code) for code, label in enumerate(labels.tolist())}
    return words.take(np.array([codes.get(category_text(word), math.nan) for word in words.words]))


def _with_error(
    found: Metric, truth: Array, prediction: Array, weight: Weight, groups: npt.NDArray[np.integer] | None
) -> tuple[float, float]:
    """Return a score and its standard error, by resampling rows (bootstrap); NaN if there are too few.

    Where rows belong together, groups are resampled: several rows of one person say little more than one.
    """
    rng = np.random.default_rng(0)
    rows = np.arange(len(truth))
    if len(rows) > MOST_RESAMPLED:
        rows = rng.choice(rows, MOST_RESAMPLED, replace=False)
    if groups is None:
        draws = (rng.choice(rows, len(rows)) for _ in range(N_RESAMPLES))
    else:
        order = rows[np.argsort(groups[rows], kind="stable")]
        units = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        drawn = (rng.integers(len(units), size=len(units)) for _ in range(N_RESAMPLES))
        draws = (np.concatenate([units[k] for k in chosen]) for chosen in drawn)
    values = np.array([found.function(truth[draw], prediction[draw], some(weight, draw)) for draw in draws])
    values = values[np.isfinite(values)]
    # A sample of the rows of groups varies as all of them do: the groups vary, not the rows within them.
    shrinks = math.sqrt(len(rows) / len(truth)) if groups is None else 1.0
    error = float(values.std(ddof=1)) * shrinks if len(values) > 1 else math.nan
    return found.function(truth, prediction, weight), error
