"""Classes that a model file may contain, each with what is kept of it and how it is made again.

Every algorithm names the classes of its fitted models in `saves`. A class that holds only plain state is restored by
filling a blank object. A class that keeps its state in C, or cannot be trusted with it, has a recipe of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

State = dict[str, Any]
MOST_THREADS = {"n_threads": 1024, "n_jobs": 1024}
"""The attributes by which libraries start threads, and the most that a file may ask for."""


@dataclass(frozen=True)
class TrustedClass:
    """How objects of a class are saved and restored.

    `name` is what files call the class, `place` where it is imported from, written `package.module:Class`.
    `take(item)` returns what to keep of an object, by default its attributes; `make(class, state)` restores it.
    `forget` names attributes that predicting does not need; they are None in the restored object. `omit` names those
    for which the class itself has a default; files do not mention them.
    """

    name: str
    place: str
    forget: tuple[str, ...] = ()
    omit: tuple[str, ...] = ()
    take: Callable[[Any], State] | None = None
    make: Callable[[type, State], Any] | None = None

    @property
    def type(self) -> type:
        """Return the class; it is imported, and nothing else happens."""
        module, _, name = self.place.partition(":")
        found: type = getattr(import_module(module), name)
        return found

    def state_of(self, item: Any) -> State:
        """Return what to keep of an object."""
        if self.take is not None:
            return self.take(item)
        kept = {name: value for name, value in vars(item).items() if name not in self.omit}
        return {name: None if name in self.forget else value for name, value in kept.items()}

    def restored(self, state: State) -> Any:
        """Return an object with this state."""
        if self.make is not None:
            return self.make(self.type, state)
        return filled(self.type, state)


def filled(kind: type, state: State) -> Any:
    """Return a blank object with these attributes; nothing of the class is called."""
    for name, most in MOST_THREADS.items():
        if state.get(name) is not None and not (type(state[name]) is int and 1 <= state[name] <= most):
            raise ValueError(f"{name} is {state[name]!r:.40}")
    item: Any = object.__new__(kind)
    item.__dict__.update(state)
    return item


def check_nodes(left: Any, right: Any, is_leaf: Any, feature: Any, n_features: int | None) -> None:
    """Refuse trees whose nodes point backwards or outside: compiled code would follow them without a check."""
    inner = ~np.asarray(is_leaf)
    numbers = np.arange(len(inner))[inner]
    for child in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        if (child <= numbers).any() or (child >= len(inner)).any():
            raise ValueError("a tree points outside itself")
    if (feature[inner] < 0).any() or (n_features is not None and (feature[inner] >= n_features).any()):
        raise ValueError("a tree asks for columns that are not there")


def as_bytes(content: bytes | bytearray) -> State:
    """Return the state of an object that its library writes and reads as bytes."""
    return {"content": np.frombuffer(content, dtype=np.uint8)}


def _take_tree(tree: Any) -> State:
    _, (n_features, n_classes, n_outputs), state = tree.__reduce__()
    return {"n_features": n_features, "n_classes": n_classes, "n_outputs": n_outputs, "state": state}


def _make_tree(kind: type, kept: State) -> Any:
    nodes = kept["state"]["nodes"]
    check_nodes(
        nodes["left_child"], nodes["right_child"], nodes["left_child"] == -1, nodes["feature"], kept["n_features"]
    )
    classes = np.asarray(kept["n_classes"])
    shape = (len(nodes), kept["n_outputs"], int(classes.max()))
    if len(nodes) < 1 or len(nodes) != kept["state"]["node_count"] or kept["state"]["values"].shape != shape:
        raise ValueError("a tree has fewer nodes than it says")
    if classes.shape != (kept["n_outputs"],) or kept["state"]["values"].dtype != np.float64:
        raise ValueError("a tree has other values than it says")
    tree: Any = kind(kept["n_features"], kept["n_classes"], kept["n_outputs"])
    tree.__setstate__(kept["state"])
    return tree


def _make_decision_tree(kind: type, state: State) -> Any:
    """Return a tree that checks the number of columns before compiled code reads them."""
    item = filled(kind, state)
    # The trees of a forest do not know their number of columns; without it, scikit-learn checks nothing.
    if "tree_" in state:  # An ensemble also keeps one that was never fitted.
        item.n_features_in_ = state["tree_"].n_features
    return item


ESTIMATOR = partial(TrustedClass, forget=("head", "model", "settle"), omit=("train", "seconds", "stopped_early_"))

SHARED = (
    ESTIMATOR("TabularClassifier", "metaml.algorithms.tabular:TabularClassifier"),
    ESTIMATOR("TabularRegressor", "metaml.algorithms.tabular:TabularRegressor"),
    TrustedClass("Head", "metaml.algorithms.preprocessing:Head"),
    TrustedClass("Levels", "metaml.algorithms.categories:Levels"),
    TrustedClass("Impact", "metaml.algorithms.categories:Impact"),
    TrustedClass("QuantileTransformer", "sklearn.preprocessing:QuantileTransformer"),
)
"""What the models of all algorithms are wrapped in."""
TREE = TrustedClass("Tree", "sklearn.tree._tree:Tree", take=_take_tree, make=_make_tree)
DECISION_TREES = (
    TrustedClass("DecisionTreeClassifier", "sklearn.tree:DecisionTreeClassifier", make=_make_decision_tree),
    TrustedClass("DecisionTreeRegressor", "sklearn.tree:DecisionTreeRegressor", make=_make_decision_tree),
    TREE,
)
FOREST = TrustedClass("forest", "metaml.algorithms.forests:_Forest")
