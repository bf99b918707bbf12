"""The opening of a report: what was found, and what was read."""

from dataclasses import replace

from metaml.report import render
from tests.report.reading import words
from tests.report.samples import failed, full, numeric


def test_the_opening_says_what_was_found_against_the_best_default():
    text = words(render(full()))

    assert "A weighted ensemble of 2 models predicts repaid with a cross-validated ROC AUC 0.9600." in text
    assert "The best default, random_forest, reached 0.9200; the distance to a perfect ROC AUC is 50% smaller." in text


def test_a_loss_is_shown_positive():
    text = words(render(numeric()))

    assert "A single svm model predicts price with a cross-validated RMSE 9.0000." in text
    assert "the RMSE is 25% lower" in text
    assert "Truth against prediction" in text


def test_a_fallback_is_labelled():
    text = words(render(failed()))

    assert "This is a fallback" in text
    assert "1 failed" in text


def test_a_fallback_tells_its_reason_once():
    data = failed()
    text = words(render(replace(data, final=replace(data.final, why="the time was up; give more"))))

    assert text.count("the time was up") == 1
    assert "This is a fallback: the time was up; give more." in text


def test_tuned_decisions_are_shown_as_a_threshold():
    assert "class yes is predicted from a probability of 0.8000" in words(render(full()))
