"""Tables that speak Arrow, as Polars frames do, wherever a pandas frame is taken."""

import datetime

import numpy as np
import pandas as pd
import pyarrow
import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.data.arrow import as_pandas
from metaml.errors import BadDataset

pytestmark = pytest.mark.usefixtures("one_pool")

IRIS = load_iris(as_frame=True).frame
FAST = {"iterations": 1, "algorithms": "decision_tree", "folds": 2, "kb": ":memory:"}


class Foreign:
    """A table of a library that we do not know, which speaks Arrow and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class LazyFrame:
    """A query without rows, as Polars has it."""

    def collect(self):
        raise AssertionError

    def collect_schema(self):
        raise AssertionError


def foreign(frame):
    return Foreign(pyarrow.Table.from_pandas(frame, preserve_index=False))


@pytest.mark.parametrize("make", [foreign, lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False)])
def test_a_search_and_its_model_take_tables_that_speak_arrow(make):
    result = metaml.tune(make(IRIS), "target", **FAST)
    rows = IRIS.drop(columns="target").head(30)

    expected = result.model.predict(rows).tolist()

    assert result.facts.dataset.n_rows == 150
    assert result.model.predict(make(rows)).tolist() == expected
    assert metaml.predict(result, make(rows))["prediction"].tolist() == expected
    assert metaml.evaluate(result, make(IRIS), metric="accuracy")["n_rows"].tolist() == [150]
    assert len(result.model.predict_interval(make(rows))) == 30
    assert len(metaml.explain(result.model, make(rows))) == 30
    assert not result.model.check(make(IRIS.sample(100, random_state=0))).differs


def test_the_estimators_keep_the_names_of_the_columns():
    X, y = IRIS.drop(columns="target"), IRIS["target"]

    estimator = metaml.MetaMLClassifier(**FAST).fit(foreign(X), y)

    assert estimator.feature_names_in_.tolist() == X.columns.tolist()
    assert estimator.predict(foreign(X)).tolist() == estimator.predict(X).tolist()
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(foreign(X.rename(columns={X.columns[0]: "other"})))


def test_dates_decimals_and_categories_are_what_they_are_in_pandas():
    import decimal

    table = pyarrow.table(
        {
            "day": [datetime.date(2026, 1, 1), None],
            "price": [decimal.Decimal("1.50"), decimal.Decimal("2.25")],
            "kind": pyarrow.array(["a", "b"]).dictionary_encode(),
        }
    )

    frame = as_pandas(table)

    assert pd.api.types.is_datetime64_any_dtype(frame["day"])
    assert frame["price"].tolist() == [1.5, 2.25]
    assert isinstance(frame["kind"].dtype, pd.CategoricalDtype)


def test_what_is_no_table_stays_as_it_is_and_a_query_is_refused():
    rows = np.zeros((2, 2))

    assert as_pandas(rows) is rows
    assert as_pandas(IRIS) is IRIS
    with pytest.raises(BadDataset, match=r"a query without rows\. Give what its collect"):
        as_pandas(LazyFrame())
