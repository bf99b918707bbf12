"""Exact contributions of boosted trees: Shapley values as the library computes them (Lundberg et al. 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.explanation.contributions import Contributions

if TYPE_CHECKING:
    from metaml.algorithms.categories import Columns


def is_exact(estimator: Any) -> bool:
    """Return whether the model inside an estimator can say what each column adds."""
    model = getattr(estimator, "model_", None)
    return model is None or hasattr(model, "contributions")


def exact_contributions(
    estimator: Any, X: Columns, groups: Positions, names: list[str], n_labels: int
) -> Contributions:
    """Return the contributions of groups of columns to what a fitted estimator predicts.

    `groups` is the group of each of the columns `names`; `n_labels` is 0 for a regression. The contributions to margins
    become those to probabilities in the same proportions.
    """
    n_groups = int(groups.max()) + 1 if len(groups) else 0
    if n_labels == 0:
        return _of_values(estimator, X, groups, names, n_groups)
    output = np.zeros((len(X), n_labels))
    output[:, estimator.classes_] = estimator.predict_proba(X)
    if getattr(estimator, "model_", None) is None or len(estimator.classes_) == 1:
        return Contributions(output[0] if len(output) else np.zeros(n_labels), np.zeros((len(X), n_groups, n_labels)))
    margins = _grouped(estimator, X, groups, names, n_groups)
    if margins.values.shape[2] == 1:
        chance = 1 / (1 + np.exp(-margins.base))
        base = np.concatenate([1 - chance, chance])
        margins = Contributions(np.repeat(margins.base, 2), np.concatenate([-margins.values, margins.values], axis=2))
        own = margins.reaching(base, estimator.predict_proba(X))
    else:
        own = _through_softmax(margins, estimator.predict_proba(X))
    whole = Contributions(np.zeros(n_labels), np.zeros((len(X), n_groups, n_labels)))
    whole.base[estimator.classes_], whole.values[:, :, estimator.classes_] = own.base, own.values
    return whole


def _of_values(estimator: Any, X: Columns, groups: Positions, names: list[str], n_groups: int) -> Contributions:
    predicted = np.asarray(estimator.predict(X), dtype=np.float64)[:, None]
    if getattr(estimator, "model_", None) is None or not estimator.std_ > 0:
        return Contributions(np.array([estimator.mean_]), np.zeros((len(X), n_groups, 1)))
    raw = _grouped(estimator, X, groups, names, n_groups)
    base = raw.base * estimator.std_ + estimator.mean_
    # Predictions are cut to the range of the target, so that the sum must be brought there, too.
    return Contributions(base, raw.values * estimator.std_).reaching(base, predicted)


def _grouped(estimator: Any, X: Columns, groups: Positions, names: list[str], n_groups: int) -> Contributions:
    """Return contributions to the margin, summed over the columns of the matrix that each group became."""
    parts = estimator.model_.contributions(estimator.head_.transform(X))
    place = dict(zip(names, groups, strict=True))
    made_from = np.array([place[name] for name in estimator.head_.sources()], dtype=np.int64)
    values = np.zeros((len(X), n_groups, parts.shape[2]))
    for column, group in enumerate(made_from):
        values[:, group] += parts[:, column]
    base = parts[:, -1].mean(axis=0) if len(X) else np.zeros(parts.shape[2])
    return Contributions(base, values)


def _through_softmax(margins: Contributions, chances: Floats) -> Contributions:
    """Return contributions to probabilities: margins times the slope of the softmax, averaged on the way to them.

    Integrated gradients (Sundararajan et al. 2017) of the softmax from the base to the prediction.
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    steps = margins.values.sum(axis=1)
    values = np.zeros_like(margins.values)
    for at, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        here = _softmax(margins.base + at * steps)
        mean = np.einsum("rc,rgc->rg", here, margins.values)
        values += weight * here[:, None] * (margins.values - mean[:, :, None])
    found = Contributions(_softmax(margins.base[None])[0], values)
    return found.reaching(found.base, chances)


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
