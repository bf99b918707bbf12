"""The landmarkers: what simple learners achieve, which says how hard a data set is and for whom.

They stand for the Weka learners of van Hoof (2018), table B.1, and are judged as at OpenML: two-fold
cross-validation, the predictions of both folds taken together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.bayes import naive_bayes
from metaml.metafeatures.neighbour import nearest_share
from metaml.metafeatures.scores import error_rate, kappa, weighted_auc
from metaml.metafeatures.subset import columns_worth_keeping
from metaml.metafeatures.trees import (
    encode,
    encoders,
    grow,
    indicators,
    leaf_shares,
    node_counts,
    pessimistic_leaves,
    reduced_error_leaves,
)
from metaml.metafeatures.view import Ints, View, scaled
from metaml.splits.group import group_parts

Guesses = dict[str, list[Floats]]
"""The class probabilities of each model of a landmarker (several models where one would be too random)."""

_SEED = 1
_DEPTHS = (1, 2, 3)
_CONFIDENCES = {"J48.001.": 0.001, "J48.0001.": 0.0001, "J48.00001.": 0.00001}
_N_RANDOM_TREES = 8


def _decision_stump(train: View, test: View) -> Guesses:
    if not train.n_columns:
        return {"DecisionStump": [_class_shares(train, test)]}
    X, asked = indicators(train, test)
    stump = grow(X, _classes(train), train.n_classes, min_leaf=1, max_depth=1)
    return {"DecisionStump": [leaf_shares(stump, np.arange(stump.left.size), stump.reach(asked))]}


def _naive_bayes(train: View, test: View) -> Guesses:
    return {"NaiveBayes": [naive_bayes(train, test)]}


def _neighbour(train: View, test: View) -> Guesses:
    if not train.n_columns:
        return {"kNN1N": [_class_shares(train, test)]}
    return {"kNN1N": [nearest_share(train, test, np.eye(train.n_classes)[_classes(train)])]}


def _reduced_error_trees(train: View, test: View) -> Guesses:
    places = encoders(train)
    X, asked, y = encode(train, places), encode(test, places), _classes(train)
    growing = ~_one_third(y)
    if not growing.any():
        growing[:] = True
    tree = grow(X[growing], y[growing], train.n_classes, min_leaf=2, max_depth=max(_DEPTHS))
    leaves, asked_leaves = tree.reach(X), tree.reach(asked)
    held_out = node_counts(tree, leaves[~growing], y[~growing])
    everything = node_counts(tree, leaves, y)
    guesses = {}
    for depth in _DEPTHS:
        stands_for = tree.cut(reduced_error_leaves(tree, held_out, depth))
        guesses[f"REPTreeDepth{depth}"] = [leaf_shares(tree, stands_for, asked_leaves, everything)]
    return guesses


def _random_trees(train: View, test: View) -> Guesses:
    places = encoders(train)
    X, asked, y = encode(train, places), encode(test, places), _classes(train)
    n_features = min(train.n_columns, int(np.log2(train.n_columns)) + 1)
    guesses: Guesses = {f"RandomTreeDepth{depth}": [] for depth in _DEPTHS}
    for seed in range(_N_RANDOM_TREES):
        tree = grow(X, y, train.n_classes, min_leaf=1, max_depth=max(_DEPTHS), max_features=n_features, seed=seed)
        leaves = tree.reach(asked)
        for depth in _DEPTHS:
            stands_for = tree.cut(tree.depth >= depth)
            guesses[f"RandomTreeDepth{depth}"].append(leaf_shares(tree, stands_for, leaves))
    return guesses


def _j48(train: View, test: View) -> Guesses:
    places = encoders(train)
    X, asked = encode(train, places), encode(test, places)
    tree = grow(X, _classes(train), train.n_classes, min_leaf=2)
    leaves = tree.reach(asked)
    guesses = {}
    for name, confidence in _CONFIDENCES.items():
        stands_for = tree.cut(pessimistic_leaves(tree, confidence))
        guesses[name] = [leaf_shares(tree, stands_for, leaves)]
    return guesses


def _on_selected_columns(train: View, test: View) -> Guesses:
    numbers, codes = columns_worth_keeping(train)
    train, test = train.keep(numbers, codes), test.keep(numbers, codes)
    guesses: Guesses = {}
    for landmarker in (_decision_stump, _naive_bayes, _neighbour):
        guesses |= {f"CfsSubsetEval_{name}": guess for name, guess in landmarker(train, test).items()}
    return guesses


FAMILIES: dict[str, tuple[tuple[str, ...], Callable[[View, View], Guesses]]] = {
    "stump": (("DecisionStump",), _decision_stump),
    "bayes": (("NaiveBayes",), _naive_bayes),
    "neighbour": (("kNN1N",), _neighbour),
    "reduced error": (tuple(f"REPTreeDepth{depth}" for depth in _DEPTHS), _reduced_error_trees),
    "random": (tuple(f"RandomTreeDepth{depth}" for depth in _DEPTHS), _random_trees),
    "c4.5": (tuple(_CONFIDENCES), _j48),
    "selected": (
        tuple(f"CfsSubsetEval_{name}" for name in ("DecisionStump", "NaiveBayes", "kNN1N")),
        _on_selected_columns,
    ),
}

_SCORES: dict[str, Callable[[Floats, Ints], float]] = {
    "AUC": weighted_auc,
    "ErrRate": error_rate,
    "Kappa": kappa,
}
NAMES = tuple(f"{name}{score}" for names, _ in FAMILIES.values() for name in names for score in _SCORES)


def landmarkers(view: View) -> Iterator[tuple[str, float | str]]:
    """Each landmarker's area under the ROC curve, error rate and kappa, the cheap landmarkers first."""
    reason = _why_not(view)
    if reason:
        for name in NAMES:
            yield name, reason
        return
    folds = halves(scaled(view))
    y = np.concatenate([_classes(test) for _, test in folds])
    for names, family in FAMILIES.values():
        guesses = [family(train, test) for train, test in folds]
        for name in names:
            together = [np.vstack(parts) for parts in zip(*(guess[name] for guess in guesses), strict=True)]
            for score, function in _SCORES.items():
                yield f"{name}{score}", float(np.mean([function(p, y) for p in together]))


