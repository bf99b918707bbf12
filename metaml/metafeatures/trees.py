"""Decision trees near to Weka's: a stump, C4.5 with its pruning, reduced-error pruning, random trees."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.view import Ints, View
from metaml.system.threads import importing


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree as arrays; a node's children come after it."""

    left: Ints
    right: Ints
    depth: Ints
    counts: Floats
    """Training rows per node (rows) and class (columns)."""
    model: Any

    def reach(self, X: np.ndarray) -> Ints:
        """The leaf that each row falls into."""
        leaves: Ints = self.model.apply(X)
        return leaves

    def cut(self, is_leaf: np.ndarray) -> Ints:
        """For each node, the node that replaces it when the marked nodes become leaves."""
        stands_for = np.arange(self.left.size)
        for node in range(self.left.size):
            top = stands_for[node]
            if self.left[node] >= 0:
                for child in (self.left[node], self.right[node]):
                    stands_for[child] = top if is_leaf[top] else child
        return stands_for


def grow(
    X: np.ndarray,
    y: Ints,
    n_classes: int,
    *,
    min_leaf: int,
    max_depth: int | None = None,
    max_features: int | None = None,
    seed: int = 0,
) -> Grown:
    """A tree that splits by information gain."""
    with importing:
        from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        criterion="entropy",
        min_samples_leaf=min_leaf,
        max_depth=max_depth,
        max_features=max_features,
        random_state=seed,
    )
    with warnings.catch_warnings():
        # Classes of one or two rows are normal here; scikit-learn would suspect a regression target.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        model.fit(X, y)
    tree = model.tree_
    counts = np.zeros((tree.node_count, n_classes))
    counts[:, model.classes_] = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
    left, right = tree.children_left.astype(np.int64), tree.children_right.astype(np.int64)
    depth = np.zeros(tree.node_count, dtype=np.int64)
    for node in range(tree.node_count):
        if left[node] >= 0:
            depth[left[node]] = depth[right[node]] = depth[node] + 1
    return Grown(left, right, depth, counts, model)


def encoders(train: View) -> list[Floats]:
    """For each categorical column the place of each level in an order that suits binary splits.

    Levels are ordered by the first principal component of their class shares: for two classes this
    contains the best split into two groups of levels (Breiman et al., 1984, theorem 4.5), for more it is
    the usual substitute (Coppersmith, Hong and Hosking, 1999).
    """
    y = train.y.astype(np.int64)
    overall = np.bincount(y, minlength=train.n_classes) / max(1, y.size)
    places = []
    for column in train.codes.T:
        known = column >= 0
        n_levels = int(column.max(initial=-1)) + 1
        cell = column[known] * train.n_classes + y[known]
        counts = np.bincount(cell, minlength=n_levels * train.n_classes).reshape(n_levels, -1)
        size = counts.sum(axis=1, keepdims=True)
        shares = counts / np.maximum(size, 1) - overall
        if train.n_classes == 2:
            score = shares[:, 1]
        else:
            covariance = (shares * size).T @ shares
            score = shares @ np.linalg.eigh(covariance)[1][:, -1]
        places.append(np.where(size[:, 0] > 0, score, np.nan))
    return places


def encode(view: View, places: list[Floats]) -> np.ndarray:
    """Numbers as they are, categories as places; missing and unseen levels are NaN."""
    X = np.empty((view.n_rows, view.n_columns), dtype=np.float32)
    n_numbers = view.numbers.shape[1]
    X[:, :n_numbers] = np.clip(view.numbers, -3e38, 3e38)
    for position, (column, place) in enumerate(zip(view.codes.T, places, strict=True)):
        table = np.append(place, np.nan)
        X[:, n_numbers + position] = table[np.where((column >= 0) & (column < place.size), column, place.size)]
    return X


