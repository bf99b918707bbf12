"""A model in the hands of its user: predictions with an index, and scores that rows count in by their weight."""

import numpy as np
import pandas as pd
import pytest

import metaml
from metaml.errors import BadDataset, BadRequest

pytestmark = pytest.mark.usefixtures("one_pool")

N = 60
FAST = {"kb": ":memory:", "algorithms": ("decision_tree",), "iterations": 1, "folds": 2}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=list("ab")).assign(w=1 + np.arange(N) % 3)
    return frame.assign(y=np.where(frame["a"] + rng.normal(size=N) > 0, "yes", "no"))


def test_a_prediction_has_the_index_of_its_rows_and_a_number_has_no_probability():
    frame = people()
    result = metaml.tune(frame, "a", **FAST)

    found = metaml.predict(result, frame.iloc[[5, 3]])

    assert found.index.tolist() == [5, 3]
    with pytest.raises(BadRequest, match="leave proba out"):
        metaml.predict(result, frame, proba=True)


def test_a_table_is_scored_by_its_weights_if_it_has_them():
    frame = people()
    result = metaml.tune(frame, "y", weight="w", test=frame, metric="accuracy", **FAST)
    often = frame.loc[np.repeat(np.arange(N), frame["w"])]

    weighed = metaml.evaluate(result, frame, metric="accuracy")["score"][0]
    with pytest.warns(UserWarning, match="All rows count the same, as there is no column 'w'"):
        plain = metaml.evaluate(result, frame.drop(columns="w"), metric="accuracy")["score"][0]

    right = result.model.predict(often) == often["y"]
    assert weighed == pytest.approx(right.mean())
    assert result.test_score == pytest.approx(weighed)
    assert plain != pytest.approx(weighed)
    with pytest.raises(BadDataset, match="--weight"):
        metaml.evaluate(result, frame, weight="v")
