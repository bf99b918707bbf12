"""Objects as plain data and back: only what is trusted."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.errors import BadModel
from metaml.model.freezing import Freezer, thaw


@pytest.mark.parametrize("dtype", ["O", "|O", {"names": ["a"], "formats": ["O"], "offsets": [0], "itemsize": 8}])
def test_arrays_of_objects_are_refused(dtype):
    entry = {"dtype": dtype, "shape": [1], "order": "C", "start": 0}

    with pytest.raises(BadModel, match="does not fit together"):
        thaw({"array": 0}, [entry], bytes(64))


def test_what_is_not_trusted_cannot_be_saved():
    with pytest.raises(TypeError, match=r"cannot hold a pathlib\."):
        Freezer().freeze([Path("/")])
    with pytest.raises(TypeError, match="cannot save the function"):
        Freezer().freeze(partial(print, 1))
    with pytest.raises(TypeError, match="array of Python objects"):
        Freezer().freeze(np.array([object()]))


def there_and_back(item):
    """Return what a file gives back of an object: all of it goes through JSON."""
    freezer = Freezer()
    plain = json.loads(json.dumps(freezer.freeze(item)))
    return thaw(plain, json.loads(json.dumps(freezer.arrays)), freezer.content)


@pytest.mark.parametrize(
    "item",
    [None, True, 3, 0.1, "word", [1, [2]], (1, "two"), {"a": 1, 2: (3,)}, slice(1, None, 2), np.float32, np.int64(7)],
    ids=repr,
)
def test_plain_things_come_back_as_they_were(item):
    again = there_and_back(item)

    assert again == item
    assert type(again) is type(item)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["red", "blue"]),
        np.zeros((0, 3), dtype=np.float32),
        np.array([(1, 2.0)], dtype=[("left", "i4"), ("value", "f8")]),
    ],
    ids=["numbers", "columns first", "words", "empty", "named fields"],
)
def test_an_array_keeps_its_values_type_and_order(array):
    again = there_and_back(array)

    assert again.dtype == array.dtype
    assert again.flags.f_contiguous == array.flags.f_contiguous
    assert np.array_equal(again, array)


def test_names_that_are_not_text_cannot_be_saved():
    assert there_and_back(pd.Index(["a", "b"])).tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="names that are not text"):
        Freezer().freeze(pd.Index([1, 2]))


@pytest.mark.parametrize("plain", [{"object": "os.system", "state": {}}, {"array": 5}, {"surprise": 1}])
def test_a_structure_that_leads_elsewhere_is_refused(plain):
    with pytest.raises(BadModel):
        thaw(plain, [], b"")
