"""The loss of the final model on rows that did not choose it."""

import pytest

from metaml.errors import BadRequest
from metaml.laboratory.ensembles.judge import held_out_loss
from metaml.laboratory.ensembles.kept_runs import KeptRuns, kept_runs
from metaml_kb import open_kb
from tests.predicted import keep_predictions


def kept(n_unused: int = 40) -> KeptRuns:
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 1, n_unused=n_unused)
        return kept_runs(kb)[0]


@pytest.mark.parametrize("n_unused", [40, 0])
def test_two_that_err_elsewhere_lose_less_than_two_that_err_alike(n_unused: int):
    found = kept(n_unused)

    assert held_out_loss(found, [0, 3]) < held_out_loss(found, [0, 1]) - 0.1


def test_the_best_alone_is_one_model_whatever_else_was_evaluated():
    found = kept()

    assert held_out_loss(found, [0, 3, 4], rule="best") == held_out_loss(found, [0])


def test_a_second_layer_learns_how_to_weigh_what_the_plain_mean_weighs_badly():
    found = kept()

    assert held_out_loss(found, [0, 3, 4], n_layers=2) < held_out_loss(found, [0, 3, 4], rule="mean")


def test_an_unknown_rule_is_refused_with_those_there_are():
    with pytest.raises(BadRequest, match="selected, best, mean"):
        held_out_loss(kept(), [0], rule="luck")
