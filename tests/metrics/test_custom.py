"""Metrics of the user's own: functions and scorers of scikit-learn, and what may go wrong with them."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, make_scorer, mean_absolute_error, roc_auc_score

from metaml.errors import BadRequest
from metaml.metrics import known, metric
from metaml.metrics.custom import custom_metric, custom_name

LABELS = np.array(["no", "yes"])
TRUTH = np.array([0, 1, 1, 0, 1])
CHANCES = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])


def approvals(y_true, prediction):
    return float(np.sum((y_true == "yes") & (prediction == "yes")))


def test_a_function_sees_labels_as_the_user_knows_them():
    found = custom_metric(approvals, "binary", LABELS)

    assert found.name == "custom:approvals"
    assert found.function(TRUTH, CHANCES) == 2.0


def test_a_scorer_gets_labels_or_probabilities_as_it_asks():
    by_label = custom_metric(make_scorer(accuracy_score), "binary", LABELS)
    by_chance = custom_metric(make_scorer(roc_auc_score, response_method="predict_proba"), "binary", LABELS)
    loss = custom_metric(
        make_scorer(log_loss, response_method="predict_proba", greater_is_better=False), "binary", LABELS
    )

    assert by_label.function(TRUTH, CHANCES) == pytest.approx(0.8)
    assert by_chance.function(TRUTH, CHANCES) == pytest.approx(roc_auc_score(TRUTH, CHANCES[:, 1]))
    assert loss.function(TRUTH, CHANCES) == pytest.approx(-log_loss(TRUTH, CHANCES))
    assert (by_label.name, loss.name) == ("custom:accuracy_score", "custom:log_loss")


def test_a_scorer_of_numbers_gets_values():
    found = custom_metric(make_scorer(mean_absolute_error, greater_is_better=False), "regression", None)

    assert found.needs == "values"
    assert found.function(np.array([1.0, 2.0]), np.array([2.0, 2.0])) == -0.5


def test_weights_go_to_those_that_take_them_and_others_say_so():
    weight = np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    scorer = custom_metric(make_scorer(accuracy_score), "binary", LABELS)

    assert scorer.function(TRUTH, CHANCES, weight) == pytest.approx(4 / 7)
    with pytest.raises(BadRequest, match=r"approvals failed: TypeError: rows have weights.*takes no sample_weight"):
        custom_metric(approvals, "binary", LABELS).function(TRUTH, CHANCES, weight)


def test_what_goes_wrong_is_one_sentence():
    def broken(y_true, prediction):
        raise KeyError("price")

    def wordy(y_true, prediction):
        return "very good"

    for function, message in ((broken, "broken failed: KeyError: 'price'"), (wordy, "returned 'very good'")):
        with pytest.raises(BadRequest, match=message):
            custom_metric(function, "binary", LABELS).function(TRUTH, CHANCES)
    with pytest.raises(BadRequest, match="a name or a function, not 3"):
        custom_metric(3, "binary", LABELS)


def test_an_undefined_value_is_no_score():
    assert np.isnan(custom_metric(lambda y, p: np.inf, "binary", LABELS).function(TRUTH, CHANCES))


def test_a_metric_is_known_by_its_name_only_where_it_was_given():
    found = custom_metric(approvals, "binary", LABELS)

    with known(found):
        assert metric("custom:approvals") is found
    absent = metric("custom:approvals")
    assert (absent.label, absent.highest) == ("approvals", np.inf)
    with pytest.raises(BadRequest, match="is a function of the program that ran the search"):
        absent.function(TRUTH, CHANCES)


def test_the_name_of_a_function_without_one_is_still_a_name():
    assert custom_name(lambda y, p: 1.0) == "custom:lambda"
