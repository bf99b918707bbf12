"""The list of runs: filters, orders, pages."""

import re

import pytest

from metaml.web import runs as module
from tests.web.asking import page_at, text_at
from tests.web.samples import HOSTILE, TUNE, fingerprint


def test_filters_are_combined(catalogue):
    rows = (
        page_at(catalogue, "/runs", dataset="data-1", algorithm="svm", status="ok", origin="random").sheets["runs"].rows
    )

    assert len(rows) == 9
    assert {row["algorithm"] for row in rows} == {"svm"}


@pytest.mark.parametrize("order", ["newest", "oldest", "best", "longest"])
def test_pages_follow_one_another_without_a_gap(catalogue, order, monkeypatch):
    monkeypatch.setattr(module, "PER_PAGE", 10)
    monkeypatch.setattr(module, "MOST_BEST", 0)
    seen, query = [], {"dataset": fingerprint(1), "sort": order}
    while True:
        page = page_at(catalogue, "/runs", **query)
        seen += [row["run"] for row in page.sheets["runs"].rows]
        following = re.search(r"after=(\d+)[^\"]*\" rel=\"next\"", page.content)
        if following is None:
            break
        query["after"] = following[1]

    assert len(seen) == len(set(seen)) == 36


def test_the_best_come_first_by_the_metric_that_is_asked_for(in_file):
    for metric, is_loss in (("accuracy", False), ("neg_log_loss", True)):
        page = page_at(in_file, "/runs", dataset=fingerprint(1), sort="best", metric=metric)
        scores = [row["score"] for row in page.sheets["runs"].rows]

        assert scores == sorted(scores, reverse=not is_loss)


def test_words_that_name_nothing_are_said_and_ignored(in_file):
    said = text_at(in_file, "/runs", dataset="nobody", session="zz", sort="best")

    assert "No single data set is called 'nobody'" in said
    assert "No single session begins with 'zz'" in said
    assert "Choose a data set to sort" in said


def test_a_rare_kind_of_run_is_found(in_file):
    rows = page_at(in_file, "/runs", status="failed", session=TUNE[:6]).sheets["runs"].rows

    assert [row["status"] for row in rows] == ["failed"]
    assert "No run passes" in text_at(in_file, "/runs", status="memory")


def test_a_download_has_more_than_a_page(in_file):
    page = page_at(in_file, "/runs", csv="runs")

    assert len(page.sheets["runs"].rows) == 454
    assert HOSTILE in {row["dataset"] for row in page.sheets["runs"].rows}
