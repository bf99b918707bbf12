"""Check the text of a LightGBM model before LightGBM reads it: its own parser follows whatever the text says."""

import re

import numpy as np

from metaml.arrays import Array

_HEADER = re.compile(r"[a-z_]+=[^\x00\n]*|average_output|tree")
_NEEDED = ("num_class", "num_tree_per_iteration", "max_feature_idx", "tree_sizes")
_TREE_KEYS = frozenset(
    [
        "num_leaves",
        "num_cat",
        "split_feature",
        "split_gain",
        "threshold",
        "decision_type",
        "left_child",
        "right_child",
        "leaf_value",
        "leaf_weight",
        "leaf_count",
        "internal_value",
        "internal_weight",
        "internal_count",
        "cat_boundaries",
        "cat_threshold",
        "is_linear",
        "shrinkage",
    ]
)
_OBJECTIVE = re.compile(r"[a-z0-9_]+( [a-z_]+:[-+.0-9e]+)*")
_REST = re.compile(
    r"\nfeature_importances:\n([^\n=]+=\d+\n)*\nparameters:\n(\[[a-z0-9_]+: [^\[\]\n]*\]\n)+\nend of parameters\n"
    r"(\npandas_categorical:null\n)?"
)
"""What follows the trees. LightGBM crashes on parameters that are not written this way."""
_CATEGORICAL = 1
MOST_COLUMNS, MOST_CLASSES = 10_000_000, 1_000_000
Facts = dict[str, str]


def checked_text(text: str, n_classes: int | None = None) -> str:
    """Return the text if every tree stays within itself, its columns and its categories; else raise ValueError."""
    head, trees, rest = _parts(text)
    if not _REST.fullmatch(rest):
        raise ValueError("the parameters of a booster are not written as they should be")
    n_columns = _whole(head["max_feature_idx"]) + 1
    per_round, classes = _whole(head["num_tree_per_iteration"]), _whole(head["num_class"])
    if not 1 <= n_columns <= MOST_COLUMNS or not 1 <= classes <= MOST_CLASSES or per_round != classes:
        raise ValueError("the text of a booster has an impossible header")
    if n_classes is not None and classes != n_classes:
        raise ValueError("a booster has another number of classes")
    for name in ("feature_names", "feature_infos"):
        if len(head.get(name, "").split(" ")) != n_columns:
            raise ValueError("the text of a booster does not name its columns")
    if "objective" in head and not _OBJECTIVE.fullmatch(head["objective"]):
        raise ValueError("the text of a booster has an impossible objective")
    sizes = [_whole(word) for word in head["tree_sizes"].split()]
    if sizes != [len(tree.encode()) for tree in trees] or len(trees) % per_round:
        raise ValueError("the trees of a booster have other sizes than it says")
    for number, tree in enumerate(trees):
        _check_tree(tree, number, n_columns)
    return text


def parameter_names(text: str) -> list[str]:
    """Return the names of the parameters that a text ends with."""
    return re.findall(r"^\[([a-z0-9_]+): ", text.partition("\nparameters:\n")[2], flags=re.MULTILINE)


def _parts(text: str) -> tuple[Facts, list[str], str]:
    """Return the header, the text of each tree, and what follows them."""
    if "\x00" in text or not text.startswith("tree\n"):
        raise ValueError("the text of a booster does not begin like one")
    before, found, after = text.partition("\nend of trees\n")
    if not found:
        raise ValueError("the text of a booster is cut short")
    header, _, rest = before.partition("\n\nTree=")
    lines = header.split("\n")
    if not all(_HEADER.fullmatch(line) for line in lines):
        raise ValueError("the text of a booster has an unknown line")
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    if any(name not in facts for name in _NEEDED) or len(facts) != sum("=" in line for line in lines):
        raise ValueError("the text of a booster lacks a line or has one twice")
    # A tree is the text from its name to the next one.
    trees = [f"Tree={piece}" for piece in f"{rest}\n".split("Tree=")] if rest else []
    return facts, trees, after


def _check_tree(text: str, number: int, n_columns: int) -> None:
    name, *lines = text.rstrip("\n").split("\n")
    facts = dict(line.split("=", 1) for line in lines if "=" in line)
    if name != f"Tree={number}" or not set(facts) <= _TREE_KEYS or len(facts) != len(lines):
        raise ValueError("a tree of a booster has an unknown line")
    n_leaves, n_sets = _whole(facts["num_leaves"]), _whole(facts["num_cat"])
    if n_leaves < 1 or n_sets < 0 or facts.get("is_linear", "0") != "0":
        raise ValueError("a tree of a booster is of an unknown kind")
    n_inner = n_leaves - 1
    for key in ("leaf_value", *(("leaf_weight", "leaf_count") if n_inner else ())):
        _numbers(facts.get(key, ""), np.float64, n_leaves)
    _numbers(facts.get("shrinkage", "1"), np.float64, 1)
    if not n_inner:
        return
    for key in ("split_gain", "internal_value", "internal_weight", "internal_count"):
        _numbers(facts.get(key, ""), np.float64, n_inner)
    columns = _numbers(facts["split_feature"], np.int64, n_inner)
    thresholds = _numbers(facts["threshold"], np.float64, n_inner)
    kinds = _numbers(facts["decision_type"], np.int64, n_inner)
    children = [_numbers(facts[key], np.int64, n_inner) for key in ("left_child", "right_child")]
    if (columns < 0).any() or (columns >= n_columns).any():
        raise ValueError("a tree asks for columns that are not there")
    if (kinds < 0).any() or (kinds > 15).any():
        raise ValueError("a tree decides in an unknown way")
    _check_children(children, n_leaves)
    _check_categories(facts, n_sets, thresholds[(kinds & _CATEGORICAL) == _CATEGORICAL])


def _check_children(children: list[Array], n_leaves: int) -> None:
    """Refuse a tree that leads backwards or outside: leaf k is written as -1 - k."""
    numbers = np.arange(n_leaves - 1)
    for child in children:
        inner = child >= 0
        if (child[inner] <= numbers[inner]).any() or (child >= n_leaves - 1).any() or (-1 - child >= n_leaves).any():
            raise ValueError("a tree points outside itself")


def _check_categories(facts: Facts, n_sets: int, asked: Array) -> None:
    if not n_sets:
        if len(asked):
            raise ValueError("a tree refers to categories that it does not have")
        return
    ends = _numbers(facts["cat_boundaries"], np.int64, n_sets + 1)
    words = _numbers(facts["cat_threshold"], np.int64, None)
    if (
        ends[0] != 0
        or (np.diff(ends) < 0).any()
        or ends[-1] != len(words)
        or (words < 0).any()
        or (words >= 2**32).any()
    ):
        raise ValueError("the categories of a tree do not fit together")
    if not np.isfinite(asked).all() or (asked < 0).any() or (asked >= n_sets).any() or (asked % 1 != 0).any():
        raise ValueError("a tree refers to categories that it does not have")


def _whole(word: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", word):
        raise ValueError(f"{word[:20]!r} is not a whole number")
    return int(word)


def _numbers(text: str, kind: type, n: int | None) -> Array:
    words = text.split(" ") if text else []
    if n is not None and len(words) != n:
        raise ValueError("a tree of a booster has a list of the wrong length")
    return np.array(words, dtype=np.str_).astype(kind) if words else np.empty(0, dtype=kind)
