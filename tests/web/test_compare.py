"""Runs and sessions side by side."""

import pytest

from metaml.web.missing import NotThere
from tests.report.reading import words
from tests.web.asking import page_at, text_at
from tests.web.samples import BOT, LIVE, TUNE, run_of, searched

FIRST, SECOND = (run_of(1, name, 2, 0.5, "").identity for name in ("svm", "lightgbm"))


def test_runs_are_compared_by_settings_scores_and_folds(catalogue):
    other = run_of(1, "svm", 3, 0.5, "").identity

    page = page_at(catalogue, "/compare", a=FIRST, b=other)

    settings = page.sheets["settings"]
    differing = [row["setting"] for row, is_marked in zip(settings.rows, settings.marked, strict=True) if is_marked]
    assert differing == ["depth", "mode", "rate"]
    assert len(page.sheets["scores"].rows) == 2
    assert "of each fold" in words(page.content)


def test_several_runs_can_be_compared(in_file):
    page = page_at(in_file, "/compare", run=f"{FIRST},{SECOND},{searched(1, TUNE, None).identity}")

    assert len(page.sheets["scores"].fields) == 4


def test_sessions_on_different_data_sets_do_not_compare_scores(in_file):
    said = text_at(in_file, "/compare", a=TUNE, b=BOT)

    assert "different data sets" in said


def test_searches_on_one_data_set_are_drawn_against_time_and_evaluations(in_file):
    page = page_at(in_file, "/compare", a=TUNE, b=LIVE)

    assert page.content.count("<svg") == 2
    assert "seconds since the start" in words(page.content)
    assert [row["took"] for row in page.sheets["sessions"].rows] == [60.0, None]


def test_fewer_than_two_ask_for_more_and_unknown_ones_are_not_there(in_file):
    assert "Give two keys" in text_at(in_file, "/compare", a=TUNE)
    with pytest.raises(NotThere):
        page_at(in_file, "/compare", a=FIRST, b="0123")
