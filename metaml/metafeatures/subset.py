"""Which columns to keep: correlation-based feature selection (Hall, 1999), Weka's CfsSubsetEval."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.discretise import discretise
from metaml.metafeatures.information import segment_entropies
from metaml.metafeatures.view import Ints, View

_MAX_LEVELS = 64
_PATIENCE = 5


def columns_worth_keeping(view: View) -> tuple[Ints, Ints]:
    """Positions of the numeric and of the categorical columns that are worth keeping; both may be empty.

    A subset is good when its columns correlate with the class and not with one another. The search is best-first
    from the empty set and ends after five expansions in a row that bring nothing.
    """
    y = view.y.astype(np.int64)
    numbers = discretise(view.numbers, y, view.n_classes)
    levels = np.minimum(view.codes, _MAX_LEVELS)
    codes = np.column_stack([numbers, levels])
    correlations = _Correlations(codes, y, view.n_classes)
    chosen = np.array(sorted(_add_locally_predictive(_search(correlations), correlations)), dtype=np.int64)
    n_numbers = numbers.shape[1]
    return chosen[chosen < n_numbers], chosen[chosen >= n_numbers] - n_numbers


class _Correlations:
    """Symmetrical uncertainty of every column with the class and, once asked for, with another column."""

    def __init__(self, codes: Ints, y: Ints, n_classes: int) -> None:
        codes = codes + 1
        widths = codes.max(axis=0, initial=0) + 1
        self.starts = np.concatenate([[0], np.cumsum(widths)[:-1]]).astype(np.int64)
        self.widths = widths
        self.indicators = np.zeros((len(codes), int(widths.sum())), dtype=np.float32)
        for position, start in enumerate(self.starts):
            self.indicators[np.arange(len(codes)), start + codes[:, position]] = 1
        self.own = segment_entropies(self.indicators.sum(axis=0, dtype=np.float64), self.starts)
        self.known: dict[int, Floats] = {}
        self.with_class = self._uncertainty(np.eye(n_classes, dtype=np.float32)[y])

    def with_column(self, position: int) -> Floats:
        """Of all columns with this one."""
        if position not in self.known:
            start = self.starts[position]
            block = self.indicators[:, start : start + self.widths[position]]
            self.known[position] = self._uncertainty(block)
        return self.known[position]

    def _uncertainty(self, other: np.ndarray) -> Floats:
        joint = (self.indicators.T @ other).astype(np.float64)
        theirs = segment_entropies(other.sum(axis=0, dtype=np.float64), np.zeros(1, dtype=np.int64))[0]
        both = segment_entropies(joint.ravel(), self.starts * joint.shape[1])
        total = self.own + theirs
        return np.where(total > 1e-12, 2 * (total - both) / np.maximum(total, 1e-12), 0.0)


def _search(correlations: _Correlations) -> frozenset[int]:
    """The subset of greatest merit that a best-first search finds."""
    n_columns = correlations.with_class.size
    best, best_merit = frozenset[int](), 0.0
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    met = {best}
    stale = 0
    while waiting and stale < _PATIENCE:
        _, members = waiting.pop()
        merits = _merits(members, correlations)
        improved = False
        for position in np.argsort(-merits, kind="stable")[: _PATIENCE + 1]:
            grown = frozenset((*members, int(position)))
            if len(grown) == len(members) or grown in met or not n_columns:
                continue
            met.add(grown)
            merit = float(merits[position])
            waiting.append((merit, tuple(sorted(grown))))
            if merit > best_merit + 1e-5:
                best, best_merit, improved = grown, merit, True
        waiting.sort(key=lambda item: (item[0], [-position for position in item[1]]))
        del waiting[: -4 * _PATIENCE]
        stale = 0 if improved else stale + 1
    return best


def _merits(members: tuple[int, ...], correlations: _Correlations) -> Floats:
    """The merit of the members with each other column added: Hall (1999), eq. 4.3."""
    with_class = correlations.with_class
    k = len(members) + 1
    mine = list(members)
    to_members = np.zeros(with_class.size)
    among = 0.0
    for position in mine:
        row = correlations.with_column(position)
        to_members += row
        among += float(row[mine].sum() - row[position])
    merits: Floats = (with_class[mine].sum() + with_class) / np.sqrt(k + among + 2 * to_members)
    merits[mine] = -np.inf
    return merits


def _add_locally_predictive(chosen: frozenset[int], correlations: _Correlations) -> set[int]:
    """Add the columns that correlate more with the class than with any column chosen so far."""
    grown = set(chosen)
    if not grown:
        return grown
    nearest = np.max([correlations.with_column(position) for position in grown], axis=0)
    for position in np.argsort(-correlations.with_class, kind="stable"):
        candidate = int(position)
        uncertainty = correlations.with_class[candidate]
        if uncertainty <= 0:
            break
        if candidate not in grown and uncertainty > nearest[candidate]:
            grown.add(candidate)
            nearest = np.maximum(nearest, correlations.with_column(candidate))
    return grown
