"""Recorded runs compared from Python."""

import pytest

import metaml
from metaml.errors import BadRequest
from metaml_kb import open_kb
from tests.predicted import keep_predictions


@pytest.fixture(scope="module")
def kept():
    """A knowledge base in memory with kept predictions of six data sets."""
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 6)
        yield kb


def test_openings_are_compared_by_the_final_ensemble(kept):
    found = metaml.replay_ensembles(openings="ensemble/free,random/free", evaluations=[2], kb=kept)

    assert found.table["opening"].tolist() == ["ensemble/free", "random/free"]
    assert found.table["difference"].iloc[1] > 0


def test_all_openings_rules_and_budgets_are_combined(kept):
    found = metaml.replay_ensembles(
        openings=["levels", "ensemble"], rules="selected,best", evaluations=[2], seconds=[4.5], kb=kept
    )

    assert len(found.table) == 2 * 2 * 2


def test_data_sets_can_be_chosen(kept):
    found = metaml.replay_ensembles(openings="levels", evaluations=[2], datasets=["d0", "d1", "d2"], kb=kept)

    assert set(found.losses["name"]) == {"d0", "d1", "d2"}


def test_a_budget_of_nothing_is_refused(kept):
    with pytest.raises(BadRequest, match="budget"):
        metaml.replay_ensembles(evaluations=[0], kb=kept)


def test_optimisers_are_compared_on_recorded_runs(experienced):
    found = metaml.replay(
        optimisers="forest,random", algorithms="decision_tree", seeds=1, evaluations=10, kb=experienced
    )

    assert found.regret["optimiser"].tolist() == ["forest", "random"]
    assert found.regret["data sets"].tolist() == [14, 14]
