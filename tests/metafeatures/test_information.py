import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures.information import NAMES, entropies_and_information, information
from metaml.metafeatures.view import view_of


def test_entropies_are_those_worked_out_on_paper(shop):
    found = dict(information(view_of(shop)))

    # The missing size counts as small: five small (two of them bought), three large (two bought).
    size = -(5 / 8) * np.log2(5 / 8) - (3 / 8) * np.log2(3 / 8)
    given_small = -0.4 * np.log2(0.4) - 0.6 * np.log2(0.6)
    given_large = -(2 / 3) * np.log2(2 / 3) - (1 / 3) * np.log2(1 / 3)
    shared = 1 - 5 / 8 * given_small - 3 / 8 * given_large
    expected = {
        "ClassEntropy": 1.0,
        "MinAttributeEntropy": size,
        "MaxAttributeEntropy": 1.5,
        "MeanAttributeEntropy": (size + 1.5) / 2,
        "MinMutualInformation": shared,
        "MaxMutualInformation": 1.0,
        "MeanMutualInformation": (shared + 1) / 2,
        "EquivalentNumberOfAtts": 2 / (shared + 1),
        "MeanNoiseToSignalRatio": (size + 1.5 - shared - 1) / (shared + 1),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_a_column_that_is_independent_of_the_class_shares_nothing():
    codes = np.array([[0], [1], [0], [1]])

    _, shared = entropies_and_information(codes, np.array([0, 0, 1, 1]), n_classes=2)

    assert shared.tolist() == [0.0]


def test_columns_are_treated_one_by_one_however_many_levels_they_have():
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, 2, 60), rng.integers(0, 30, 60), np.full(60, -1)])
    y = rng.integers(0, 3, 60)

    together = entropies_and_information(codes, y, 3)
    alone = [entropies_and_information(codes[:, [i]], y, 3) for i in range(3)]

    assert together[0] == pytest.approx([pair[0][0] for pair in alone])
    assert together[1] == pytest.approx([pair[1][0] for pair in alone])
    assert together[0][2] == together[1][2] == 0


def test_without_categories_only_the_class_entropy_is_defined():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], "y": ["a", "b"] * 3})

    found = dict(information(view_of(from_frame(frame, target="y", task="binary"))))

    assert found["ClassEntropy"] == 1.0
    assert {found[name] for name in NAMES[1:]} == {"no categorical columns"}
