"""What a report is made of: plain values, most of them optional."""

from dataclasses import FrozenInstanceError, replace

import pytest

from metaml.report import render
from tests.report.reading import sections, words
from tests.report.samples import failed, least


def test_what_is_not_known_is_left_out_or_explained():
    page = render(least())

    assert sections(page) == {"data", "progress", "experience", "versions"}
    assert "No model was found." in words(page)
    assert "No evaluation finished" in words(page)
    assert "No knowledge base took part" in words(page)


def test_a_reason_that_is_given_is_shown():
    page = render(replace(failed(), absent={"features": "The budget was too short to measure it."}))

    assert "The budget was too short to measure it." in words(page)


def test_a_report_can_be_made_of_very_little_and_is_not_changed_afterwards():
    data = least()

    assert (data.trials, data.final, data.experience) == ((), None, None)
    with pytest.raises(FrozenInstanceError):
        data.metric = "accuracy"
