"""Many trees as one set of flat arrays, which a single row walks through level by level, all trees at once.

A library needs microseconds to call each tree for a row, and a row falls through a tree in less. The values that the
row ends in are bitwise those that the library gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Flags, Floats

MOST_ROWS = 4
"""With more rows, compiled code that takes them tree by tree is as quick."""
FEW_NODES, FEW_CALLS = 100_000, 8
"""Trees with more nodes take up to a second to be flattened: only a model that is asked again and again is."""

Integers = NDArray[np.int64]
_KNOWN: WeakKeyDictionary[Any, tuple[int, FlatTrees | None]] = WeakKeyDictionary()
_CALLS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class FlatTrees:
    """The nodes of all trees: `children` has the left and the right one of each; those of a leaf are itself.

    A row goes left where its value is not above the threshold or, if it is missing, where `misses_left` says so.
    `values` has what each node predicts, and `depth` is that of the deepest tree.
    """

    roots: Integers
    children: Integers
    features: Integers
    thresholds: Floats
    misses_left: Flags
    values: Floats
    depth: int

    def ends(self, row: NDArray[Any]) -> Floats:
        """Return the value in which a row ends, for each tree."""
        node = self.roots
        has_missing = bool(np.isnan(row).any())
        for _ in range(self.depth):
            value = row.take(self.features.take(node))
            goes_right = ~(value <= self.thresholds.take(node))
            if has_missing:
                goes_right &= ~(np.isnan(value) & self.misses_left.take(node))
            node = self.children.take(2 * node + goes_right)
        found: Floats = self.values[node]
        return found


def of_forest(model: Any, trees: Sequence[Any]) -> FlatTrees | None:
    """Return scikit-learn's trees of a fitted model, flattened once; None if that does not pay yet.

    `trees` are its `Tree` objects.
    """

    def make() -> FlatTrees:
        sizes = [tree.node_count for tree in trees]
        return _flat(
            sizes,
            left=[tree.children_left for tree in trees],
            right=[tree.children_right for tree in trees],
            is_leaf=[tree.children_left == -1 for tree in trees],
            features=[tree.feature for tree in trees],
            thresholds=[tree.threshold for tree in trees],
            misses_left=[tree.missing_go_to_left for tree in trees],
            values=[tree.value[:, 0, :] for tree in trees],
            depth=max(tree.max_depth for tree in trees),
        )

    return _kept(model, len(trees), lambda: sum(tree.node_count for tree in trees), make)


def of_histograms(model: Any, trees: Sequence[Any]) -> FlatTrees | None:
    """Return the predictors of a fitted histogram booster, flattened once.

    None if one of them splits categories, or if that does not pay yet.
    """

    def make() -> FlatTrees | None:
        nodes = [tree.nodes for tree in trees]
        if any(own["is_categorical"].any() for own in nodes):
            return None
        return _flat(
            [len(own) for own in nodes],
            left=[own["left"] for own in nodes],
            right=[own["right"] for own in nodes],
            is_leaf=[own["is_leaf"] != 0 for own in nodes],
            features=[own["feature_idx"] for own in nodes],
            thresholds=[own["num_threshold"] for own in nodes],
            misses_left=[own["missing_go_to_left"] for own in nodes],
            values=[own["value"][:, np.newaxis] for own in nodes],
            depth=max(int(own["depth"].max()) for own in nodes),
        )

    return _kept(model, len(trees), lambda: sum(len(tree.nodes) for tree in trees), make)


def _kept(
    model: Any, n_trees: int, n_nodes: Callable[[], int], make: Callable[[], FlatTrees | None]
) -> FlatTrees | None:
    """Return what was made of a model before, as long as it has as many trees; many nodes wait for a few calls."""
    known = _KNOWN.get(model)
    if known is not None and known[0] == n_trees:
        return known[1]
    calls = _CALLS[model] = _CALLS.get(model, 0) + 1
    if calls <= FEW_CALLS and n_nodes() > FEW_NODES:
        return None
    flat = make() if n_trees else None
    _KNOWN[model] = (n_trees, flat)
    return flat


def _flat(
    sizes: Sequence[int],
    *,
    left: Sequence[Any],
    right: Sequence[Any],
    is_leaf: Sequence[Any],
    features: Sequence[Any],
    thresholds: Sequence[Any],
    misses_left: Sequence[Any],
    values: Sequence[Any],
    depth: int,
) -> FlatTrees:
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift, own = np.repeat(starts, sizes), np.arange(sum(sizes), dtype=np.int64)
    leaf = np.concatenate(is_leaf)
    sides = [np.where(leaf, own, np.concatenate(side).astype(np.int64) + shift) for side in (left, right)]
    return FlatTrees(
        roots=starts,
        children=np.column_stack(sides).ravel(),
        features=np.where(leaf, 0, np.concatenate(features).astype(np.int64)),
        thresholds=np.concatenate(thresholds).astype(np.float64),
        misses_left=np.concatenate(misses_left).astype(np.bool_),
        values=np.concatenate(values).astype(np.float64),
        depth=depth,
    )


def sums(ends: Floats, start: Floats) -> Floats:
    """Return the sum over trees, added one after the other: bitwise what a loop over trees gives."""
    total: Floats = np.cumsum(np.vstack([start, ends]), axis=0)[-1]
    return total
