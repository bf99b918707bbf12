"""What the final model of a search loses on rows that it was not chosen on, from kept predictions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from metaml.arrays import Array, Floats
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import select
from metaml.errors import BadRequest
from metaml.laboratory.ensembles.kept_runs import UNUSED, KeptRuns
from metaml.system.threads import importing

Rule = Callable[[Array, Array, Array, KeptRuns], Floats]
"""Predictions of the rows to choose by, their truth and folds: returns the weight of each candidate."""
STRENGTH = 1.0
"""Inverse regularisation of the second layer, which sees standardised predictions."""


def _selected(predictions: Array, truth: Array, folds: Array, kept: KeptRuns) -> Floats:
    return select(list(predictions), truth, kept.metric, folds=folds)


def _best(predictions: Array, truth: Array, folds: Array, kept: KeptRuns) -> Floats:
    return select(list(predictions), truth, kept.metric, folds=folds, n_rounds=1)


def _mean(predictions: Array, truth: Array, folds: Array, kept: KeptRuns) -> Floats:  # noqa: ARG001
    return np.full(len(predictions), 1 / len(predictions))


RULES: Mapping[str, Rule] = {"selected": _selected, "best": _best, "mean": _mean}
"""How the members of the final model are weighted: chosen greedily as a search does, the best alone, or all alike."""


def selection_rule(name: str) -> Rule:
    """Return a selection rule; BadRequest if there is none of this name."""
    if name not in RULES:
        raise BadRequest(f"There is no selection rule {name!r}. Choose among: {', '.join(RULES)}.")
    return RULES[name]


def held_out_loss(kept: KeptRuns, places: Sequence[int], *, rule: str = "selected", n_layers: int = 1) -> float:
    """Return the log loss ratio of the model that these evaluations end in, on rows that did not choose it.

    Those are the rows that no fold used. Without any, each fold in turn is what the others' choice is judged by; the
    losses are averaged. With two layers, a linear model of the predictions is one more candidate.
    """
    chosen = kept.predictions[list(places)]
    losses = [
        kept.loss(_final(kept, chosen, fit, test, selection_rule(rule), n_layers), test)
        for fit, test in _parts(kept.folds)
    ]
    return float(np.mean(losses))


def _parts(folds: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the rows to choose by and those to judge on."""
    if (folds == UNUSED).any():
        yield np.flatnonzero(folds != UNUSED), np.flatnonzero(folds == UNUSED)
        return
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _final(kept: KeptRuns, chosen: Array, fit: Array, test: Array, rule: Rule, n_layers: int) -> Array:
    own, new, truth, folds = chosen[:, fit], chosen[:, test], kept.truth[fit], kept.folds[fit]
    if n_layers > 1 and len(chosen) > 1:
        out_of_fold, answer = _second_layer(own, new, truth, folds, kept)
        own, new = np.concatenate([own, out_of_fold[None]]), np.concatenate([new, answer[None]])
    return combine(new, rule(own, truth, folds, kept))


def _second_layer(own: Array, new: Array, truth: Array, folds: Array, kept: KeptRuns) -> tuple[Array, Array]:
    """Return the out-of-fold predictions of a linear model of the first layer, and what it says of new rows."""
    X, X_new = _columns(own), _columns(new)
    out_of_fold = np.zeros_like(own[0])
    for fold in np.unique(folds):
        tested = folds == fold
        out_of_fold[tested] = _answer(_fitted(X[~tested], truth[~tested], kept), X[tested], kept, out_of_fold.shape[1:])
    return out_of_fold, _answer(_fitted(X, truth, kept), X_new, kept, out_of_fold.shape[1:])


def _columns(predictions: Array) -> Array:
    """Return a row of the first layer's predictions for each row; probabilities as logarithms."""
    rows = np.moveaxis(predictions, 0, 1).reshape(predictions.shape[1], -1).astype(np.float64)
    return rows if predictions.ndim == 2 else np.log(np.clip(rows, 1e-4, 1.0))


def _fitted(X: Array, truth: Array, kept: KeptRuns) -> Any:
    with importing:
        from sklearn.linear_model import LogisticRegression, Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

    learner = Ridge() if kept.task == "regression" else LogisticRegression(C=STRENGTH / X.shape[1], max_iter=200)
    return make_pipeline(StandardScaler(), learner).fit(X, truth)


def _answer(model: Any, X: Array, kept: KeptRuns, shape: tuple[int, ...]) -> Array:
    if kept.task == "regression":
        return np.asarray(model.predict(X))
    chances = np.zeros((len(X), *shape))
    chances[:, model.classes_.astype(np.int64)] = model.predict_proba(X)
    return chances
