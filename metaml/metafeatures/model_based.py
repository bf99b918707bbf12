"""Model-based metafeatures: the shape of a decision tree grown on the data set, under the names of pymfe.

Peng et al. (2002) and Bensusan et al. (2000); van Hoof (2018), section 2.3.1. OpenML has no such qualities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.regression_landmarkers import target_encoded
from metaml.metafeatures.trees import encode, encoders
from metaml.metafeatures.view import Ints, View, scaled
from metaml.system.threads import importing

_TOTALS = ("leaves", "nodes", "nodes_per_attr", "nodes_per_inst")
_MANY = (
    "tree_depth",
    "leaves_branch",
    "leaves_corrob",
    "tree_shape",
    "nodes_per_level",
    "nodes_repeated",
    "var_importance",
)
_SUMMARIES: dict[str, Callable[[Floats], float]] = {
    "min": lambda values: float(values.min()),
    "mean": lambda values: float(values.mean()),
    "max": lambda values: float(values.max()),
    "sd": lambda values: float(values.std(ddof=1)),
}
NAMES = (*_TOTALS, *(f"{name}.{summary}" for name in _MANY for summary in _SUMMARIES))


def model_based(view: View) -> Iterator[tuple[str, float | str]]:
    """Each number that describes the tree; `nodes` are those that split.

    `tree_depth` is that of each node, `leaves_branch` that of each leaf, `leaves_corrob` the share of rows in it and
    `tree_shape` -p log2 p of its probability in a random walk. `nodes_repeated` is how often a column splits.
    """
    reason = _why_not(view)
    if reason:
        for name in NAMES:
            yield name, reason
        return
    tree = _grown(scaled(view))
    is_leaf = tree.children_left < 0
    depths = _depths(tree.children_left, tree.children_right)
    n_splits = int((~is_leaf).sum())
    yield from zip(
        _TOTALS, (float(is_leaf.sum()), float(n_splits), n_splits / view.n_columns, n_splits / view.n_rows), strict=True
    )
    chances = 0.5 ** depths[is_leaf]
    many = (
        depths,
        depths[is_leaf],
        tree.n_node_samples[is_leaf] / view.n_rows,
        -chances * np.log2(chances),
        np.bincount(depths[~is_leaf]),
        np.unique(tree.feature[~is_leaf], return_counts=True)[1],
        tree.compute_feature_importances(),
    )
    for name, values in zip(_MANY, many, strict=True):
        for summary, function in _SUMMARIES.items():
            if not len(values):
                yield f"{name}.{summary}", "the tree has no split"
            elif summary == "sd" and len(values) == 1:
                yield f"{name}.{summary}", "there is one value only"
            else:
                yield f"{name}.{summary}", function(np.asarray(values, dtype=np.float64))


def _why_not(view: View) -> str | None:
    if not view.n_columns:
        return "no columns"
    if np.unique(view.y).size < 2:
        return "the target has one value only"
    return None


def _grown(view: View) -> Any:
    """Return the arrays of scikit-learn's tree with its default settings, the categories in an order."""
    with importing:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if view.is_regression:
        return DecisionTreeRegressor(random_state=0).fit(target_encoded(view, view)[0], view.y).tree_
    # The name of a class does not matter, and as text it cannot be taken for a number.
    return DecisionTreeClassifier(random_state=0).fit(encode(view, encoders(view)), view.y.astype(str)).tree_


def _depths(left: Ints, right: Ints) -> Ints:
    """Return the depth of each node; a node's children come after it."""
    depths = np.zeros(left.size, dtype=np.int64)
    for node in np.flatnonzero(left >= 0):
        depths[left[node]] = depths[right[node]] = depths[node] + 1
    return depths
