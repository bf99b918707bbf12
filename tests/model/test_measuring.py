"""A saved model is measured in a fresh process, on rows that look like those it was trained on."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import column_options, from_frame
from metaml.errors import BadModel
from metaml.model.measuring import measure, raw_rows, timed
from tests.model.conftest import model_of, table


def test_a_saved_model_is_measured_in_a_fresh_process():
    dataset = from_frame(table(n=70), target="y", name="toys")

    measured = measure(model_of(), dataset)

    assert min(measured.predict_ms, measured.predict_ms_1000) > 0
    assert 0 < measured.megabytes < 1
    assert measured.n_columns == 5


def test_a_model_that_cannot_be_loaded_there_is_told():
    class Unsaved:
        def save(self, folder):
            path = folder / "model.zip"
            path.write_bytes(b"no model")
            return path

    with pytest.raises(BadModel, match="fresh process, which said"):
        measure(Unsaved(), from_frame(table(n=70), target="y"))


def test_raw_rows_are_read_as_the_rows_they_came_from():
    dataset = from_frame(table(n=70).assign(day=pd.date_range("2024-01-01", periods=70).astype(str)), target="y")

    read = dataset.schema.read(raw_rows(dataset, 20))

    assert not read.missing
    assert not read.unreadable
    same = [name for name in dataset.X.columns if not name.startswith("day")]
    pd.testing.assert_frame_equal(read.X[same], dataset.X[same].iloc[:20])


def test_single_rows_and_a_thousand_are_asked_for():
    asked = []

    seconds = timed(lambda rows: asked.append(len(rows)), pd.DataFrame({"a": range(7)}))

    assert set(asked) == {1, 1000}
    assert set(seconds) == {"one", "many"}


def test_levels_with_an_order_are_words_again_in_raw_rows():
    frame = pd.DataFrame({"size": ["S", "L"] * 20, "x": np.arange(40.0), "y": [0, 1] * 20})

    dataset = from_frame(frame, "y", options=column_options(ordinal="size:S<M<L"))

    assert raw_rows(dataset, 2)["size"].tolist() == ["S", "L"]
