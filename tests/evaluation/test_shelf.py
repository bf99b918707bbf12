import dataclasses

import numpy as np
import pandas as pd
import pytest

from metaml.errors import BadRequest
from metaml.evaluation.shelf import KEPT_DATASETS, Shelf


def test_a_data_set_comes_back_as_it_was(tmp_path, three_classes):
    Shelf(tmp_path).put(three_classes)

    found = Shelf(tmp_path).get(three_classes.fingerprint)

    pd.testing.assert_frame_equal(found.X, three_classes.X)
    assert (found.y == three_classes.y).all()
    assert found.labels.tolist() == three_classes.labels.tolist()


def test_only_the_data_sets_used_last_stay_in_memory(tmp_path, numbers):
    shelf = Shelf(tmp_path)
    names = [f"{number:032x}" for number in range(KEPT_DATASETS + 1)]
    for name in names:
        shelf.put(dataclasses.replace(numbers, fingerprint=name))
    first = shelf.get(names[0])

    again = shelf.get(names[0])
    for name in names[1:]:
        shelf.get(name)

    assert again is first
    assert shelf.get(names[0]) is not first
    assert np.array_equal(shelf.get(names[0]).y, first.y)


def test_a_missing_data_set_is_named(tmp_path):
    with pytest.raises(BadRequest, match="no data set abc"):
        Shelf(tmp_path).get("abc")
