"""What a model knows about its own errors, and the intervals and sets of labels that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array, Floats
from metaml.ensemble.conformal import intervals, label_sets
from metaml.ensemble.layers import with_predictions
from metaml.errors import BadRequest

if TYPE_CHECKING:
    import pandas as pd

    from metaml.model.fitted import Model

LARGEST_LOG_SCALE = 2.0
"""The most that the expected error of a row may differ from the typical one, as a logarithm."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The errors of a model on rows that it had not seen, by which it says how sure it is.

    `errors` has one for each tested row (or for a sample of them), `folds` the fold that tested it. Of numbers it is
    the absolute error, divided by what `scales` expect if there are any: estimators whose mean predicts the logarithm
    of the error from the columns and the prediction. Of classes it is 1 minus the true one's probability.
    """

    errors: Floats
    folds: npt.NDArray[np.integer]
    scales: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.errors.ndim != 1 or self.folds.shape != self.errors.shape or not len(self.errors):
            raise ValueError("the errors of a model need a fold each")
        if not np.isfinite(self.errors).all() or self.errors.min() < 0 or self.folds.min() < 0:
            raise ValueError("the errors of a model are not negative")

    @property
    def n_folds(self) -> int:
        """Return how many folds tested the rows."""
        return int(self.folds.max()) + 1


def scale_of(logs: Array) -> Floats:
    """Return expected errors as a unit: those far from the typical one are brought closer."""
    return np.asarray(np.exp(np.clip(logs, -LARGEST_LOG_SCALE, LARGEST_LOG_SCALE)))


def interval_table(model: Model, X: pd.DataFrame, coverage: float) -> pd.DataFrame:
    """Return the columns `low` and `high`, or `set` for classes, for rows as features."""
    import pandas as pd

    labels = model.labels
    if labels is None:
        low, high = bounds(model, X, coverage)
        return pd.DataFrame({"low": low, "high": high})
    outputs = model.outputs(X)
    inside = sets(model, X, coverage, model.decided(outputs))
    order = np.argsort(-outputs, axis=1, kind="stable")
    found = [labels[places[flags[places]]].tolist() for places, flags in zip(order, inside, strict=True)]
    return pd.DataFrame({"set": pd.Series(found, dtype=object)})


def bounds(model: Model, X: pd.DataFrame, coverage: float) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the intervals of rows as features."""
    known = _known(model)
    centres = model.outputs(X)
    widths = np.ones_like(centres)
    if known.scales and len(X):
        from metaml.algorithms.tabular import quietly

        with quietly(n_threads=1):
            table = with_predictions(X, [centres])
            widths = scale_of(np.mean([scale.predict(table) for scale in known.scales], axis=0))
    return intervals(centres, widths, known.errors, coverage)


def sets(model: Model, X: pd.DataFrame, coverage: float, predicted: Array) -> npt.NDArray[np.bool_]:
    """Return which labels are in the set of each row as features; `predicted` are the codes of the predicted ones."""
    known = _known(model)
    return label_sets(_centres(model, X, known), known.errors, known.folds, coverage, predicted)


def _known(model: Model) -> Uncertainty:
    if model.uncertainty is None:
        why = "it is a fallback" if "fallback" in model.facts else "it was saved by an older version"
        raise BadRequest(f"The model does not know its errors: {why}. Run metaml tune again to get intervals.")
    return model.uncertainty


def _centres(model: Model, X: pd.DataFrame, known: Uncertainty) -> Floats:
    """Return folds × rows (× classes): what the model without each fold predicts, or the whole model if it has none."""
    if model.n_fold_models == known.n_folds > 1:
        return np.stack([model.outputs(X, fold) for fold in range(known.n_folds)])
    return model.outputs(X)[None]
