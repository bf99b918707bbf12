"""A CatBoost model is read by compiled code only if it stays within its columns, leaves and statistics."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.catboost import ALGORITHM
from metaml.algorithms.formats.catboost_cbm import _BUCKET, _Table, checked_model

catboost = pytest.importorskip("catboost")

SPLITS, SIZES, STARTS, BINS = 1, 2, 3, 17


def fitted(task, *, n_levels=40):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=300), "few": rng.integers(-1, 2, 300)})
    if n_levels:
        X["many"] = rng.integers(-1, n_levels, 300)
    signal = X["size"] + (X["few"] == 1) + rng.normal(size=300)
    y = signal if task == "regression" else np.digitize(signal, [0.5] if task == "binary" else [0, 1])
    kind = catboost.CatBoostRegressor if task == "regression" else catboost.CatBoostClassifier
    model = kind(iterations=20, depth=4, verbose=False, allow_writing_files=False, thread_count=1)
    return model.fit(catboost.Pool(X, y, cat_features=["few", "many"][: 1 + (n_levels > 0)]))


@pytest.fixture(scope="module")
def content():
    return bytes(fitted("binary")._serialize_model())


def trees_of(content):
    return _Table.root(content[8:]).table(1)


def statistics_of(content):
    """The first table of category statistics."""
    return _Table.root(content[16 + int.from_bytes(content[4:8], "little") :])


def changed(content, array, number, value, field=None):
    """The content with another number in an array, or in a field of its records."""
    assert array.tobytes() in content
    other = array.copy()
    (other if field is None else other[field])[number] = value
    return content.replace(array.tobytes(), other.tobytes(), 1)


@pytest.mark.parametrize("n_levels", [0, 40])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_what_catboost_writes_is_taken_as_it_is(task, n_levels):
    content = bytes(fitted(task, n_levels=n_levels)._serialize_model())

    assert checked_model(content) == content


@pytest.mark.parametrize(
    ("field", "form", "number", "value"),
    [
        (SPLITS, "<i4", 0, 10**6),
        (SPLITS, "<i4", -1, -1),
        (SIZES, "<i4", 0, 17),
        (SIZES, "<i4", 3, 3),
        (STARTS, "<i4", 5, 2**31 - 1),
        (BINS, "<u4", 0, 2**32 - 1),
    ],
)
def test_a_tree_that_points_outside_is_refused(content, field, form, number, value):
    with pytest.raises(ValueError, match="CatBoost model"):
        checked_model(changed(content, trees_of(content).array(field, form), number, value))


@pytest.mark.parametrize(("field", "value"), [("place", 10**6), ("hash", 7)])
def test_statistics_that_point_outside_or_have_no_empty_place_are_refused(content, field, value):
    buckets = np.frombuffer(statistics_of(content).raw(1), dtype=_BUCKET)

    with pytest.raises(ValueError, match="point outside themselves"):
        checked_model(changed(content, buckets, slice(None), value, field))


def test_no_cut_and_no_shift_is_taken(content):
    for place in range(0, len(content), 997):
        with pytest.raises(ValueError, match="CatBoost model"):
            checked_model(content[:place])
    for place in range(8, len(content) - 9, 997):
        with pytest.raises(ValueError, match="CatBoost model"):
            checked_model(content[:place] + content[place + 2 :])


def test_a_file_that_does_not_fit_never_reaches_catboost(content, monkeypatch):
    monkeypatch.setattr("metaml.algorithms.catboost.survives", lambda *_: pytest.fail("CatBoost read it"))
    trusted = next(one for one in ALGORITHM.saves if one.name == "CatBoostClassifier")
    state = {"content": np.frombuffer(changed(content, trees_of(content).array(SPLITS, "<i4"), 0, 10**6), dtype="u1")}

    with pytest.raises(ValueError, match="asks for splits that are not there"):
        trusted.restored(state)
