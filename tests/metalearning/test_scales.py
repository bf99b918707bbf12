"""Scores on a scale that is common to all data sets."""

import numpy as np
import pytest

from metaml.metalearning.scales import as_scored, comparable, normal_scores, standardised, within_groups


def test_flat_data_set_has_zeros_on_both_scales():
    y = np.array([0.8, 0.8, 0.8])

    assert standardised(y).tolist() == [0.0, 0.0, 0.0]
    assert normal_scores(y).tolist() == [0.0, 0.0, 0.0]


def test_scores_equal_up_to_rounding_are_equal():
    y = np.array([0.1 + 0.2, 0.3, 0.3])

    assert standardised(y).tolist() == [0.0, 0.0, 0.0]


def test_scores_are_scaled_within_their_own_data_set():
    y, groups = np.array([1.0, 30.0, 3.0, 10.0]), np.array([0, 1, 0, 1])

    assert within_groups(y, groups, standardised).tolist() == [-1.0, 1.0, 1.0, -1.0]


def test_ties_share_their_mean_rank():
    scores = normal_scores(np.array([0.5, 0.5, 0.1, 0.9]))

    assert scores[0] == scores[1] == pytest.approx(0.0)
    assert scores[2] == -scores[3]


def test_a_loss_in_the_unit_of_the_target_is_compared_by_its_logarithm():
    metres, kilometres = np.array([-1000.0, -500.0]), np.array([-1.0, -0.5])

    assert np.diff(comparable(metres, "neg_rmse")) == pytest.approx(np.diff(comparable(kilometres, "neg_rmse")))
    assert comparable(metres, "accuracy") is metres


def test_comparable_scores_come_back_in_the_unit_of_the_metric():
    scores = np.array([-4.0, -2.0])

    mean, std = as_scored(comparable(scores, "neg_rmse"), np.array([0.1, 0.1]), "neg_rmse")

    assert mean == pytest.approx(scores)
    assert std == pytest.approx([0.4, 0.2])
