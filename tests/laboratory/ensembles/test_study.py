"""Openings compared by the final ensemble."""

import pytest

from metaml.errors import BadRequest
from metaml.laboratory.ensembles.study import SearchLimit, Way, budgets_named, relatives_of, study_ensembles, ways_named
from metaml_kb import open_kb
from tests.predicted import keep_predictions


def test_an_opening_for_ensembles_beats_chance_and_the_first_way_is_the_reference():
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 6)
        found = study_ensembles(kb, [Way("ensemble/free"), Way("random/free")], [SearchLimit(evaluations=2)])

    assert found.losses["dataset"].nunique() == 6
    assert found.table["difference"].iloc[0] == 0
    assert found.table["difference"].iloc[1] > 0


def test_a_budget_in_seconds_ends_with_the_last_run_that_fits():
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 4)
        found = study_ensembles(kb, [Way("ensemble/free")], [SearchLimit(seconds=4.5), SearchLimit(seconds=100.0)])

    n = found.losses.groupby("budget")["n"].mean()
    assert n["4.5 s"] < n["100 s"] == 5


def test_families_of_names_are_left_out_together():
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 3)
        found = relatives_of(kb, [{"d0", "d2"}])

    assert {f"{0:032x}", f"{2:032x}"} <= found[f"{0:032x}"]
    assert f"{2:032x}" not in found[f"{1:032x}"]


def test_too_few_data_sets_are_refused():
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 2)
        with pytest.raises(BadRequest, match="of fewer than 3"):
            study_ensembles(kb, [Way("levels")], [SearchLimit(evaluations=2)])


@pytest.mark.parametrize("words", [["x"], ["0"], []])
def test_budgets_are_positive_numbers(words: list[str]):
    with pytest.raises(BadRequest, match="udget"):
        budgets_named(words, [])


def test_layers_are_one_or_two():
    with pytest.raises(BadRequest, match="--layers"):
        ways_named(["levels"], ["best"], ["3"])
