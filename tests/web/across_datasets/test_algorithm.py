"""The page of an algorithm: what takes long comes after the page."""

import pytest

from metaml.web.missing import NotThere
from metaml.web.page import Asked
from metaml.web.site import answer
from tests.report.reading import sections, words
from tests.web.asking import page_at
from tests.web.samples import HOSTILE


def test_the_page_asks_for_its_parts_when_it_is_there(catalogue):
    page = page_at(catalogue, "/algorithms/my_learner")

    assert page.content.count('hx-trigger="load"') == 2
    part = page_at(catalogue, "/algorithms/my_learner", part="settings", metric="accuracy")
    assert part.is_part
    assert {"importance", "best", "ranges"} <= sections(part.content)


def test_its_tables_can_be_downloaded(in_file):
    table = page_at(in_file, "/algorithms/my_learner", csv="ranges", metric="accuracy").sheets["ranges"]

    assert {row["setting"] for row in table.rows} >= {"rate", "depth"}


def test_too_few_runs_are_said_to_be_too_few(in_file):
    assert "20 runs" in words(page_at(in_file, "/algorithms/my_learner", part="tunability").content)


def test_a_page_in_a_file_is_whole(in_file):
    page = answer(in_file, Asked("/algorithms/my_learner", is_file=True))

    assert "hx-get" not in page.content
    assert {"importance", "best", "ranges", "tunability"} <= sections(page.content)


def test_a_hostile_name_has_a_page_and_an_unknown_one_has_none(in_file):
    from urllib.parse import quote

    assert page_at(in_file, f"/algorithms/{quote(HOSTILE, safe='')}").title == HOSTILE
    with pytest.raises(NotThere):
        page_at(in_file, "/algorithms/unknown")
