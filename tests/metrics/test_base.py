"""What a metric says of itself, and means over rows."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.metrics import metric
from metaml.metrics.base import mean_over_rows, rarer_class


def test_a_loss_has_the_sign_and_the_highest_score_of_a_loss():
    loss, gain = metric("log_loss"), metric("accuracy")

    assert (loss.highest, loss.sign) == (0.0, -1)
    assert (gain.highest, gain.sign) == (1.0, 1)


def test_an_unknown_metric_is_answered_with_the_names_that_people_type():
    with pytest.raises(BadRequest, match=r"'kapa'.*: accuracy, .*log_loss, brier, rmse") as raised:
        metric("kapa")

    assert "neg_" not in str(raised.value)


def test_a_mean_over_rows_counts_a_row_of_weight_two_twice():
    values = np.array([1.0, 2.0, 6.0])

    assert mean_over_rows(values, np.array([2.0, 1.0, 0.0])) == pytest.approx(4 / 3)
    assert mean_over_rows(values, None) == 3.0


def test_weights_do_not_change_which_class_is_rarer():
    truth, labels, weight = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 1.0, 9.0])

    assert rarer_class(truth) == 1
    assert metric("f1").function(truth, labels, weight) == pytest.approx(18 / 19)
