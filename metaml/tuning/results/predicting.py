"""Models from Python: `load` one that was saved, `predict` new rows with it, and `evaluate` it on labelled ones."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from metaml.data import read_frame
from metaml.data.arrow import ArrowTable, as_pandas
from metaml.errors import BadRequest
from metaml.evaluation import METRICS
from metaml.evaluation import metric as metric_of
from metaml.metrics.custom import CUSTOM
from metaml.model import Model
from metaml.model import load as load_model
from metaml.model.table import prediction_table, with_intervals
from metaml.tuning.own_test import rows_for
from metaml.tuning.results.result import TuneResult


def load(path: str | Path) -> Model:
    """Return a saved model, as `metaml tune` and `TuneResult.model.save` write it.

    `path` is the folder that `tune` wrote, or a model.zip. Nothing in the file is executed. Raises `BadModel` if there
    is no model, or if the file was changed.

    >>> import metaml
    >>> metaml.load("nowhere")
    Traceback (most recent call last):
    metaml.errors.BadModel: There is no model at nowhere. ...
    """
    return load_model(path)


def predict(
    model: str | Path | Model | TuneResult,
    data: str | Path | pd.DataFrame | ArrowTable,
    *,
    proba: bool = False,
    interval: float | None = None,
    quantiles: Sequence[float] = (),
) -> pd.DataFrame:
    """Return the column `prediction` for the rows of a table, in their order.

    `model` is a model, the result of `tune`, or where one was saved. `data` is a csv, parquet or ARFF file or a frame,
    whose index is kept. With `proba`, each class has one more column, with its probability (0 to 1). With an
    `interval`, such as 0.9, the columns `low` and `high` hold the true value with this probability; for classes, the
    column `set` has the labels that are possible. With `quantiles`, such as [0.05, 0.95], a column for each (`q0.05`)
    has the value that the truth stays below with this probability. A note, such as one on a missing column, is a
    `UserWarning`.

    Raises `BadModel` if there is no model, `BadDataset` for rows that the model cannot use, and `BadRequest` if `proba`
    is asked of a model that predicts a number.

    >>> import metaml
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> result = metaml.tune(frame, iterations=1, algorithms="decision_tree", folds=2, kb=":memory:")
    >>> metaml.predict(result, frame.head(2))
       prediction
    0           0
    1           0
    """
    loaded = model.model if isinstance(model, TuneResult) else model if isinstance(model, Model) else load(model)
    if proba and loaded.labels is None:
        raise BadRequest(f"The model predicts the number {loaded.schema.target!r}: leave proba out.")
    table = as_pandas(data)
    frame = table if isinstance(table, pd.DataFrame) else read_frame(table, like=loaded.schema)
    answer = loaded.answer(frame)
    for note in (*loaded.notes, *answer.notes):
        warnings.warn(note, UserWarning, stacklevel=2)
    table = prediction_table(loaded, answer, proba=proba)
    if interval is not None:
        table = with_intervals(table, loaded.predict_interval(frame, interval))
    if len(quantiles):
        table = with_intervals(table, loaded.predict_quantiles(frame, quantiles))
    return table.set_axis(frame.index)


def evaluate(
    model: str | Path | Model | TuneResult,
    data: str | Path | pd.DataFrame | ArrowTable,
    *,
    metric: str | None = None,
    weight: str | None = None,
) -> pd.DataFrame:
    """Return what a model scores on labelled rows: columns `metric`, `score`, `error`, `n_rows`, `cross_validated`.

    `model` is a model, the result of `tune`, or where one was saved. `data` is a csv, parquet or ARFF file or a frame
    with the target. Rows count by the column `weight`, by default the one of the search. There is a row for each metric
    of the task, that of the model first, or only one for `metric`. Scores are higher-is-better; `error` is their
    standard error. `cross_validated` is what the model's own metric was in its search, NaN for the others. Notes, such
    as one on unknown labels, are `UserWarning`s.

    Raises `BadModel` if there is no model, `BadDataset` for rows that cannot be used or have no target, and
    `BadRequest` for a metric that is not for the task.

    >>> import metaml
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> result = metaml.tune(frame, iterations=1, algorithms="decision_tree", folds=2, kb=":memory:")
    >>> metaml.evaluate(result, frame, metric="accuracy")["n_rows"].tolist()
    [150]
    """
    loaded = model.model if isinstance(model, TuneResult) else model if isinstance(model, Model) else load(model)
    rows = rows_for(loaded, data, weight)
    fitting = [name for name, found in METRICS.items() if loaded.task in found.tasks]
    if loaded.metric not in METRICS and not loaded.metric.startswith(CUSTOM):
        # Costs and quantiles are in the name; a function of the user's own is not at hand.
        fitting.append(loaded.metric)
    names = sorted(fitting, key=lambda name: name != loaded.metric) if metric is None else [metric_of(metric).name]
    if not set(names) <= set(fitting):
        raise BadRequest(f"The metric {metric} is not for a {loaded.task} target. Choose among: {', '.join(fitting)}.")
    found = rows.all_facts(loaded, names, rows.truth)
    for note in (*loaded.notes, *found[0].notes):
        warnings.warn(note, UserWarning, stacklevel=2)
    return pd.DataFrame(
        {
            "metric": names,
            "score": [facts.score for facts in found],
            "error": [facts.error for facts in found],
            "n_rows": [facts.n_rows for facts in found],
            "cross_validated": [loaded.score if name == loaded.metric else None for name in names],
        }
    ).astype({"cross_validated": "float64"})
