"""Numbers and findings in words, the same everywhere."""

from dataclasses import replace

import pytest

from metaml.report import Final
from metaml.report.wording import (
    best_default,
    comparison,
    complete,
    counted,
    effort,
    error_of,
    fixed,
    listed,
    model_words,
    number,
    score_text,
    share,
    validated,
)
from tests.report.samples import failed, full, least, numeric


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.5000"), (12.3456, "12.346"), (54321.4, "54,321"), (-1.0, "−1.0000"), (2e9, "2e+09")]
)
def test_a_number_has_the_digits_that_are_worth_reading(value, text):
    assert number(value) == text


def test_what_is_unknown_is_a_dash():
    assert number(float("nan")) == share(float("inf")) == "–"


def test_nearly_all_is_not_called_all():
    assert share(0.99999) == ">99.9%"
    assert share(1.0) == "100%"
    assert fixed(-0.0001, 2) == "0.00"


def test_words_are_counted_and_listed_as_in_a_sentence():
    assert counted(1, "run") == "1 run"
    assert counted(2000, "run") == "2,000 runs"
    assert [listed(["a"]), listed(["a", "b"])] == ["a", "a and b"]


def test_a_loss_is_shown_positive_and_is_what_is_left_to_gain():
    assert score_text("neg_rmse", -2.5) == "2.5000"
    assert error_of("neg_rmse", -2.5) == 2.5
    assert error_of("roc_auc", 0.75) == 0.25


def test_a_constant_is_no_default_to_compare_with():
    assert best_default(full()) == ("default random_forest", 0.92)
    assert best_default(replace(full(), baselines={"constant": 0.5})) is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (least(), "No model"),
        (failed(), "A simple fallback model"),
        (full(), "A weighted ensemble of 2 models"),
        (numeric(), "A single svm model"),
    ],
    ids=["none", "fallback", "ensemble", "single"],
)
def test_a_model_is_the_subject_of_its_sentence(data, words):
    assert model_words(data) == words


@pytest.mark.parametrize(
    ("score", "says"),
    [(0.96, "50% smaller"), (0.92, "nothing better was found"), (0.9, "not better than that"), (float("nan"), "")],
)
def test_the_model_is_compared_with_the_best_default(score, says):
    data = replace(full(), final=Final(kind="single", score=score))

    assert says in comparison(data)
    assert bool(comparison(data)) == bool(says)


def test_equal_scores_stand_in_the_order_of_evaluation_and_incomplete_ones_nowhere():
    data = full()
    flat = replace(data, trials=[replace(row, score=0.9) for row in data.trials])

    assert [row.number for row in complete(flat)] == [row.number for row in data.trials if row.status == "ok"]


def test_the_effort_tells_evaluations_algorithms_time_and_how_they_ended():
    assert effort(full()) == (
        "40 evaluations of 3 algorithms in 30 s of a budget of 30 s: 35 complete and 5 stopped early."
    )
    assert effort(least()) == "No evaluation finished in 1.0 s."


def test_a_single_fold_is_held_out():
    assert validated(full()) == "cross-validated"
    assert validated(replace(full(), session=replace(full().session, n_folds=1))) == "held-out"
