import numpy as np
import pandas as pd
import pytest

from metaml.ensemble.layers import n_columns_of, second_layer_data, with_predictions


def test_the_columns_stay_and_predictions_follow():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})

    stacked = with_predictions(X, [np.array([0.1, 0.2]), np.array([[0.2, 0.8], [0.3, 0.7]])])

    assert stacked[["a", "b"]].equals(X)
    assert stacked.iloc[:, 2].tolist() == [0.1, 0.2]
    assert stacked.iloc[:, 3].tolist() == [0.8, 0.7]


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_member_adds_as_many_columns_as_announced(n_classes):
    X = pd.DataFrame({"a": np.zeros(4)})

    stacked = with_predictions(X, [np.full((4, n_classes), 1 / n_classes)] * 3)

    assert stacked.shape[1] == 1 + 3 * n_columns_of(n_classes)


def test_a_column_of_the_same_name_is_not_overwritten():
    first = with_predictions(pd.DataFrame({"a": [0.0]}), [np.array([1.0])])

    second = with_predictions(first, [np.array([2.0])])

    assert second.iloc[0].tolist() == [0.0, 1.0, 2.0]
    assert second.columns.is_unique


def test_other_predictions_make_another_data_set(two_classes):
    predictions = np.full((len(two_classes.y), 2), 0.5)

    first, same, other = (
        second_layer_data(two_classes, [p]) for p in (predictions, predictions.copy(), predictions / 2)
    )

    assert first.fingerprint == same.fingerprint != two_classes.fingerprint
    assert other.fingerprint != first.fingerprint
    assert first.X.shape == (len(two_classes.y), two_classes.X.shape[1] + 1)
    assert first.y is two_classes.y
