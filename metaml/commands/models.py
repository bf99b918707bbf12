"""`metaml.explain` and `check`: a saved model and new rows."""

from pathlib import Path
from typing import Any

import pandas as pd

from metaml.commands.places import Data
from metaml.data import read_frame
from metaml.data.arrow import as_pandas
from metaml.model import Model
from metaml.model import load as load_model
from metaml.model.checking import Check


def explain(
    model: str | Path | Model,
    data: Data,
    *,
    label: Any = None,
    samples: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what each column adds to each prediction: `output` = `base` + the sum of `contribution of COLUMN`.

    `model` is a model or where one was saved, `data` a csv, parquet or ARFF file or a frame. The output is the
    predicted number, or the probability of the predicted class; with `label`, of that class in every row. Members that
    are not boosted trees are explained by so many pairs of `samples`, drawn by `seed`. `Model.explain` has all classes
    at once.

    Raises `BadModel` if there is no model, and `BadRequest` for a class that does not exist.

    >>> explain("nowhere", "new.csv")
    Traceback (most recent call last):
    metaml.errors.BadModel: There is no model at nowhere. ...
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    found = loaded.explain(_rows_for(loaded, data), samples=samples, seed=seed)
    return found.table(label)


def check(model: str | Path | Model, data: Data, *, limit: float = 0.6) -> Check:
    """Return whether new rows are like those that a model was trained on, and what differs.

    `model` is a model or where one was saved, `data` a csv, parquet or ARFF file or a frame, with or without the
    target. `limit` is the area under the curve, 0.5 to 1, by which a classifier may tell them apart. In the answer,
    `differs` says whether they differ, `reasons` why in sentences, and `table()` has a row for each column.

    Raises `BadModel` if there is no model, and `BadDataset` for too few rows.

    >>> check("nowhere", "new.csv")
    Traceback (most recent call last):
    metaml.errors.BadModel: There is no model at nowhere. ...
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    return loaded.check(_rows_for(loaded, data), limit=limit)


def _rows_for(model: Model, data: Data) -> pd.DataFrame:
    table = as_pandas(data)
    return table if isinstance(table, pd.DataFrame) else read_frame(table, like=model.schema)
