"""Explanations of a whole model: what each column of a table adds to each prediction of the ensemble.

Boosted trees of layer 1 say it exactly; all other members together are explained by sampling, the second layer with
what it reads from the first. Both parts are sums that lead to what the members predict, so their weighted sum leads to
the prediction of the ensemble. A calibration stretches it in the same proportions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array, Floats, Positions
from metaml.ensemble.combination import combine_each
from metaml.errors import BadRequest
from metaml.explanation.contributions import Contributions, weighted_sum
from metaml.explanation.sampling import Predict, sampled_contributions
from metaml.explanation.trees import exact_contributions, is_exact

if TYPE_CHECKING:
    import pandas as pd

    from metaml.model.fitted import Model

N_WALKS = 5
"""Pairs of walks in all: one for each model of five folds."""
PREFIX = "contribution of "


@dataclass(frozen=True, eq=False)
class Explanation:
    """What each column adds to the predictions of some rows.

    For row i and output k, `base[k]` + the sum of `contributions[i, :, k]` is `outputs[i, k]`. The one output of a
    regression is the value; with classes, there is one for the probability of each of the `labels`. `columns` are raw
    columns of the table; `predicted` is the output that stands for each prediction: the predicted class, or 0.
    """

    columns: tuple[str, ...]
    base: Floats
    contributions: Floats
    outputs: Floats
    predicted: Positions
    labels: Array | None = None

    def table(self, label: object = None) -> pd.DataFrame:
        """Return a row for each row: the prediction, the explained output, its base, and what each column adds.

        With classes the explained output is the probability of the predicted one, or of `label` in every row.
        """
        import pandas as pd

        place = self.predicted
        if label is not None:
            place = np.full(len(self.outputs), self._place_of(label))
        rows = np.arange(len(self.outputs))
        known: dict[str, object] = {}
        if self.labels is not None:
            known = {"prediction": self.labels[self.predicted], "class": self.labels[place]}
        known |= {"output": self.outputs[rows, place], "base": self.base[place]}
        own = self.contributions[rows, :, place]
        parts = pd.DataFrame(own, columns=[PREFIX + name for name in self.columns])
        return pd.concat([pd.DataFrame(known), parts], axis=1)

    def importance(self) -> pd.DataFrame:
        """Return the columns by the mean size of what they add to the prediction, largest first."""
        import pandas as pd

        own = self.contributions[np.arange(len(self.outputs)), :, self.predicted]
        found = pd.DataFrame({"column": self.columns, "mean size": np.abs(own).mean(axis=0)})
        return found.sort_values("mean size", ascending=False, kind="stable", ignore_index=True)

    def _place_of(self, label: object) -> int:
        names = [] if self.labels is None else [str(one) for one in self.labels.tolist()]
        if str(label) not in names:
            some = (
                f"The classes are: {', '.join(names[:8])}." if names else "The model predicts a number: give no class."
            )
            raise BadRequest(f"There is no class {str(label)!r} to explain. {some}")
        return names.index(str(label))


def explain(model: Model, X: pd.DataFrame, *, n_walks: int, seed: int) -> Explanation:
    """Return what each raw column adds to the predictions of rows as features."""
    if n_walks < 1:
        raise BadRequest(f"{n_walks} samples explain nothing. Give at least 1.")
    columns, groups = _groups(model)
    outputs = model.outputs(X)
    wide = outputs if outputs.ndim == 2 else outputs[:, None]
    parts: list[tuple[Contributions, float]] = []
    whole = sum(member.weight for member in model.members)
    exact = [place for place, member in enumerate(model.members) if _is_exact(model, place) and member.weight]
    if len(X):
        parts += [(_exact(model, place, X, groups), model.members[place].weight / whole) for place in exact]
    sampled = [0.0 if place in exact else member.weight / whole for place, member in enumerate(model.members)]
    if len(X) and sum(sampled) > 0:
        parts.append((_sampled(model, sampled, X, groups, n_walks, np.random.default_rng(seed)), 1.0))
    if not parts:
        empty = np.zeros((len(X), len(columns), wide.shape[1]))
        return Explanation(
            columns, np.zeros(wide.shape[1]), empty, wide, np.zeros(len(X), dtype=np.int64), model.labels
        )
    found = weighted_sum(parts)
    base = found.base
    if model.calibration is not None:
        base = model.calibration(base[None] / base.sum())[0]
    found = found.reaching(base, wide)
    predicted = np.zeros(len(X), dtype=np.int64) if model.labels is None else model.decided(outputs)
    return Explanation(columns, found.base, found.values, wide, predicted, model.labels)


def _is_exact(model: Model, place: int) -> bool:
    member = model.members[place]
    return member.layer == 1 and all(is_exact(estimator) for estimator in member.estimators)


def _groups(model: Model) -> tuple[tuple[str, ...], Positions]:
    """Return the raw columns, and for each feature which of them it is made from."""
    groups = [place for place, feature in enumerate(model.schema.features) for _ in feature.outputs]
    return tuple(feature.source for feature in model.schema.features), np.array(groups, dtype=np.int64)


def _exact(model: Model, place: int, X: pd.DataFrame, groups: Positions) -> Contributions:
    from metaml.algorithms.categories import Columns
    from metaml.algorithms.tabular import quietly

    estimators = model.members[place].estimators
    n_labels = 0 if model.schema.labels is None else len(model.schema.labels)
    columns, names = Columns(X), list(model.schema.columns)
    with quietly(n_threads=1):
        return weighted_sum(
            (exact_contributions(estimator, columns, groups, names, n_labels), 1 / len(estimators))
            for estimator in estimators
        )


def _sampled(
    model: Model, weights: list[float], X: pd.DataFrame, groups: Positions, n_walks: int, rng: np.random.Generator
) -> Contributions:
    """Return the contributions to what members add to the prediction by these weights, which need not sum to 1."""
    if model.sample is None:
        raise BadRequest(
            "The model has members that can only be explained by comparison with training rows, and it was saved "
            "without any. Run metaml tune again, without --no-sample."
        )
    # A second layer reads the mean of all folds, so that its folds cannot be asked one by one.
    n_folds = model.n_fold_models if model.n_layers == 1 else 0
    folds: list[int | None] = list(range(n_folds)) if n_folds else [None]
    functions: list[Predict] = [partial(_weighted, model, weights, fold) for fold in folds]
    n_each = max(1, n_walks // len(functions))
    return sampled_contributions(functions, X, model.sample.frame(model.schema), groups, n_walks=n_each, rng=rng)


def _weighted(model: Model, weights: list[float], fold: int | None, X: pd.DataFrame) -> Floats:
    from metaml.algorithms.tabular import quietly

    with quietly(n_threads=1):
        output = combine_each(model.weighted_outputs(X, fold, weights)) * sum(weights)
    return output if output.ndim == 2 else output[:, None]
