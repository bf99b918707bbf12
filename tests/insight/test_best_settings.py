from dataclasses import replace

import pytest

from metaml.insight import best_settings, value_effects
from tests.insight.made_runs import made_grid, made_runs


def test_small_and_large_data_sets_have_their_own_best_values():
    small, large = best_settings(made_grid(), split_rows=[500]).groups[1:]

    assert (small.label, large.label) == ("below 500 rows", "from 500 rows")
    assert {effect.value: effect.share for effect in small.effects["leaves"]} == {"2": 1, "3": 0, "6": 0, "11": 0}
    assert {effect.value: effect.share for effect in large.effects["leaves"]} == {"2": 0, "3": 0, "6": 1, "11": 0}


def test_the_loss_is_what_it_costs_to_fix_a_value():
    runs = made_grid()
    leaves = next(setting for setting in runs.settings if setting.name == "leaves")

    losses = {effect.value: effect.loss for effect in value_effects(runs, leaves)}

    assert losses == pytest.approx({"2": 0.02, "3": 0.02, "6": 0.02, "11": 0.07})


def test_equal_values_share_a_win():
    runs = made_grid((100,))
    tied = replace(runs, scores=runs.scores * 0)

    effects = value_effects(tied, next(setting for setting in runs.settings if setting.name == "leaves"))

    assert [effect.share for effect in effects] == [0.25] * 4


def test_the_table_names_the_best_run_of_each_data_set_and_its_gain():
    table = best_settings(made_runs()).table

    assert table["name"].tolist() == ["set 0", "set 1", "set 2", "set 3"]
    assert (table["gain"] > 0).all()
    assert table["kind"].tolist() == ["good"] * 4


def test_the_best_value_rises_with_the_rows():
    trends = best_settings(made_runs(80, sizes=(100, 110, 120, 1000, 1100, 1200))).trends

    leaves = trends[(trends["hyperparameter"] == "leaves") & (trends["size"] == "n_rows")]
    assert leaves["correlation"].item() > 0.5
