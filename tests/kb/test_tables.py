"""The tables and views, which people write SQL against."""

import pytest

from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.engine import writing
from metaml_kb.tables import VIEWS, create_views, drop_views, metadata


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


@pytest.mark.parametrize("name", [*metadata.tables, *VIEWS])
def test_every_table_and_view_can_be_asked(name):
    with open_kb(":memory:") as base:
        assert len(base.sql(f"SELECT * FROM {name}").columns) >= 2


def test_a_setting_is_a_row_for_each_hyperparameter(kb, run_of):
    kb.add_run(run_of(config={"depth": None, "rate": 0.5, "word": "a,b"}))

    rows = kb.sql("SELECT name, coalesce(CAST(value AS TEXT), 'no value') FROM setting ORDER BY name").values.tolist()

    assert rows == [["depth", "no value"], ["rate", "0.5"], ["word", "a,b"]]


def test_a_score_is_a_row_for_each_metric_and_a_result_has_names(kb, run_of):
    kb.add_runs([run_of(1), run_of(2, status="failed", scores={})])

    scores = kb.sql("SELECT metric, value FROM score ORDER BY metric").values.tolist()
    results = kb.sql("SELECT dataset, status, coalesce(metric, 'none') FROM result ORDER BY run_id, metric").values

    assert scores == [["accuracy", 0.625], ["roc_auc", 0.375]]
    assert results.tolist() == [["iris", "ok", "accuracy"], ["iris", "ok", "roc_auc"], ["iris", "failed", "none"]]


def test_views_can_be_removed_and_made_again(kb, run_of):
    kb.add_run(run_of(1))

    with writing(kb.engine) as connection:
        drop_views(connection)
        create_views(connection)

    assert len(kb.sql("SELECT * FROM result")) == 2
