"""Which columns are most useful, and estimators that are fitted to the best of them."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.evaluation import Job, Limits, make_plan
from metaml.evaluation.best_columns import columns_for, ranked_columns, with_ranking
from metaml.evaluation.crossval import evaluate


@pytest.fixture(scope="module")
def dataset():
    """Return a table in which a day and a number decide, and three columns are noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 600, 300), unit="D")
    y = 3 * frame["b"] + frame["day"].dt.year.eq(2025) + rng.normal(scale=0.1, size=300)
    return from_frame(frame.assign(y=y), target="y")


def test_columns_that_decide_come_first(dataset):
    assert ranked_columns(dataset)[:2] == ("b", "day")
    assert sorted(ranked_columns(dataset)) == ["a", "b", "c", "d", "day"]


def test_the_ranking_is_the_same_each_time(dataset):
    assert with_ranking(dataset).ranking == ranked_columns(dataset)


def test_all_features_of_the_best_columns_are_read(dataset):
    columns = list(columns_for({"best_columns": 2}, dataset).columns)

    assert columns[0] == "b"
    assert len(columns) > 2
    assert all(name.startswith("day_") for name in columns[1:])
    assert columns_for({}, dataset) is dataset.X


def test_an_evaluation_on_the_best_column_counts_it(dataset):
    tree = ALGORITHMS["decision_tree"]
    config = {**tree.space("regression").default(), "best_columns": 1}

    outcome = evaluate(
        Job(dataset.fingerprint, "decision_tree", config, make_plan(dataset, 2, 0), 0, Limits(60.0)), dataset, tree
    )

    assert outcome.status == "ok"
    assert outcome.n_columns_read == 1
