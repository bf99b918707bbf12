"""The second layer of an ensemble: its members learn from the columns and from what the first layer predicts.

Stacking (Wolpert 1992) that keeps the columns, as in Erickson et al. (2020), "AutoGluon-Tabular". A row's prediction by
the first layer comes from models that were fitted without its fold, as they see new rows later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array

if TYPE_CHECKING:
    import pandas as pd

    from metaml.data import Dataset

NAME = "prediction {member}.{column} of layer 1"


def n_columns_of(n_classes: int) -> int:
    """Return how many columns the predictions of one member become; `n_classes` is 0 for regression.

    >>> n_columns_of(0), n_columns_of(2), n_columns_of(5)
    (1, 1, 5)
    """
    return n_classes if n_classes > 2 else 1


def with_predictions(X: pd.DataFrame, predictions: Sequence[Array]) -> pd.DataFrame:
    """Return a table with further columns: what each member of the first layer predicts, in their order.

    A prediction has a value per row, or a probability per row and class; of two classes the second is enough.

    >>> import pandas as pd
    >>> with_predictions(pd.DataFrame({"a": [1.0, 2.0]}), [np.array([[0.25, 0.75], [0.5, 0.5]])]).iloc[0].tolist()
    [1.0, 0.75]
    """
    import pandas as pd

    columns: dict[str, Array] = {}
    for member, prediction in enumerate(predictions):
        parts = np.asarray(prediction, dtype=np.float64).reshape(len(X), -1)
        parts = parts[:, 1:] if parts.shape[1] == 2 else parts
        for column, values in enumerate(parts.T):
            name = NAME.format(member=member, column=column)
            while name in X.columns:
                name += "'"
            columns[name] = values
    return pd.concat([X, pd.DataFrame(columns, index=X.index)], axis=1)


def second_layer_data(dataset: Dataset, predictions: Sequence[Array]) -> Dataset:
    """Return the data set that the second layer learns from; its fingerprint depends on the predictions."""
    digest = blake2b(dataset.fingerprint.encode(), digest_size=16)
    for prediction in predictions:
        digest.update(np.ascontiguousarray(prediction, dtype="<f8").tobytes())
    return replace(dataset, X=with_predictions(dataset.X, predictions), fingerprint=digest.hexdigest())
