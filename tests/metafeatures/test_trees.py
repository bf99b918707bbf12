"""The trees of the landmarkers: grown, pruned as C4.5 does, with ordered levels."""

import numpy as np
import pytest

from metaml.metafeatures.trees import added_errors, encode, encoders, grow, pessimistic_leaves
from metaml.metafeatures.view import View


def view(numbers, codes, y) -> View:
    y = np.asarray(y)
    return View(
        numbers=np.asarray(numbers, dtype=float).reshape(y.size, -1),
        codes=np.asarray(codes, dtype=int).reshape(y.size, -1),
        y=y,
        n_classes=2,
        task="binary",
    )


def test_added_errors_are_those_of_quinlans_example():
    # C4.5: Programs for Machine Learning, section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750.
    n = np.array([6.0, 9.0, 1.0])

    share = added_errors(n, np.zeros(3), 0.25) / n

    assert share == pytest.approx([0.206, 0.143, 0.750], abs=1e-3)


def test_pruning_cuts_splits_that_only_fit_noise():
    rng = np.random.default_rng(0)
    noise = view(rng.random((200, 3)), np.zeros((200, 0)), rng.integers(0, 2, 200))
    tree = grow(encode(noise, encoders(noise)), noise.y, 2, min_leaf=2)

    hard = tree.cut(pessimistic_leaves(tree, 0.00001))

    assert tree.left.size > 20
    assert np.unique(hard).size < 5


def test_levels_are_ordered_by_their_class_shares():
    train = view(np.zeros((6, 0)), [[0], [0], [1], [1], [2], [2]], [0, 1, 1, 1, 0, 0])

    (places,) = encoders(train)

    assert np.argsort(places).tolist() == [2, 0, 1]
