"""Thesis table 3.1: which kind of parameter observed values make."""

import pytest

from metaml.encoding import kind_of


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([10, 100, 500], "numeric"),
        (["gini", "entropy"], "nominal"),
        ([0.05, 0.10, "log2", "sqrt", None], "mixed"),
        ([9, 10, 11, 12, None], "mixed"),
        ([2, 3, 5, 8], "numeric"),
        ([1, 2, 7, 9], "numeric"),
        ([True, False, 0, 1], "boolean"),
        ([["OneHotEncoder"], {"PCA": 1}, None], "object"),
    ],
)
def test_table_3_1_is_reproduced(values, kind):
    assert kind_of(values) == kind


def test_none_beside_words_is_one_more_word():
    assert kind_of(["l1", None]) == "nominal"


def test_words_beside_booleans_are_mixed():
    assert kind_of([True, "auto"]) == "mixed"
