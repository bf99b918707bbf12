"""The data sets inside scikit-learn."""

import pytest

from metaml.errors import BadRequest
from metaml.sources import builtin

SHAPES = {
    "iris": ("multiclass", 150, 4),
    "wine": ("multiclass", 178, 13),
    "breast_cancer": ("binary", 569, 30),
    "digits": ("multiclass", 1797, 61),
    "diabetes": ("regression", 442, 10),
}


@pytest.mark.parametrize("name", builtin.names())
def test_every_builtin_data_set_is_ready_to_use(name: str) -> None:
    dataset = builtin.load(name)

    assert (dataset.task, *dataset.X.shape) == SHAPES[name]
    assert dataset.name == name
    assert not dataset.X.isna().any(axis=None)


def test_classes_are_called_by_their_names() -> None:
    labels = builtin.load("iris").labels

    assert labels is not None
    assert labels.tolist() == ["setosa", "versicolor", "virginica"]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadRequest, match=r"no built-in data set 'titanic'. Choose one of iris, wine"):
        builtin.load("titanic")
