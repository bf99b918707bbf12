"""A run in words, the same for the terminal and for the pages."""

from dataclasses import replace

import pytest

from metaml.experience.run_explained import NOT_KEPT, WITHOUT, explained, title_of
from metaml_kb import DatasetRecord, ProposalRecord, open_kb
from metaml_kb.lookup import StoredRun, find_run
from tests.conftest import make_run


@pytest.fixture(scope="module")
def stored() -> StoredRun:
    with open_kb(":memory:") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass", n_rows=150))
        run = make_run(7)
        kb.add_run(run)
        return find_run(kb, run.identity)


def with_proposal(stored: StoredRun, **details: object) -> StoredRun:
    proposal = ProposalRecord("start", predicted_score=0.5, predicted_std=0.1, details=details)
    return replace(stored, run=replace(stored.run, origin="warm start", proposal=proposal))


def test_it_says_what_the_run_is(stored):
    facts, _, _ = explained(stored)

    assert title_of(stored).endswith("random_forest on iris, ok")
    assert dict(facts)["Data"] == ["iris: multiclass, 150 rows"]
    assert "accuracy 0.6250 (0.5000 to 0.7500 over 2 folds)" in dict(facts)["Score"]


def test_a_run_without_experience_says_so(stored):
    assert explained(stored)[2][-1] == ("", [WITHOUT])


def test_reasons_and_past_data_sets_are_listed(stored):
    carriers = [{"dataset": "wine", "standing": 1.25, "distance": 0.5}]

    _, proposed, past = explained(with_proposal(stored, expected=0.4, reasons=["deep"], carriers=carriers))

    assert dict(proposed)["Predicted"]
    assert dict(past)["Reasons"] == ["deep"]
    assert dict(past)["Past data sets"] == ["wine: +1.2 sd, distance 0.50"]
    assert dict(past)["Experience"] == ["+0.40 sd expected, in the scores of a data set like this"]


def test_experience_that_kept_no_reasons_says_so(stored):
    assert ("", [NOT_KEPT]) in explained(with_proposal(stored))[2]


def test_a_deviation_of_zero_that_an_earlier_version_stored_is_not_shown(stored):
    told = with_proposal(stored)
    proposal = replace(told.run.proposal, predicted_std=0.0)

    (line, *_) = dict(explained(replace(told, run=replace(told.run, proposal=proposal)))[1])["Predicted"]

    assert "±" not in line
    assert "sd" not in line
