"""A score card: whole points for ranges and levels of columns, which a person adds up by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.explanation.readable import ReadableEffect, ReadableModel

MOST_RANGES, MOST_PAIR_RANGES, EXPLAINED = 6, 3, 0.98
"""A curve becomes so many ranges at most, fewer if these explain so much of it."""
FEW_VALUES = 12
"""Of a column with so few values, a range that holds one is called by it."""
DOUBLING = 10.0
"""So many points double the odds of a class."""
STEPS = 60
"""The score of a number moves in about so many steps."""


Edges = Floats | dict[str, int]
"""Where ranges of numbers end, or the places of levels."""


@dataclass(frozen=True, eq=False)
class Part:
    """The points of a column, or of a pair: for each range or level (of the first × of the second) and output."""

    columns: tuple[str, ...]
    ranges: tuple[tuple[str, ...], ...]
    points: Floats
    missing: Floats | None
    edges: tuple[Edges, ...]


@dataclass(frozen=True, eq=False)
class ScoreCard:
    """`start` plus the points of each part; a point is worth `unit` of the score.

    `apart` is how far the points are from the model, in units of the score, for a typical row.
    """

    start: Floats
    parts: tuple[Part, ...]
    unit: float
    apart: float


def score_card(model: ReadableModel, X: pd.DataFrame, *, are_classes: bool) -> ScoreCard | None:
    """Return the score card of a sum of effects, None for a tree; `X` are training rows."""
    if model.tree is not None:
        return None
    unit = math.log(2) / DOUBLING if are_classes else _unit(model.effects)
    start, parts = model.base / unit, []
    for effect in model.effects:
        part = _part(effect, unit)
        # Points from 0 on are easier to add; the start makes up for it.
        lowest = np.minimum(
            part.points.reshape(-1, part.points.shape[-1]).min(axis=0), 0 if part.missing is None else part.missing
        )
        lowest = np.floor(lowest + 0.5)
        points = np.floor(part.points + 0.5) - lowest
        if not points.any() and (part.missing is None or not (np.floor(part.missing + 0.5) - lowest).any()):
            continue
        missing = None if part.missing is None else np.floor(part.missing + 0.5) - lowest
        parts.append(Part(part.columns, part.ranges, points, missing, part.edges))
        start = start + lowest
    card = ScoreCard(np.floor(start + 0.5), tuple(parts), unit, 0.0)
    apart = np.abs(totals(card, X) * unit - model.scores(X)).mean() if len(X) else 0.0
    return ScoreCard(card.start, card.parts, unit, float(apart))


def totals(card: ScoreCard, X: pd.DataFrame) -> Floats:
    """Return the points of rows (rows × outputs)."""
    total: Floats = np.tile(card.start, (len(X), 1))
    for part in card.parts:
        places = [
            _places(X[name], edges, len(ranges))
            for name, edges, ranges in zip(part.columns, part.edges, part.ranges, strict=True)
        ]
        found = np.array(part.points[tuple(places)])
        if part.missing is not None:
            found[X[part.columns[0]].isna().to_numpy()] = part.missing
        total += found
    return total


def _places(column: pd.Series, edges: Edges, n_ranges: int) -> Array:
    if isinstance(edges, dict):
        found = np.array([edges.get(str(value), 0) for value in column])
        known = len(edges)
    else:
        found = np.searchsorted(edges, np.nan_to_num(column.to_numpy(dtype=np.float64)), side="left")
        known = len(edges) + 1
    return np.where(column.isna(), n_ranges - 1, found) if known < n_ranges else found


def _unit(effects: tuple[ReadableEffect, ...]) -> float:
    """Return what a point is worth: 1, 2 or 5 times a power of ten, so that effects have about `STEPS` points."""
    widest = sum(float(np.ptp(effect.values)) for effect in effects) or 1.0
    rough = widest / STEPS
    power = 10.0 ** math.floor(math.log10(rough))
    return power * max(factor for factor in (1, 2, 5) if factor * power <= rough)


def _part(effect: ReadableEffect, unit: float) -> Part:
    values = effect.values / unit
    most = MOST_RANGES if len(effect.columns) == 1 else MOST_PAIR_RANGES
    cut = [_ranges(np.moveaxis(values, axis, 0), effect, axis, most) for axis in range(len(effect.columns))]
    groups = [found[2] for found in cut]
    if len(groups) == 1:
        share = np.maximum(effect.share, 1e-12)
        merged = np.stack([np.average(values[part], axis=0, weights=share[part]) for part in groups[0]])
    else:
        rows = [np.stack([values[one, two].mean(axis=(0, 1)) for two in groups[1]]) for one in groups[0]]
        merged = np.stack(rows)
    missing = None if effect.missing is None else effect.missing / unit
    return Part(effect.columns, tuple(found[0] for found in cut), merged, missing, tuple(found[1] for found in cut))


def _ranges(along: Floats, effect: ReadableEffect, axis: int, most: int) -> tuple[tuple[str, ...], Edges, list[slice]]:
    """Return the names of the ranges along one column of an effect, where they end, and the points in each."""
    known = [point for point in effect.points[axis] if point is not None]
    edges: Edges
    if effect.are_numbers[axis]:
        weight = effect.share if len(effect.columns) == 1 else np.ones(len(known))
        ends = _segments(along[: len(known)].reshape(len(known), -1), weight, most)
        cuts = [_between(known[end - 1], known[end]) for end in ends[1:-1]]
        is_few = len(known) <= FEW_VALUES
        alone = [known[low] if is_few and high == low + 1 else None for low, high in pairwise(ends)]
        names, edges = _range_names(cuts, alone), np.array(cuts, dtype=np.float64)
    else:
        ends = list(range(len(known) + 1))
        names, edges = [str(point) for point in known], {str(point): place for place, point in enumerate(known)}
    groups = [slice(low, high) for low, high in pairwise(ends)]
    if len(known) < len(effect.points[axis]):
        names, groups = [*names, "missing"], [*groups, slice(len(known), None)]
    return tuple(names), edges, groups


def _segments(values: Floats, weight: Floats, most: int) -> list[int]:
    """Return where ranges begin and end so that each is as even as possible: the best of all ways to cut."""
    n = len(values)
    weight = np.maximum(weight, 1e-12)
    total = np.concatenate([[0.0], np.cumsum(weight)])
    first = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values * weight[:, None], axis=0)])
    second = np.concatenate([[0.0], np.cumsum((values**2).sum(axis=1) * weight)])

    def cost(low: int, high: int) -> float:
        mean = (first[high] - first[low]) ** 2 / (total[high] - total[low])
        return float(second[high] - second[low] - mean.sum())

    costs = np.array([[cost(low, high) if low < high else np.inf for high in range(n + 1)] for low in range(n)])
    best, back = costs[0].copy(), [np.zeros(n + 1, dtype=int)]
    whole = cost(0, n)
    for n_ranges in range(1, most + 1):
        if best[n] <= (1 - EXPLAINED) * whole + 1e-12 or n_ranges in (most, n):
            break
        options = best[:n, None] + costs
        back.append(options.argmin(axis=0))
        best = options.min(axis=0)
    ends = [n]
    for steps in reversed(back[1:]):
        ends.append(int(steps[ends[-1]]))
    return [*([] if ends[-1] == 0 else [0]), *reversed(ends)]


def _between(low: float, high: float) -> float:
    """Return the shortest number from one value up to before another.

    >>> _between(24.13, 24.57), _between(1.0, 2.0), _between(99.0, 1012.0)
    (24.3, 1.0, 500.0)
    """
    for digits in range(-15, 16):
        step = 10.0**-digits
        found = math.floor(((low + high) / 2) / step) * step
        if low <= found < high:
            return round(found, max(digits, 0))
    return low


def _range_names(cuts: list[float], alone: list[float | None]) -> list[str]:
    """Return what ranges are called; one that holds a single value is called by it.

    >>> _range_names([1.0, 4.0], [1.0, None, None])
    ['1', 'over 1 to 4', 'over 4']
    """
    words = [f"{cut:,.10g}" for cut in cuts]
    if not words:
        return ["any"]
    names = [f"up to {words[0]}", *(f"over {low} to {high}" for low, high in pairwise(words)), f"over {words[-1]}"]
    return [name if value is None else f"{value:,.10g}" for name, value in zip(names, alone, strict=True)]
