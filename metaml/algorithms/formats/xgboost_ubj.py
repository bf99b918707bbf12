"""Check the bytes of an XGBoost model before XGBoost reads them: UBJSON whose trees must stay within themselves."""

import struct
from typing import Any

import numpy as np

_TYPES = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_DEEPEST = 40
_TREE_LISTS = (
    "left_children",
    "right_children",
    "parents",
    "split_indices",
    "split_conditions",
    "default_left",
    "base_weights",
    "loss_changes",
    "sum_hessian",
    "split_type",
)
MOST_COLUMNS, MOST_CLASSES = 10_000_000, 1_000_000


class _Reader:
    """Reads a UBJSON document; every length is checked against the bytes that are left."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def document(self) -> Any:
        """Return the document; nothing may follow it."""
        value = self._value(self._take(1), 0)
        if self._place != len(self._content):
            raise ValueError("bytes follow the model of a booster")
        return value

    def _take(self, n: int) -> bytes:
        if n < 0 or n > len(self._content) - self._place:
            raise ValueError("the bytes of a booster are cut short")
        self._place += n
        return self._content[self._place - n : self._place]

    def _number(self, mark: bytes) -> Any:
        form = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}[mark]
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _length(self) -> int:
        mark = self._take(1)
        if mark not in b"iUIlL":
            raise ValueError("a length in a booster is no whole number")
        return int(self._number(mark))

    def _value(self, mark: bytes, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("a booster is too deeply nested")
        if mark in _TYPES:
            return self._number(mark)
        if mark in (b"T", b"F", b"Z"):
            return {b"T": True, b"F": False, b"Z": None}[mark]
        if mark == b"C":
            return self._take(1).decode("latin-1")
        if mark == b"S":
            return self._take(self._length()).decode()
        if mark == b"{":
            return self._object(depth)
        if mark == b"[":
            return self._list(depth)
        raise ValueError("a booster holds an unknown kind of value")

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (mark := self._take(1)) != b"}":
            self._place -= 1 if mark in b"iUIlL" else 0
            if mark not in b"iUIlL":
                raise ValueError("a name in a booster is no text")
            name = self._take(self._length()).decode()
            if name in found:
                raise ValueError("a booster says something twice")
            found[name] = self._value(self._take(1), depth + 1)
        return found

    def _list(self, depth: int) -> Any:
        mark = self._take(1)
        if mark == b"$":
            kind = self._take(1)
            if kind not in _TYPES or self._take(1) != b"#":
                raise ValueError("a list in a booster is of an unknown kind")
            n, dtype = self._length(), np.dtype(_TYPES[kind])
            if n < 0:
                raise ValueError("a list in a booster has a negative length")
            return np.frombuffer(self._take(n * dtype.itemsize), dtype=dtype)
        if mark == b"#":
            n = self._length()
            if not 0 <= n <= len(self._content):
                raise ValueError("a list in a booster has an impossible length")
            return [self._value(self._take(1), depth + 1) for _ in range(n)]
        values = []
        while mark != b"]":
            values.append(self._value(mark, depth + 1))
            mark = self._take(1)
        return values


def checked_model(content: bytes) -> tuple[int, int]:
    """Return how many columns and classes a model has if all its trees stay within themselves; else raise ValueError.

    A model of one number, or of two classes, has 1 class.
    """
    learner = _Reader(content).document()["learner"]
    about = learner["learner_model_param"]
    n_columns, n_classes = int(about["num_feature"]), max(int(about["num_class"]), 1)
    if not 0 <= n_columns <= MOST_COLUMNS or n_classes > MOST_CLASSES or int(about.get("num_target", 1)) != 1:
        raise ValueError("a booster has impossible numbers of columns or classes")
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        weights = booster["model"]["weights"]
        if len(weights) != (n_columns + 1) * n_classes:
            raise ValueError("a linear booster has weights for other columns")
        return n_columns, n_classes
    model = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    trees = model["trees"]
    if booster["name"] == "dart" and len(booster["weight_drop"]) != len(trees):
        raise ValueError("a booster has weights for other trees")
    _check_order(model, len(trees), n_classes)
    for number, tree in enumerate(trees):
        if int(tree.get("id", number)) != number:
            raise ValueError("the trees of a booster are in another order")
        _check_tree(tree, n_columns)
    return n_columns, n_classes


def _check_order(model: dict[str, Any], n_trees: int, n_classes: int) -> None:
    """Refuse trees that belong to classes, or rounds, that are not there."""
    classes, rounds = np.asarray(model["tree_info"]), np.asarray(model["iteration_indptr"])
    if int(model["gbtree_model_param"]["num_trees"]) != n_trees or len(classes) != n_trees:
        raise ValueError("a booster has another number of trees than it says")
    if (classes < 0).any() or (classes >= n_classes).any():
        raise ValueError("a tree of a booster belongs to a class that is not there")
    if len(rounds) < 1 or rounds[0] != 0 or rounds[-1] != n_trees or (np.diff(rounds.astype(np.int64)) < 0).any():
        raise ValueError("the rounds of a booster do not fit its trees")
    if int(model["gbtree_model_param"].get("num_parallel_tree", 1)) != 1:
        raise ValueError("a booster has an impossible number of trees in a round")


def _check_tree(tree: dict[str, Any], n_columns: int) -> None:
    about = tree["tree_param"]
    n_nodes = int(about["num_nodes"])
    if int(about["num_deleted"]) != 0 or int(about["size_leaf_vector"]) > 1 or n_nodes < 1:
        raise ValueError("a tree of a booster is of an unknown kind")
    lists = {name: np.asarray(tree[name]) for name in _TREE_LISTS}
    if any(found.ndim != 1 or len(found) != n_nodes for found in lists.values()):
        raise ValueError("a tree of a booster has a list of the wrong length")
    left, right = lists["left_children"].astype(np.int64), lists["right_children"].astype(np.int64)
    inner = left != -1
    numbers = np.arange(n_nodes)
    if ((right == -1) != ~inner).any():
        raise ValueError("a tree points outside itself")
    for child in (left[inner], right[inner]):
        if (child <= numbers[inner]).any() or (child >= n_nodes).any():
            raise ValueError("a tree points outside itself")
    columns, kinds = lists["split_indices"].astype(np.int64), lists["split_type"].astype(np.int64)
    if (columns < 0).any() or (columns[inner] >= n_columns).any():
        raise ValueError("a tree asks for columns that are not there")
    if not np.isin(kinds, (0, 1)).all():
        raise ValueError("a tree decides in an unknown way")
    _check_parents(lists["parents"].astype(np.int64), left, right, inner)
    _check_categories(tree, numbers[kinds == 1])


def _check_parents(parents: Any, left: Any, right: Any, inner: Any) -> None:
    expected = np.full(len(parents), -1)
    expected[left[inner]] = expected[right[inner]] = np.flatnonzero(inner)
    # The root's parent is written as the largest number of 31 bits.
    if (parents[1:] != expected[1:]).any() or len(np.unique(np.r_[left[inner], right[inner]])) != 2 * inner.sum():
        raise ValueError("a tree points outside itself")


def _check_categories(tree: dict[str, Any], asked: Any) -> None:
    words = np.asarray(tree["categories"], dtype=np.int64)
    nodes, starts, sizes = (
        np.asarray(tree[name], dtype=np.int64)
        for name in ("categories_nodes", "categories_segments", "categories_sizes")
    )
    if not len(nodes) == len(starts) == len(sizes) or set(nodes.tolist()) != set(asked.tolist()):
        raise ValueError("a tree refers to categories that it does not have")
    if (
        (np.diff(nodes) <= 0).any()
        or (sizes < 1).any()
        or (starts != np.r_[0, np.cumsum(sizes)[:-1]][: len(starts)]).any()
    ):
        raise ValueError("the categories of a tree do not fit together")
    if sizes.sum() != len(words) or (words < 0).any() or (words >= 2**24).any():
        raise ValueError("the categories of a tree do not fit together")
