"""Scales of the scores, computed by hand."""

import numpy as np

from metaml.surrogates.targets import TARGETS, clip, rank, raw


def test_ranks_become_normal_scores():
    assert rank(np.array([0.1, 0.9, 0.5, 0.5])).round(3).tolist() == [-1.15, 1.15, 0.0, 0.0]


def test_raw_scores_are_standardised():
    assert raw(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]


def test_one_disaster_does_not_flatten_the_rest():
    scores = np.array([-100.0, 0.80, 0.81, 0.82, 0.83])

    assert np.ptp(clip(scores)[1:]) > 1.0
    assert np.ptp(raw(scores)[1:]) < 0.01


def test_equal_scores_are_zero_in_every_scale():
    for scale in TARGETS.values():
        assert not scale(np.full(4, 0.3)).any()
