"""SQL from the user: answered exactly, and the database itself refuses to write."""

import pytest

from metaml_kb import (
    KnowledgeBase,
)
from metaml_kb.errors import BadQuery

ENDLESS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)"


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


def test_sql_answers_with_a_frame(kb, run_of):
    kb.add_runs([run_of(n) for n in range(3)])

    frame = kb.sql(
        "SELECT algorithm, max(value) AS best FROM result WHERE metric = :m GROUP BY algorithm", {"m": "accuracy"}
    )
    settings = kb.sql("SELECT count(*) AS n FROM setting WHERE name = 'criterion' AND value = 'gini'")

    assert frame.values.tolist() == [["random_forest", 0.625]]
    assert settings["n"].tolist() == [3]


def test_sql_tells_whole_numbers_to_the_last_digit(kb):
    kb.start_session("bot", seed=2**62 + 1)
    kb.start_session("bot")

    frame = kb.sql("SELECT seed FROM session ORDER BY seed IS NULL")
    total = kb.sql("SELECT sum(seed) AS total FROM session")["total"].tolist()

    assert int(frame["seed"].iloc[0]) == 2**62 + 1
    assert frame["seed"].isna().tolist() == [False, True]
    assert (total, type(total[0])) == ([2**62 + 1], int)


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM run",
        "SELECT 1; DELETE FROM run",
        "SELECT 1; COMMIT; DELETE FROM run",
        "WITH gone AS (DELETE FROM run RETURNING id) SELECT * FROM gone",
        "/* SELECT */ DROP TABLE run",
        "ATTACH DATABASE 'other.db' AS other",
        "PRAGMA journal_mode=DELETE",
        "EXPLAIN ANALYZE DELETE FROM run",
    ],
)
def test_sql_cannot_write(kb, run_of, query):
    kb.add_run(run_of(1))

    with pytest.raises(BadQuery):
        kb.sql(query)

    assert len(kb.runs()) == 1
    kb.add_run(run_of(2))


@pytest.mark.parametrize("query", ["connection FROM run", "readonly FROM run", "* FROM disk", "locked(1)", "1 +"])
def test_a_wrong_query_is_not_blamed_on_the_database(kb, query):
    with pytest.raises(BadQuery, match=r"cannot be run: .*metaml kb info --schema"):
        kb.sql(f"SELECT {query}")


def test_an_explanation_that_ends_with_a_full_stop_gets_no_second_one(kb):
    with pytest.raises(BadQuery, match=r"[^.]\. Tables and columns") as refused:
        kb.sql("SELECT ?")

    assert ".." not in str(refused.value)


def test_sql_without_an_end_is_stopped(kb):
    with pytest.raises(BadQuery, match=r"took more than 0\.2 seconds and was stopped.*--timeout"):
        kb.sql(f"{ENDLESS} SELECT count(*) FROM number", timeout=0.2)

    assert kb.n_runs() == 0


def test_sql_whose_result_has_no_end_is_stopped(kb):
    with pytest.raises(BadQuery, match=r"took more than 30 megabytes of memory and was stopped.*--limit-memory"):
        kb.sql(f"{ENDLESS} SELECT n, 'word ' || n FROM number", limit_memory=30)

    assert kb.sql("SELECT 1 AS n")["n"].tolist() == [1]


def test_sql_with_many_rows_is_complete(kb):
    frame = kb.sql(f"{ENDLESS} SELECT n FROM number LIMIT 2500")

    assert frame["n"].tolist() == list(range(1, 2501))
