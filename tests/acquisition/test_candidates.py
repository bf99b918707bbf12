"""What can be proposed: points of a space, or recorded configurations."""

import numpy as np
import pytest

from metaml.acquisition.candidates import PoolCandidates, SpaceCandidates, key_of
from metaml.acquisition.committee import Committee, Expert
from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Space

SPACE = Space([Choice("kind", ("a", "b"), default="a"), Float("x", 0.0, 1.0, default=0.5)])
POOL = [{"kind": "a", "x": 0.1}, {"kind": "b", "x": 0.9}, {"kind": "a", "x": 0.6}]


def nothing_taken(key):
    return False


def likes_large_x(candidates):
    """Return a committee that has seen scores rise with x."""
    configs = [{"kind": "ab"[k % 2], "x": k / 10} for k in range(11)]
    rows = np.array([candidates.row(config) for config in configs])
    return Committee((Expert("gaussian_process", "upper_bound"),)).fit(rows, rows[:, -1], np.full(11, np.nan), seed=0)


def test_the_order_of_parameters_makes_no_other_configuration():
    assert key_of({"x": 1, "kind": "a"}) == key_of({"kind": "a", "x": 1})
    assert key_of({"x": 1}) != key_of({"x": 2})


def test_what_has_no_effect_is_no_part_of_the_key():
    candidates = SpaceCandidates(SPACE, inert=["kind"])

    assert candidates.key({"kind": "a", "x": 0.3}) == candidates.key({"kind": "b", "x": 0.3})
    assert candidates.key({"kind": "a", "x": 0.3}) != candidates.key({"kind": "a", "x": 0.4})


def test_a_point_of_a_space_has_no_position():
    assert SpaceCandidates(SPACE).index({"kind": "a", "x": 0.1}) is None


def test_the_best_point_of_a_space_is_a_valid_one_that_the_committee_values():
    candidates = SpaceCandidates(SPACE)

    best = candidates.best(likes_large_x(candidates), [], nothing_taken, np.random.default_rng(0))

    assert SPACE.is_valid(best.config)
    assert best.config["x"] > 0.9
    assert best.value is not None


def test_a_point_that_is_taken_is_not_drawn():
    tiny = Space([Choice("kind", ("a", "b"), default="a")])
    candidates = SpaceCandidates(tiny)
    a_is_taken = {candidates.key({"kind": "a"})}.__contains__

    drawn = [candidates.random(a_is_taken, np.random.default_rng(seed)).config for seed in range(5)]

    assert drawn == [{"kind": "b"}] * 5


def test_a_search_that_does_not_exist_is_refused():
    with pytest.raises(BadRequest, match="No candidate search is named 'grid'"):
        SpaceCandidates(SPACE, search="grid")


def test_the_best_of_a_pool_is_the_one_the_committee_values_most():
    pool = PoolCandidates(POOL)

    best = pool.best(likes_large_x(pool), [], nothing_taken, np.random.default_rng(0))

    assert (best.index, best.config) == (1, POOL[1])
    assert best.row.tolist() == pool.rows[1].tolist()


def test_a_configuration_outside_the_pool_has_a_row_but_no_position():
    pool = PoolCandidates(POOL)

    assert pool.index(POOL[2]) == 2
    assert pool.index({"kind": "b", "x": 0.5}) is None
    assert pool.row({"kind": "b", "x": 0.5}).shape == pool.row(POOL[0]).shape


def test_a_pool_that_is_used_up_says_so():
    with pytest.raises(BadRequest, match="All 3 configurations of the pool are taken"):
        PoolCandidates(POOL).random(lambda key: True, np.random.default_rng(0))
