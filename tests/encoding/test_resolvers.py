"""Words that stand for numbers: thesis section 3.1.1."""

import pytest

from metaml.encoding.resolvers import Facts, gamma, max_depth, max_features, min_samples

FACTS = Facts(n_rows=1000, n_columns=120)


@pytest.mark.parametrize(
    ("word", "share"),
    [("log2", 0.0576), ("sqrt", 0.0913), ("auto", 0.0913), (None, 1.0), (60, 0.5), (1, 1 / 120), (500, 1.0)],
)
def test_max_features_becomes_a_share_of_the_columns(word, share):
    assert max_features(word, FACTS) == pytest.approx(share, abs=5e-5)


def test_unlimited_depth_counts_as_twenty():
    assert max_depth(None, FACTS) == 20.0


def test_gamma_auto_is_one_over_the_columns():
    assert gamma("auto", FACTS) == pytest.approx(1 / 120)


def test_counts_of_rows_become_shares():
    assert min_samples(5, FACTS) == pytest.approx(0.005)


def test_a_word_without_facts_stays_unknown():
    assert max_features("sqrt", None) is None
    assert gamma("auto", None) is None
