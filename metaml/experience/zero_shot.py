"""A learner of a library with the settings that experience recommends for a data set, without trying any."""

import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS, check_known
from metaml.data import Dataset, from_frame
from metaml.data.arrow import as_pandas
from metaml.data.names import free_name
from metaml.errors import BadRequest
from metaml.experience.recommended import recommended
from metaml.experience.suggest import request_for
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase

OTHER_PIPELINES = {"booster": ("dart", "gblinear")}
"""Settings whose learner needs other columns, or another number of rounds, than a plain estimator gets."""


def zero_shot(
    algorithm: str,
    X: Any,
    y: Any,
    *,
    task: str | None = None,
    metric: str = "auto",
    random_state: int = 0,
    exclude_datasets: str | Iterable[str] = (),
    kb: str | Path | KnowledgeBase | None = None,
) -> Any:
    """Return an unfitted estimator of a library, with the settings that experience recommends for this data.

    Nothing is trained: past data sets that are like this one choose the settings, in less than two seconds. The
    estimator is LightGBM's, XGBoost's or scikit-learn's own and needs no metaml. How columns are encoded is up to you.

    - `algorithm`: a name such as "lightgbm", "xgboost" or "random_forest".
    - `X`, `y`: the rows as a frame or an array, and their labels or numbers.
    - `task`: binary, multiclass or regression, by default found out.
    - `metric`: what should be good; "auto" is ROC AUC, log loss or RMSE.
    - `random_state`: of the estimator, if it takes one.
    - `exclude_datasets`: names or fingerprints of data sets whose experience is ignored, with their near-duplicates.
    - `kb`: the knowledge base to ask, by default METAML_KB, else the user's own. If it knows nothing, the settings are
      our defaults, with a `UserWarning`.

    Raises `BadRequest` for an algorithm that does not exist, or that no library has as one estimator, and `BadDataset`
    for data that cannot be used.

    >>> from sklearn.datasets import load_iris
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     estimator = zero_shot("random_forest", *load_iris(return_X_y=True), kb=":memory:")
    >>> type(estimator).__name__, estimator.random_state
    ('RandomForestClassifier', 0)
    """
    check_known([algorithm])
    plain = ALGORITHMS[algorithm].plain
    if plain is None:
        known = ", ".join(name for name, item in ALGORITHMS.items() if item.plain is not None)
        raise BadRequest(f"No library has {algorithm} as one plain estimator. Choose among: {known}.")
    dataset = _dataset_of(X, y, task)
    request = request_for(dataset, metric=metric, algorithms=[algorithm])
    found, who = recommended(kb, dataset, request, 1, exclude_datasets=exclude_datasets, is_wanted=_is_plain)
    if not found:
        told = f"{who} knows too little about {algorithm}: these are default settings. Make experience with metaml bot."
        warnings.warn(told, UserWarning, stacklevel=2)
    config = found[0] if found else ALGORITHMS[algorithm].space(dataset.task).default()
    learner = plain(config, dataset.task, dataset.X.shape[1])
    if dataset.labels is None:
        learner = learner.for_target(float(np.std(dataset.y)))
    estimator = getattr(import_module(learner.module), learner.kind)(**learner.settings)
    return estimator.set_params(random_state=random_state) if "random_state" in estimator.get_params() else estimator


def _is_plain(config: Config) -> bool:
    return not any(config.get(name) in values for name, values in OTHER_PIPELINES.items())


def _dataset_of(X: Any, y: Any, task: str | None) -> Dataset:
    X = as_pandas(X)
    frame = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).add_prefix("x")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    target = free_name("target", set(frame.columns))
    values = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y)
    if values.ndim != 1 or len(values) != len(frame):
        raise BadRequest(f"y has the shape {values.shape}, X has {len(frame)} rows. Give one target for each row.")
    return from_frame(frame.assign(**{target: values}), target, task)