def indicators(train: View, test: View) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are and one 0/1 column per level: a split then sets one level against the rest."""
    left, right = [np.clip(train.numbers, -3e38, 3e38)], [np.clip(test.numbers, -3e38, 3e38)]
    for a, b in zip(train.codes.T, test.codes.T, strict=True):
        levels, sizes = np.unique(a[a >= 0], return_counts=True)
        common = levels[np.argsort(-sizes, kind="stable")[:32]]
        left.append(a[:, None] == common)
        right.append(b[:, None] == common)
    return np.hstack(left).astype(np.float32), np.hstack(right).astype(np.float32)


def leaf_shares(grown: Grown, stands_for: Ints, leaves: Ints, counts: Floats | None = None) -> Floats:
    """Class probabilities of rows that fell into these leaves, taken from the nodes that replace the leaves."""
    table = grown.counts if counts is None else counts
    rows = table[stands_for[leaves]]
    shares: Floats = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    return shares


def pessimistic_leaves(grown: Grown, confidence: float) -> np.ndarray:
    """Which nodes C4.5 makes leaves: those whose pessimistic error is no worse than that of their subtree.

    Quinlan (1993), ch. 4; `confidence` is J48's -C: the smaller, the harder it prunes.
    """
    total = grown.counts.sum(axis=1)
    wrong = total - grown.counts.max(axis=1)
    as_leaf = wrong + added_errors(total, wrong, confidence)
    estimate = as_leaf.copy()
    is_leaf = grown.left < 0
    for node in range(grown.left.size - 1, -1, -1):
        if grown.left[node] >= 0:
            subtree = estimate[grown.left[node]] + estimate[grown.right[node]]
            is_leaf[node] = as_leaf[node] <= subtree + 0.1
            estimate[node] = as_leaf[node] if is_leaf[node] else subtree
    return is_leaf


def added_errors(n: Floats, wrong: Floats, confidence: float) -> Floats:
    """How many errors more than `wrong` out of `n` are still believable at this confidence."""
    from scipy.special import ndtri

    n = np.maximum(n, 1e-9)
    z = float(ndtri(1 - confidence))

    def upper(errors: Floats) -> Floats:
        share = np.minimum((errors + 0.5) / n, 1.0)
        root = np.sqrt(np.maximum(share / n - share**2 / n + z**2 / (4 * n**2), 0.0))
        limit = (share + z**2 / (2 * n) + z * root) / (1 + z**2 / n)
        return np.where(errors + 0.5 >= n, np.maximum(n - errors, 0.0), limit * n - errors)

    none = n * (1 - confidence ** (1 / n))
    between = none + wrong * (upper(np.ones_like(n)) - none)
    return np.where(wrong < 1, between, upper(wrong))


def reduced_error_leaves(grown: Grown, held_out: Floats, max_depth: int) -> np.ndarray:
    """Which nodes are leaves once the tree is cut at a depth and pruned on held-out rows.

    `held_out` counts the held-out rows per node and class. Quinlan (1987), as in Weka's REPTree.
    """
    guess = grown.counts.argmax(axis=1)
    total = held_out.sum(axis=1)
    wrong = total - held_out[np.arange(guess.size), guess]
    is_leaf = (grown.left < 0) | (grown.depth >= max_depth)
    errors = wrong.copy()
    for node in range(guess.size - 1, -1, -1):
        if not is_leaf[node]:
            subtree = errors[grown.left[node]] + errors[grown.right[node]]
            is_leaf[node] = wrong[node] <= subtree
            errors[node] = wrong[node] if is_leaf[node] else subtree
    return is_leaf


def node_counts(grown: Grown, leaves: Ints, y: Ints) -> Floats:
    """Rows per node and class for rows that fell into these leaves."""
    counts = np.zeros_like(grown.counts)
    np.add.at(counts, (leaves, y), 1)
    for node in range(grown.left.size - 1, -1, -1):
        if grown.left[node] >= 0:
            counts[node] = counts[grown.left[node]] + counts[grown.right[node]]
    return counts