def _why_not(view: View) -> str | None:
    if view.is_regression:
        return "regression target"
    if not view.n_columns:
        return "no columns"
    if np.unique(view.y).size < 2:
        return "a single class"
    return None


def halves(view: View) -> list[tuple[View, View]]:
    """The rows to learn from and the rows to guess, for each of two folds.

    Rows of a group are in the same fold. If rows have times, there is one fold: the later half.
    """
    if view.times is not None and np.ptp(view.times) > 0:
        return [_earlier_and_later(view, view.times)]
    first = two_folds(view.y) if view.groups is None else _half_of_the_groups(view.groups, view.y)
    return [(view.take(np.flatnonzero(~part)), view.take(np.flatnonzero(part))) for part in (first, ~first)]


def _earlier_and_later(view: View, times: Floats) -> tuple[View, View]:
    """The earlier and the later half of the rows, those of one moment together; the later one without known groups."""
    places = np.unique(times, return_inverse=True)[1]
    n_until = np.cumsum(np.bincount(places))[:-1]
    later = places > int(np.abs(n_until - times.size / 2).argmin())
    asked = later
    if view.groups is not None:
        asked = later & ~np.isin(view.groups, view.groups[~later])
        asked = asked if asked.any() else later
    return view.take(np.flatnonzero(~later)), view.take(np.flatnonzero(asked))


def _half_of_the_groups(groups: Ints, y: Floats | Ints) -> np.ndarray:
    """Which rows are in the first of two folds of whole groups; shuffled if there is one group only."""
    if np.unique(groups).size < 2:
        return two_folds(y)
    classes = y if y.dtype.kind in "iu" else None
    parts, _ = group_parts(groups, classes, 2, _SEED)
    return np.asarray(parts == 0)


def two_folds(y: Floats | Ints) -> np.ndarray:
    """Which rows are in the first of two folds, stratified by class (or by a numeric target)."""
    return _drawn(y, slice(0, None, 2))


def _one_third(y: Ints) -> np.ndarray:
    return _drawn(y, slice(2, None, 3))


def _drawn(y: Floats | Ints, places: slice) -> np.ndarray:
    """Which rows have one of these places in the order of the target, equal ones shuffled."""
    rng = np.random.default_rng(_SEED)
    order = np.lexsort((rng.random(y.size), y))
    chosen = np.zeros(y.size, dtype=bool)
    chosen[order[places]] = True
    return chosen


def _classes(view: View) -> Ints:
    return view.y.astype(np.int64)


def _class_shares(train: View, test: View) -> Floats:
    sizes = np.bincount(_classes(train), minlength=train.n_classes)
    return np.tile(sizes / sizes.sum(), (test.n_rows, 1))
