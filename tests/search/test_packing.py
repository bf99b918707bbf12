"""The knapsack: what fits is chosen, what is chosen fits."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.search.packing import pack

lengths = st.lists(st.floats(0.05, 6.0), min_size=1, max_size=6)


@given(lengths, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_worker_gets_more_than_the_time_and_no_job_is_given_twice(seconds, n_workers):
    packed = pack(np.array(seconds), np.ones(len(seconds)), n_workers, 4.0)

    places = [place for jobs in packed for place in jobs]
    assert len(packed) == n_workers
    assert len(places) == len(set(places))
    assert all(sum(seconds[place] for place in jobs) <= 4.0 + 1e-9 for jobs in packed)


@given(lengths)
@settings(max_examples=60, deadline=None)
def test_one_worker_gets_the_most_valuable_set(seconds):
    # Whole units of the time, so that rounding up loses nothing.
    seconds = np.maximum(np.round(np.array(seconds) * 10), 1) / 10
    values = np.arange(len(seconds), 0, -1.0)

    [jobs] = pack(seconds, values, 1, 4.0)

    possible = [list(np.flatnonzero(mask)) for mask in product((False, True), repeat=len(seconds))]
    best = max(values[chosen].sum() for chosen in possible if seconds[chosen].sum() <= 4.0 + 1e-9)
    assert values[jobs].sum() == best


def test_a_job_that_is_longer_than_the_time_is_left_out():
    assert pack(np.array([5.0, 1.0]), np.array([9.0, 1.0]), 2, 4.0) == [[1], []]
