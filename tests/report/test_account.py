"""The close of a report: experience, the ledger, how to use the model."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml.report import ExperienceFacts, TrialRow, WorthFacts, render
from metaml.report.account import _warm_starts, ledger_rows
from tests.report.reading import section, words
from tests.report.samples import full

STATUSES = ["ok", "timeout", "memory", "crashed", "failed"]


def test_an_empty_knowledge_base_is_no_contribution():
    assert "The knowledge base was empty." in words(
        render(replace(full(), experience=ExperienceFacts(n_datasets=0, n_runs=0)))
    )


def test_experience_that_could_not_be_used_is_not_called_empty():
    text = "Experience could not be used (OSError: no such file)."

    page = words(render(replace(full(), experience=ExperienceFacts(n_datasets=0, n_runs=0, text=text))))

    assert text in page
    assert "was empty" not in page


def test_the_guard_is_reported_either_way():
    never = replace(full(), experience=ExperienceFacts(n_datasets=2, n_runs=9, is_judged=True))

    assert "The guard switched experience off for svm and mlp, because" in words(render(full()))
    assert "the guard left it on to the end" in words(render(never))


def test_what_experience_saved_is_told_with_an_interval_or_why_it_cannot_be():
    worth = WorthFacts(n_evaluations=9, n_datasets=20, evaluations=(0.0, 6.0, 31.0), seconds=(0.0, 12.0, 62.0))
    known = ExperienceFacts(n_datasets=30, n_runs=900, n_warm_starts=6, worth=worth)

    page = words(render(replace(full(), experience=known)))

    assert "on the 20 most similar data sets, this opening of 9 evaluations saved 6 (0 to 31 on eight" in page
    assert "cannot be said" in words(render(replace(full(), experience=replace(known, worth=None))))
    assert "Replayed" not in words(render(replace(full(), experience=replace(known, n_warm_starts=0))))


def test_a_guard_that_had_nothing_to_judge_is_not_said_to_agree():
    unjudged = replace(full(), experience=ExperienceFacts(n_datasets=2, n_runs=9), trials=[])

    assert "guard" not in words(render(unjudged))


def test_the_ledger_adds_up_to_the_wall_time():
    complete = full()
    short = replace(complete, ledger={"evaluations": 20.0})

    assert ledger_rows(complete)[0] == ("describing the data set", 1.0)
    assert sum(seconds for _, seconds in ledger_rows(complete)) == pytest.approx(30.0)
    assert sum(seconds for _, seconds in ledger_rows(short)) == pytest.approx(30.0)
    assert ledger_rows(short)[-1] == ("not accounted for", 10.0)


def test_the_commands_to_use_the_model_can_be_copied():
    data = full()
    elsewhere = replace(data, session=replace(data.session, output="my results"))

    text = words(section("usage", render(elsewhere)))

    assert "metaml predict 'my results' new.csv -o predictions.csv --proba" in text
    assert "metaml show 'my results'" in text


def evaluation(number: int, origin: str, status: str = "ok", score: float = 0.9) -> TrialRow:
    value = score if status == "ok" else math.nan
    return TrialRow(number=number, algorithm="svm", status=status, origin=origin, score=value, seconds=1, at=number)


def told(trials: list[TrialRow], **facts: Any) -> str:
    known = ExperienceFacts(n_datasets=2, n_runs=9, n_warm_starts=1, **facts)
    return words(section("experience", render(replace(full(), trials=trials, experience=known))))


def test_a_warm_start_that_timed_out_as_the_third_is_told_as_that():
    trials = [evaluation(1, "default"), evaluation(2, "surrogate"), evaluation(3, "warm start", "timeout")]

    said = told(trials, inherited_from=["sales"], n_inherited=1)

    assert "1 configuration that did well there was evaluated, the last as number 3." in said
    assert "It did best on sales, which has the same columns." in said
    assert "It gave no score: 1 out of time." in said
    assert "first" not in said


def test_the_report_says_how_the_table_changed_since_its_earlier_version():
    drift = {"NumberOfInstances": (200.0, 1260.0), "MajorityClassPercentage": (61.0, 54.2)}

    said = told([evaluation(1, "warm start")], inherited_from=["sales"], n_inherited=1, drift=drift)

    expected = "Since then, it has 1,260 rows instead of 200 and the share of the largest class went from 61 to 54 %."
    assert expected in said


def test_what_was_never_evaluated_is_not_said_to_have_been():
    said = told([evaluation(1, "default")], inherited_from=["sales"], n_inherited=0)

    assert "No configuration that did well there was evaluated." in said
    assert "What did best on sales, which has the same columns, was not tried." in said


def test_warm_starts_before_the_search_are_told_with_what_they_reached():
    trials = [evaluation(1, "default", score=0.8), evaluation(2, "warm start"), evaluation(3, "warm start", "memory")]

    said = told([*trials, evaluation(4, "surrogate")])

    assert "2 configurations that did well there were evaluated before the search made choices of its own." in said
    assert "The best of them reached 0.9000, better than the best default (0.8000)." in said


@given(st.lists(st.tuples(st.sampled_from(["default", "warm start", "surrogate"]), st.sampled_from(STATUSES))))
def test_no_sentence_contradicts_the_evaluations(kinds):
    trials = [evaluation(number, *kind) for number, kind in enumerate(kinds, start=1)]
    warm = [trial for trial in trials if trial.origin == "warm start"]
    chosen = [trial.number for trial in trials if trial.origin == "surrogate"]

    said = _warm_starts(replace(full(), trials=trials), ExperienceFacts(n_datasets=2, n_runs=9))

    assert ("No configuration" in said) == (not warm)
    assert ("reached" in said) == any(trial.status == "ok" for trial in warm)
    assert ("gave" in said) == (bool(warm) and all(trial.status != "ok" for trial in warm))
    is_before = bool(warm and chosen) and max(trial.number for trial in warm) < min(chosen)
    assert ("before the search" in said) == is_before
