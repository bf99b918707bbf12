"""The page of an algorithm: what takes long comes after the page."""

import pytest

from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked
from metaml.web.site import answer
from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, SessionRecord, open_kb
from tests.report.reading import sections, words
from tests.web.asking import page_at
from tests.web.samples import BOT, HOSTILE, N_FOLDS, TASKS, fingerprint, run_of


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


def test_runs_of_the_same_configurations_need_no_model_and_an_unknown_gain_is_no_empty_table():
    with open_kb(":memory:") as kb:
        environment = kb.add_environment(EnvironmentRecord({}))
        kb.add_fold_plan(FoldPlanRecord("3-fold", "stratified", N_FOLDS, seed=0))
        kb.add_session(SessionRecord(BOT, "bot", 1.7e9, 1.7e9 + 500, 1))
        for number in (1, 4):
            kb.add_dataset(DatasetRecord(fingerprint(number), f"data-{number}", task=TASKS[number % 3], n_rows=100))
            kb.add_runs([run_of(number, "my_learner", draw, 0.8 + 0.01 * draw, environment) for draw in range(9)])

        page = page_at(Catalogue(kb), "/algorithms/my_learner", part="tunability", metric="accuracy").content

    assert "no score had to be predicted" in words(page)
    assert "what a single setting gains is not known" in words(page)
    assert "<table" not in page


def test_a_page_in_a_file_is_whole(in_file):
    page = answer(in_file, Asked("/algorithms/my_learner", is_file=True))

    assert "hx-get" not in page.content
    assert {"importance", "best", "ranges", "tunability"} <= sections(page.content)


def test_a_hostile_name_has_a_page_and_an_unknown_one_has_none(in_file):
    from urllib.parse import quote

    assert page_at(in_file, f"/algorithms/{quote(HOSTILE, safe='')}").title == HOSTILE
    with pytest.raises(NotThere):
        page_at(in_file, "/algorithms/unknown")
