from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml.ensemble.pool import distinct, n_each_for, pool

evaluations = st.lists(st.tuples(st.sampled_from("abc"), st.floats(-1, 1)), min_size=1, max_size=30)


@given(evaluations, st.integers(0, 5), st.integers(1, 3))
def test_the_best_of_all_and_of_each_algorithm_stay(found, n_best, n_each):
    algorithms, scores = zip(*found, strict=True)

    kept = pool(algorithms, scores, n_best=n_best, n_each=n_each)

    assert all(scores[a] >= scores[b] for a, b in pairwise(kept))
    assert len(kept) == len(set(kept))
    by_score = sorted(scores, reverse=True)
    assert [scores[place] for place in kept][: min(n_best, len(scores))] == by_score[:n_best]
    for name in set(algorithms):
        own = sorted((score for other, score in found if other == name), reverse=True)
        assert sorted((scores[p] for p in kept if algorithms[p] == name), reverse=True)[:n_each] == own[:n_each]


def test_one_algorithm_does_not_crowd_out_the_others():
    algorithms = ["xgboost"] * 100 + ["mlp", "svm"]
    scores = np.append(np.linspace(0.9, 0.8, 100), [0.7, 0.6])

    kept = pool(algorithms, scores, n_best=10, n_each=3)

    assert len(kept) == 12
    assert kept[-2:] == [100, 101]


def test_a_near_duplicate_counts_once():
    rng = np.random.default_rng(0)
    best = rng.dirichlet([1, 1, 1], size=200)
    nearly = best + 1e-4 * rng.normal(size=best.shape)
    other = rng.dirichlet([1, 1, 1], size=200)

    assert distinct([best, nearly, other, best.copy()]) == [0, 2]


def test_rows_without_a_prediction_do_not_make_a_difference():
    first, second = np.array([1.0, 2.0, np.nan, 4.0]), np.array([1.0, np.nan, 3.0, 4.0])

    assert distinct([first, second]) == [0]


@pytest.mark.parametrize("predictions", [[], [np.full(3, 0.5)]])
def test_nothing_and_one_alone_are_distinct(predictions):
    assert distinct(predictions) == list(range(len(predictions)))


def test_more_rows_allow_more_candidates():
    sizes = [n_each_for(n) for n in (10, 1_000, 10_000, 1_000_000)]

    assert sizes == sorted(sizes)
    assert sizes[0] >= 1
