"""Models that a person can read, taken apart: a sum of effects of columns, or a few questions one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from metaml.algorithms.componentwise.additive import AdditiveModel
from metaml.arrays import Array, Flags, Floats

MOST_POINTS, MOST_PAIR_POINTS, MOST_ROWS = 48, 16, 5000
"""Points of a curve, of each column of a pair, and training rows that effects are centred by."""
SMALLEST = 1e-9
"""An effect that moves the score by a smaller share than this is none."""


@dataclass(frozen=True, eq=False)
class ReadableEffect:
    """What a column, or a pair of them, adds to the score, compared with the average training row.

    `points` are numbers in order, or levels, for each column; those of a pair may end with None, for missing values.
    `values` is points (× points) × outputs. `missing` is
    what a missing value adds, None for pairs and for columns that were never missing. `share` is the share of the
    training rows at each point. `strength` is by how much the effect moves the score of a typical row.
    """

    columns: tuple[str, ...]
    points: tuple[tuple[Any, ...], ...]
    values: Floats
    missing: Floats | None
    share: Floats
    strength: float
    are_numbers: tuple[bool, ...]


@dataclass(frozen=True)
class Leaf:
    """Where questions end: what is predicted there (a number, or the share of each class), and for how many rows."""

    values: tuple[float, ...]
    n_rows: int


@dataclass(frozen=True)
class Question:
    """A question about a column: is it at most `limit`, or one of `levels`? `missing_is_yes` is for missing values."""

    column: str
    limit: float | None
    levels: tuple[str, ...]
    missing_is_yes: bool
    yes: Question | Leaf
    no: Question | Leaf


@dataclass(frozen=True, eq=False)
class ReadableModel:
    """A model as a person reads it: either `base` plus `effects`, or a `tree`.

    Scores are numbers of a regression, the log odds of the second of two classes, or one score for each of more.
    `n_columns` is how many columns could have been used.
    """

    algorithm: str
    base: Floats
    effects: tuple[ReadableEffect, ...]
    tree: Question | Leaf | None
    n_columns: int

    def scores(self, X: pd.DataFrame) -> Floats:
        """Return the score of rows by what is written down of the effects (rows × outputs)."""
        total: Floats = np.tile(self.base, (len(X), 1))
        for effect in self.effects:
            total += _at(effect, X)
        return total


def readable_model(
    algorithm: str, estimators: Sequence[Any], X: pd.DataFrame, *, seed: int = 0
) -> ReadableModel | None:
    """Return a fitted model as a person reads it, None if nobody can; `X` are its training rows.

    Of several estimators that are sums of effects, it is their average.
    """
    if len(X) > MOST_ROWS:
        X = X.iloc[np.sort(np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False))]
    models = [getattr(estimator, "model_", None) for estimator in estimators]
    if all(isinstance(model, AdditiveModel) or hasattr(model, "coef_") for model in models):
        return _sum_of_effects(algorithm, estimators, X)
    if len(models) == 1 and hasattr(models[0], "tree_"):
        return ReadableModel(algorithm, np.zeros(1), (), _tree(estimators[0], X), X.shape[1])
    return None


def _sum_of_effects(algorithm: str, estimators: Sequence[Any], X: pd.DataFrame) -> ReadableModel:
    parts: dict[tuple[str, ...], Floats] = {}
    bases = []
    for estimator in estimators:
        base, found = _parts(estimator, X)
        bases.append(base)
        for names, values in found.items():
            parts[names] = parts.get(names, 0.0) + values / len(estimators)
    base = np.mean(bases, axis=0)
    effects = []
    whole = sum(float(values.std(axis=0).max()) for values in parts.values()) or 1.0
    for names, values in parts.items():
        centre, strength = values.mean(axis=0), float(np.abs(values - values.mean(axis=0)).mean())
        base = base + centre
        if strength > SMALLEST * whole:
            effects.append(_effect(estimators, names, X, centre, strength))
    effects.sort(key=lambda effect: -effect.strength)
    return ReadableModel(algorithm, base, tuple(effects), None, X.shape[1])


def _parts(estimator: Any, X: pd.DataFrame) -> tuple[Floats, dict[tuple[str, ...], Floats]]:
    """Return the base of a fitted sum, and what each column or pair adds in each row (rows × outputs)."""
    head, model = estimator.head_, estimator.model_
    Z, sources = head.transform(X), [str(name) for name in head.sources()]
    unit, start = getattr(estimator, "std_", 1.0), getattr(estimator, "mean_", 0.0)
    parts: dict[tuple[str, ...], Floats] = {}

    def add(names: Sequence[str], values: Floats) -> None:
        key = tuple(dict.fromkeys(names))
        parts[key] = parts.get(key, 0.0) + unit * values

    if isinstance(model, AdditiveModel):
        for effect in model.effects_:
            add([sources[column] for column in effect.term.columns], effect.at(Z))
        return start + unit * model.intercept_, parts
    weights = np.atleast_2d(model.coef_)
    for place, name in enumerate(sources):
        if weights[:, place].any():
            add([name], np.outer(Z[:, place], weights[:, place]))
    return start + unit * np.atleast_1d(model.intercept_), parts


def _effect(
    estimators: Sequence[Any], names: tuple[str, ...], X: pd.DataFrame, centre: Floats, strength: float
) -> ReadableEffect:
    most = MOST_POINTS if len(names) == 1 else MOST_PAIR_POINTS
    points = [_points(X[name], most) for name in names]
    if len(names) > 1:
        points = [[*known, None] if X[name].isna().any() else known for name, known in zip(names, points, strict=True)]
    sizes = tuple(map(len, points))
    rows = X.iloc[np.zeros(int(np.prod(sizes)), dtype=np.intp)].reset_index(drop=True)
    for name, column in zip(names, np.meshgrid(*[np.arange(size) for size in sizes], indexing="ij"), strict=True):
        chosen = np.asarray(points[names.index(name)], dtype=object)[column.ravel()]
        rows[name] = pd.Series([np.nan if point is None else point for point in chosen]).astype(X[name].dtype)
    values = _mean_part(estimators, rows, names) - centre
    missing = None
    if len(names) == 1 and X[names[0]].isna().any():
        empty = X.iloc[:1].copy()
        empty[names[0]] = pd.Series([np.nan]).astype(X[names[0]].dtype).to_numpy() if _is_number(X[names[0]]) else None
        empty[names[0]] = empty[names[0]].astype(X[names[0]].dtype)
        missing = _mean_part(estimators, empty, names)[0] - centre
    return ReadableEffect(
        columns=names,
        points=tuple(map(tuple, points)),
        values=values.reshape(*sizes, -1),
        missing=missing,
        share=_shares(X[names[0]], points[0]) if len(names) == 1 else np.ones(sizes) / np.prod(sizes),
        strength=strength,
        are_numbers=tuple(_is_number(X[name]) for name in names),
    )


def _mean_part(estimators: Sequence[Any], X: pd.DataFrame, names: tuple[str, ...]) -> Floats:
    """Return what columns add in each row, as the mean over estimators: 0 in those that do not use these columns."""
    parts = [_parts(estimator, X)[1] for estimator in estimators]
    none = np.zeros_like(next(part[names] for part in parts if names in part))
    mean: Floats = np.mean([part.get(names, none) for part in parts], axis=0)
    return mean


def _is_number(column: pd.Series) -> bool:
    return not isinstance(column.dtype, pd.CategoricalDtype)


def _points(column: pd.Series, most: int) -> list[Any]:
    """Return the values of a column to show: levels, most frequent first, or numbers in order."""
    if not _is_number(column):
        return [str(level) for level, n in column.value_counts().items() if n]
    known = np.unique(column.dropna().to_numpy(dtype=np.float64))
    if len(known) > most:
        known = np.unique(np.quantile(column.dropna(), np.linspace(0, 1, most), method="nearest"))
    return [float(value) for value in known]


def _shares(column: pd.Series, points: Sequence[Any]) -> Floats:
    """Return the share of rows nearest to each point."""
    if not _is_number(column):
        counts = column.astype(str).value_counts()
        return np.array([counts.get(point, 0) / len(column) for point in points], dtype=np.float64)
    known = column.dropna().to_numpy(dtype=np.float64)
    found = np.bincount(nearest_point(known, np.array(points)), minlength=len(points))
    return np.asarray(found / len(column), dtype=np.float64)


def nearest_point(values: Floats, points: Floats) -> Array:
    """Return the place of the point nearest to each value; points are in order.

    >>> nearest_point(np.array([0.4, 9.0]), np.array([0.0, 1.0, 2.0])).tolist()
    [0, 2]
    """
    return np.searchsorted((points[1:] + points[:-1]) / 2, values)


def _at(effect: ReadableEffect, X: pd.DataFrame) -> Floats:
    """Return what is written down of an effect at rows."""
    places = [
        _places(X[name], points, is_number)
        for name, points, is_number in zip(effect.columns, effect.points, effect.are_numbers, strict=True)
    ]
    found = np.array(effect.values[tuple(places)])
    if effect.missing is not None:
        found[X[effect.columns[0]].isna().to_numpy()] = effect.missing
    return found


def _places(column: pd.Series, points: Sequence[Any], is_number: bool) -> Array:
    """Return which point each value of a column counts as."""
    known = [point for point in points if point is not None]
    if is_number:
        found = nearest_point(np.nan_to_num(column.to_numpy(dtype=np.float64)), np.array(known))
    else:
        place_of = {point: place for place, point in enumerate(known)}
        found = np.array([place_of.get(str(value), 0) for value in column])
    return np.where(column.isna(), len(points) - 1, found) if len(known) < len(points) else found


def _tree(estimator: Any, X: pd.DataFrame) -> Question | Leaf:
    """Return the questions of a fitted tree."""
    head, kept = estimator.head_, estimator.model_.tree_
    sources = [str(name) for name in head.sources()]
    goes_left = getattr(kept, "missing_go_to_left", np.zeros(kept.node_count, dtype=bool))

    def node(place: int) -> Question | Leaf:
        left, right = kept.children_left[place], kept.children_right[place]
        if left < 0:
            values = kept.value[place, 0]
            if hasattr(estimator, "classes_"):
                values = values / values.sum()
            else:
                values = values * estimator.std_ + estimator.mean_
            return Leaf(tuple(map(float, values)), int(kept.n_node_samples[place]))
        name, limit = sources[kept.feature[place]], float(kept.threshold[place])
        limit_shown, levels = (limit, ()) if _is_number(X[name]) else (None, _levels(place, name, limit))
        return Question(name, limit_shown, levels, bool(goes_left[place]), node(left), node(right))

    def _levels(place: int, name: str, limit: float) -> tuple[str, ...]:
        listed = [str(level) for level in X[name].cat.categories]
        rows = X.iloc[np.zeros(len(listed), dtype=np.intp)].reset_index(drop=True)
        rows[name] = pd.Series(listed).astype(X[name].dtype)
        is_left: Flags = head.transform(rows)[:, kept.feature[place]] <= limit
        return tuple(level for level, flag in zip(listed, is_left, strict=True) if flag)

    return node(0)
