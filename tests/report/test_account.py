"""The close of a report: experience, the ledger, how to use the model."""

from dataclasses import replace

import pytest

from metaml.report import ExperienceFacts, render
from metaml.report.account import ledger_rows
from tests.report.reading import section, words
from tests.report.samples import full


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
