"""A sample of the training rows inside a model: what explanations start from and what new rows are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array, Floats

if TYPE_CHECKING:
    import pandas as pd

    from metaml.data import Dataset, Schema

MOST_ROWS, MOST_CELLS = 1000, 300_000
"""So many rows are enough to notice a difference; wide tables keep fewer."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Training rows: features as numbers (a category is its place among the levels, -1 if missing) and the target.

    `outputs` are what the model said of these rows when it had not seen them, rows × outputs; NaN where it did not.
    """

    features: Floats
    target: Array
    outputs: Floats

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.outputs.ndim != 2 or self.target.ndim != 1:
            raise ValueError("a sample of rows has the wrong shape")
        if not len(self.features) == len(self.target) == len(self.outputs) > 0:
            raise ValueError("a sample of rows needs a target and an output each")

    def frame(self, schema: Schema) -> pd.DataFrame:
        """Return the rows as features of a schema."""
        import pandas as pd

        levels = {feature.outputs[0]: feature.categories for feature in schema.features if feature.how == "category"}
        columns: dict[str, object] = {}
        for name, values in zip(schema.columns, self.features.T, strict=True):
            if name in levels:
                dtype = pd.CategoricalDtype(pd.Index(levels[name], dtype=str))
                columns[name] = pd.Categorical.from_codes(values.astype(np.int64).tolist(), dtype=dtype)
            else:
                columns[name] = values
        return pd.DataFrame(columns)


def sample_of(dataset: Dataset, outputs: Array | None, rng: np.random.Generator) -> Sample:
    """Return some rows of a data set, drawn at random, with what the model said of them out of fold."""
    import pandas as pd

    n_rows, n_columns = dataset.X.shape
    most = max(min(MOST_ROWS, MOST_CELLS // max(n_columns, 1)), 20)
    rows = np.sort(rng.choice(n_rows, most, replace=False)) if n_rows > most else np.arange(n_rows)
    taken = dataset.X.iloc[rows]
    features = np.empty((len(rows), n_columns))
    for place, name in enumerate(taken.columns):
        column = taken[name]
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        features[:, place] = column.cat.codes if is_category else column
    n_outputs = 1 if dataset.labels is None else len(dataset.labels)
    said = np.full((len(rows), n_outputs), np.nan) if outputs is None else np.asarray(outputs, dtype=np.float64)[rows]
    return Sample(features, np.asarray(dataset.y)[rows], said.reshape(len(rows), n_outputs))
