"""The nearest neighbour and naive Bayes of the landmarkers."""

import numpy as np
import pytest

from metaml.metafeatures.bayes import naive_bayes
from metaml.metafeatures.neighbour import nearest_share
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


def test_a_missing_number_is_as_far_away_as_it_could_be():
    train = view([[0.0], [1.0], [np.nan]], np.zeros((3, 0)), [0, 1, 1])
    test = view([[0.8], [np.nan], [0.1]], np.zeros((3, 0)), [0, 0, 0])

    share = nearest_share(train, test, np.eye(3))

    # From missing all are at distance 1, from 0.1 the missing one is at 0.9.
    assert share == pytest.approx(np.array([[0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]]))


def test_different_categories_are_at_distance_one_and_equals_vote_together():
    train = view([[0.0], [0.9], [0.0]], [[0], [1], [0]], [0, 1, 1])
    test = view([[0.9], [0.0]], [[0], [0]], [0, 0])

    share = nearest_share(train, test, np.eye(2)[train.y])

    # (0.9, level 0) is at 1 from all three rows after scaling; (0, level 0) meets rows one and three.
    assert share == pytest.approx(np.array([[1 / 3, 2 / 3], [0.5, 0.5]]))


def test_naive_bayes_counts_categories_with_one_added():
    train = view(np.zeros((4, 0)), [[0], [0], [1], [1]], [0, 0, 0, 1])
    test = view(np.zeros((2, 0)), [[0], [-1]], [0, 0])

    probabilities = naive_bayes(train, test)

    # Priors 4/6 and 2/6; level 0 has probability 3/5 in class 0 and 1/3 in class 1.
    a, b = 4 / 6 * 3 / 5, 2 / 6 * 1 / 3
    assert probabilities[0] == pytest.approx([a / (a + b), b / (a + b)])
    assert probabilities[1] == pytest.approx([4 / 6, 2 / 6])


def test_naive_bayes_finds_the_nearer_normal_density():
    train = view([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], np.zeros((6, 0)), [0, 0, 0, 1, 1, 1])
    test = view([[0.15], [0.85]], np.zeros((2, 0)), [0, 1])

    assert naive_bayes(train, test).argmax(axis=1).tolist() == [0, 1]
