from dataclasses import replace

import numpy as np

from metaml.insight import insight
from tests.insight.made_runs import made_grid, made_runs


def test_the_table_has_importance_gain_and_range_of_each_hyperparameter():
    table = insight(made_runs(60)).hyperparameters.set_index("hyperparameter")

    assert set(table.index) == {"a", "b", "leaves", "kind"}
    assert table.loc["a", "gain"] > table.loc["b", "gain"]
    assert table.loc["kind", "suggested"] == "good"
    assert table.loc["a", "clear"]


def test_the_values_are_listed_for_each_group_of_sizes():
    values = insight(made_grid(), split_rows=[500]).values

    small = values[(values["datasets"] == "below 500 rows") & (values["hyperparameter"] == "leaves")]
    assert small.set_index("value")["best_on"].to_dict() == {"2": 1.0, "3": 0.0, "6": 0.0, "11": 0.0}


def test_what_to_be_careful_about_is_said():
    runs = made_runs(10)
    searched = replace(runs, weights=np.where(np.arange(len(runs.scores)) % 2, runs.weights, 0.0))

    notes = " ".join(insight(searched).notes)

    assert "were proposed by searches" in notes
    assert "No data set has enough runs" in notes
