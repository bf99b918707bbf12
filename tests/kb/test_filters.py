"""A filter for something that is not there says so, and names what is."""

import time

import pytest

from metaml_kb import DatasetRecord, SessionRecord
from metaml_kb.errors import BadQuery


def test_a_mistyped_data_set_is_answered_with_the_nearest_names_first(kb):
    for number, name in enumerate(["abalone", "bank", "car", "dna", "ecoli", "flags", "glass", "heart", "tumours"]):
        kb.add_dataset(DatasetRecord(f"{number:032}", name))

    with pytest.raises(BadQuery, match=r"no data set tumors .*Known: tumours, abalone, .* and 2 more\."):
        kb.runs(dataset="tumors")


def test_one_mistyped_data_set_among_several_is_named(kb, run_of):
    kb.add_run(run_of(1))

    with pytest.raises(BadQuery, match="no data set wien "):
        kb.runs(dataset=["iris", "wien"])


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"algorithm": "svmm"}, r"no algorithm svmm .*Known: svm, random_forest\."),
        ({"algorithm": ["svm", "forest"]}, r"no algorithm forest .*Known: random_forest"),
        ({"status": "okay"}, r"no status okay .*Known: ok, "),
        ({"origin": "randm"}, r"no origin randm .*Known: random, "),
        (
            {"session": "foo"},
            r"no session foo .*Known: bot, import, starter, tune\. .*beginning of a",
        ),
    ],
)
def test_a_filter_for_what_is_not_there_is_refused(kb, run_of, wanted, told):
    kb.add_runs([run_of(1), run_of(2, algorithm="svm")])

    with pytest.raises(BadQuery, match=told):
        kb.runs(**wanted)


def test_a_limit_that_no_database_can_count_to_is_refused(kb):
    with pytest.raises(BadQuery, match=r"limit of 9999\d+ is more than .*Leave --limit out"):
        kb.runs(limit=99999999999999999999)


def test_a_word_that_no_run_has_yet_finds_nothing(kb, run_of):
    kb.add_run(run_of(1))

    assert kb.runs(status="memory").empty
    assert kb.runs(origin="warm start").empty
    assert kb.runs(session="tune").empty


def test_a_session_is_found_by_the_beginning_of_its_key(kb, run_of):
    for number, key in enumerate(["ab12", "ab34"]):
        kb.add_session(SessionRecord(key, "bot", 0.0))
        kb.add_run(run_of(number, session=key))

    assert kb.runs(session="ab3")["session"].tolist() == ["ab34"]
    assert kb.runs(session=["ab34", "ab1"])["session"].tolist() == ["ab12", "ab34"]
    with pytest.raises(BadQuery, match=r"2 sessions have a key that begins with ab: ab12, ab34\. Give more of it\."):
        kb.runs(session="ab")


def test_runs_that_came_with_the_starter_can_be_left_out(kb, run_of):
    kb.add_session(SessionRecord("s1", "starter", 0.0))
    kb.add_runs([run_of(1, session="s1"), run_of(2), run_of(3)])

    assert kb.runs(source="mine")["n_estimators"].tolist() == [2, 3]
    assert kb.runs(source="starter")["n_estimators"].tolist() == [1]
    with pytest.raises(BadQuery, match=r"no source yours .*Known: mine, starter"):
        kb.runs(source="yours")


def test_since_takes_an_age_as_on_the_command_line(kb, run_of):
    now = time.time()
    kb.add_runs([run_of(1, finished_at=now - 8 * 86_400), run_of(2, finished_at=now - 6 * 86_400)])

    assert kb.runs(since="7d")["n_estimators"].tolist() == [2]
    assert len(kb.runs(since="2w")) == 2
    with pytest.raises(BadQuery, match=r"'a week' is not a date\. Write a date as .* or an age as 2h, 7d"):
        kb.runs(since="a week")
    with pytest.raises(BadQuery, match="before the calendar begins"):
        kb.runs(since="999999999999w")


def test_runs_are_found_by_the_user_and_the_project_of_their_session(kb, run_of):
    for number, settings in enumerate([{"user": "ada", "project": "churn"}, {"project": "fraud"}, {}]):
        kb.add_run(run_of(number, session=kb.start_session("tune", settings=settings)))

    assert kb.runs(user="ada")["n_estimators"].tolist() == [0]
    assert kb.runs(project="fraud")["n_estimators"].tolist() == [1]
    with pytest.raises(BadQuery, match=r"no project frod .*Known: fraud, churn\. See: metaml kb sessions"):
        kb.runs(project="frod")
