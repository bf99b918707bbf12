"""Interaction columns: a hyperparameter relative to the size of the data set."""

import numpy as np
import pytest

from metaml.encoding import Encoder
from metaml.metalearning.interactions import amounts, generic, interaction_columns, interactions_for

SIZES = {"rows": np.array([100.0, 1000.0]), "columns": np.array([10.0, 10.0])}


def encoded(configs, **options):
    encoder = Encoder(unit=True, **options).fit(configs)
    return encoder, encoder.transform(configs)


def test_amounts_come_back_in_their_own_unit():
    encoder, rows = encoded([{"depth": 2, "C": 0.01}, {"depth": 8, "C": 100.0}], log=["C"])

    found = amounts(encoder, rows)

    assert found["depth"] == pytest.approx([2.0, 8.0])
    assert found["C"] == pytest.approx([0.01, 100.0])


def test_named_interactions_are_those_whose_parameters_are_there():
    encoder, rows = encoded([{"min_samples_leaf": 10}, {"min_samples_leaf": 20}])

    named = [item for item in interactions_for(encoder) if item.sizes == ("rows",)]
    columns = interaction_columns(named, encoder, rows, SIZES)

    assert [item.name for item in named] == ["min_samples_leaf / rows"]
    assert columns[:, 0] == pytest.approx([0.1, 0.02])


def test_a_parameter_without_a_named_interaction_gets_general_ones():
    encoder, _ = encoded([{"share": 0.2, "C2": 0.01}, {"share": 0.8, "C2": 100.0}], log=["C2"])

    names = [item.name for item in interactions_for(encoder)]

    assert names == ["share × columns", "log C2 + log rows", "log C2 - log columns"]


def test_a_count_is_compared_with_the_rows():
    over_rows, less_log = generic("depth", is_log=False, is_share=False)

    assert over_rows.compute(np.array([8.0]), np.array([16.0])).tolist() == [0.5]
    assert less_log.compute(np.array([8.0]), np.array([16.0])).tolist() == [4.0]


def test_words_and_sizes_that_are_unknown_leave_a_gap():
    encoder, rows = encoded([{"min_samples_leaf": 10, "word": "a"}, {"min_samples_leaf": 20, "word": "b"}])

    found = interactions_for(encoder)
    columns = interaction_columns(
        found, encoder, rows, {name: np.array([np.nan, 10.0]) for name in ("rows", "minority")}
    )

    assert {name for item in found for name in item.parameters} == {"min_samples_leaf"}
    assert np.isnan(columns[0]).all()
    assert np.isfinite(columns[1]).all()


def test_without_numbers_there_is_no_column():
    encoder, rows = encoded([{"word": "a"}, {"word": "b"}])

    assert interaction_columns(interactions_for(encoder), encoder, rows, SIZES).shape == (2, 0)
