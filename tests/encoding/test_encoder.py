"""The encoder: thesis tables 3.2 to 3.7, spaces, history, and what it does with the unknown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml.encoding import Encoder, Facts
from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Integer, Space

FACTS = Facts(n_rows=1000, n_columns=120)

COLUMNS = {
    "n_estimators": [10, 100, 100, 500, 100],
    "criterion": ["gini", "gini", "gini", "entropy", "gini"],
    "max_features": [0.05, 0.10, "log2", "sqrt", None],
    "max_depth": [9, 10, 11, 12, None],
    "min_samples_split": [2, 3, 8, 5, 8],
    "min_samples_leaf": [1, 7, 2, 7, 9],
    "bootstrap": [True, False, 0, 1, True],
    "@preprocessor": ["OneHotEncoder()", "PCA()", "PCA()", "PCA()", None],
}
THESIS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


def column(encoder, name, configs=THESIS, facts=FACTS):
    return encoder.transform(configs, facts)[:, encoder.names.index(name)]


@pytest.mark.parametrize("one_hot", [True, False])
def test_no_configurations_are_no_rows(one_hot):
    encoder = Encoder(one_hot=one_hot).fit(THESIS)

    assert encoder.transform([], FACTS).shape == (0, len(encoder.names))


def test_mixed_parameters_split_into_numbers_and_words():
    encoder = Encoder(one_hot=False).fit(THESIS)

    numbers = column(encoder, "max_features_num", facts=None)

    assert numbers[:2].tolist() == [0.05, 0.10]
    assert np.isnan(numbers[2:4]).all()
    assert "max_features_nom" in encoder.names


def test_table_3_4_resolves_words_to_numbers():
    encoder = Encoder().fit(THESIS, FACTS)

    assert column(encoder, "max_features_num").round(4).tolist() == [0.05, 0.10, 0.0576, 0.0913, 1.0]
    assert column(encoder, "max_depth_num").tolist() == [9, 10, 11, 12, 20]
    assert column(encoder, "min_samples_split").tolist() == [2, 3, 8, 5, 8]


def test_tables_3_5_and_3_6_number_the_words_with_zero_for_the_unknown():
    encoder = Encoder(one_hot=False).fit(THESIS, FACTS)

    unseen = column(encoder, "criterion", [{"criterion": "log_loss"}])

    assert (column(encoder, "criterion") - 1).tolist() == [1, 1, 1, 0, 1]
    assert (column(encoder, "max_features_nom") - 1).tolist() == [2, 2, 0, 3, 1]
    assert (column(encoder, "max_depth_nom") - 1).tolist() == [1, 1, 1, 1, 0]
    assert (column(encoder, "@preprocessor") - 1).tolist() == [1, 2, 2, 2, 0]
    assert column(encoder, "bootstrap").tolist() == [1, 0, 0, 1, 1]
    assert unseen.tolist() == [0]


def test_table_3_6_says_which_columns_are_nominal():
    encoder = Encoder(one_hot=False).fit(THESIS, FACTS)

    nominal = [name for name, flag in zip(encoder.names, encoder.is_nominal, strict=True) if flag]

    assert nominal == ["criterion", "max_features_nom", "max_depth_nom", "@preprocessor"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_estimators", [10, 100, 100, 500, 100]),
        ("criterion_gini", [1, 1, 1, 0, 1]),
        ("criterion_entropy", [0, 0, 0, 1, 0]),
        ("max_features_nom_null", [1, 1, 0, 0, 0]),
        ("max_features_nom_None", [0, 0, 0, 0, 1]),
        ("max_features_nom_sqrt", [0, 0, 0, 1, 0]),
        ("max_features_nom_log2", [0, 0, 1, 0, 0]),
        ("max_depth_nom_null", [1, 1, 1, 1, 0]),
        ("max_depth_nom_None", [0, 0, 0, 0, 1]),
        ("min_samples_leaf", [1, 7, 2, 7, 9]),
        ("@preprocessor_OneHotEncoder()", [1, 0, 0, 0, 0]),
        ("@preprocessor_PCA()", [0, 1, 1, 1, 0]),
        ("@preprocessor_None", [0, 0, 0, 0, 1]),
    ],
)
def test_table_3_7_gives_each_word_a_column(name, values):
    encoder = Encoder().fit(THESIS, FACTS)

    assert column(encoder, name).tolist() == values


def test_unknown_word_encodes_as_zeros():
    encoder = Encoder().fit([{"criterion": "gini"}, {"criterion": "entropy"}], FACTS)

    row = encoder.transform([{"criterion": "log_loss"}], FACTS)

    assert row.tolist() == [[0.0, 0.0]]


def test_unknown_word_is_half_way_in_a_single_unit_column():
    encoder = Encoder(unit=True).fit([{"criterion": "gini"}, {"criterion": "entropy"}])

    rows = encoder.transform([{"criterion": "entropy"}, {"criterion": "gini"}, {"criterion": "log_loss"}])

    assert rows.tolist() == [[0.0], [1.0], [0.5]]


def test_columns_that_never_vary_are_dropped():
    encoder = Encoder().fit([{"a": 1, "b": 2, "c": "x"}, {"a": 3, "b": 2, "c": "x"}])

    assert encoder.names == ("a",)


def test_inactive_parameters_are_missing():
    encoder = Encoder().fit([{"kernel": "rbf", "gamma": 0.1}, {"kernel": "linear"}])

    rows = encoder.transform([{"kernel": "linear"}])

    assert np.isnan(rows[0, encoder.names.index("gamma")])
    assert rows[0, encoder.names.index("kernel_linear")] == 1.0


def test_history_that_spans_two_decades_evenly_is_taken_as_logarithms():
    steps = [{"C": 10.0**k, "share": 0.001 + 0.1 * (k + 3)} for k in range(-3, 4)]
    encoder = Encoder(unit=True).fit(steps)

    rows = encoder.transform(steps)

    assert np.allclose(rows[:, 0], np.arange(7) / 6)
    assert np.allclose(rows[:, 1], np.arange(7) / 6)


def test_history_that_spans_all_numbers_is_encoded():
    configs = [{"max_depth": 1}, {"max_depth": 1e-308}, {"max_depth": 1e300}]

    assert np.isfinite(Encoder().fit(configs).transform(configs)).all()


def test_a_space_declares_its_own_logarithms_and_bounds():
    space = Space([Float("eta", 0.1, 10.0, default=1.0, log=True), Integer("depth", 1, 5, default=3)])
    encoder = Encoder(unit=True).fit([], space=space)

    rows = encoder.transform([{"eta": 1.0, "depth": 5}])

    assert np.allclose(rows, [[0.5, 1.0]])


def test_facts_may_differ_from_row_to_row():
    configs = [{"max_features": "sqrt"}, {"max_features": "sqrt"}, {"max_features": 0.5}]
    facts = [Facts(100, 4), Facts(100, 100), Facts(100, 4)]
    encoder = Encoder().fit(configs, facts)

    rows = encoder.transform(configs, facts)

    assert rows[:, encoder.names.index("max_features_num")].tolist() == [0.5, 0.1, 0.5]


def test_counts_and_shares_of_rows_are_brought_to_one_unit():
    configs = [{"min_samples_leaf": 5}, {"min_samples_leaf": 0.2}]
    encoder = Encoder().fit(configs, FACTS)

    assert encoder.transform(configs, FACTS).tolist() == [[0.005], [0.2]]


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(BadRequest, match="nothing to learn from"):
        Encoder().fit([])


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-1000, 1000), st.floats(-1e6, 1e6), st.sampled_from(["sqrt", "a", "b"])
)
CONFIGS = st.lists(
    st.dictionaries(st.sampled_from(["x", "y", "max_features", "max_depth"]), VALUES), min_size=1, max_size=8
)


@given(configs=CONFIGS, others=CONFIGS, unit=st.booleans(), one_hot=st.booleans())
def test_any_history_encodes_any_configuration_as_finite_or_missing(configs, others, unit, one_hot):
    encoder = Encoder(unit=unit, one_hot=one_hot).fit(configs, FACTS)

    rows = encoder.transform(others, FACTS)

    assert rows.shape == (len(others), len(encoder.names))
    assert not np.isinf(rows).any()


def test_choices_of_a_space_may_mix_words_and_numbers():
    space = Space([Choice("max_features", (0.3, "sqrt", None), default="sqrt")])
    encoder = Encoder().fit([], FACTS, space)

    rows = encoder.transform(space.sample(5, np.random.default_rng(0)), FACTS)

    assert encoder.names[0] == "max_features_num"
    assert np.isfinite(rows).all()
