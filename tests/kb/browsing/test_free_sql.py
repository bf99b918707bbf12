"""SQL of a visitor: answered within bounds, and refused with a sentence otherwise, on every backend."""

import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.browsing import free_sql
from metaml_kb.browsing.free_sql import read_free_sql
from metaml_kb.browsing.read_only import open_read_only
from metaml_kb.errors import BadQuery

NUMBERS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)"


def test_it_answers_with_at_most_so_many_rows(backend):
    whole = read_free_sql(backend, f"{NUMBERS} SELECT n FROM number LIMIT 40", most_rows=40)
    cut = read_free_sql(backend, f"{NUMBERS} SELECT n FROM number LIMIT 41", most_rows=40)
    endless = read_free_sql(backend, f"{NUMBERS} SELECT n FROM number", most_rows=3)

    assert (len(whole.frame), whole.is_cut) == (40, False)
    assert (len(cut.frame), cut.is_cut) == (40, True)
    assert endless.frame["n"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM run",
        "SELECT 1; DELETE FROM run",
        "WITH gone AS (DELETE FROM run RETURNING id) SELECT * FROM gone",
        "ATTACH DATABASE 'other.db' AS other",
        "PRAGMA query_only=OFF",
        "SELECT pg_advisory_lock(1)",
        "SELECT \"pg_read_file\"('/etc/passwd')",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT load_extension('evil')",
        'SELECT * FROM "knowledge_base"',
        "",
    ],
)
def test_anything_but_reading_tables_is_refused_with_a_sentence(backend, run_of, query):
    backend.add_run(run_of(1))

    with pytest.raises(BadQuery, match=r"^[A-Za-z].{20}"):
        read_free_sql(backend, query, most_rows=10)

    assert backend.n_runs() == 1


def test_a_query_that_takes_too_long_is_stopped(backend):
    with pytest.raises(BadQuery, match=r"took more than 0\.2 seconds and was stopped"):
        read_free_sql(backend, f"{NUMBERS} SELECT count(*) FROM number", most_rows=10, seconds=0.2)


def test_a_single_value_cannot_fill_the_memory(kb):
    with pytest.raises(BadQuery, match=r"too big|megabytes"):
        read_free_sql(kb, "SELECT hex(zeroblob(400000000))", most_rows=10)

    assert kb.sql("SELECT length(zeroblob(400000000)) AS n")["n"].tolist() == [400_000_000]


def test_a_second_query_waits_its_turn(kb):
    with free_sql._IN_TURN, pytest.raises(BadQuery, match="under way"):
        read_free_sql(kb, "SELECT 1", most_rows=1, seconds=0.05)


def test_it_works_where_nothing_can_be_written(tmp_path, run_of):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        kb.add_run(run_of(1))
    with open_read_only(tmp_path / "kb.db") as kb:
        found = read_free_sql(kb, "SELECT count(*) AS n FROM run", most_rows=1)

        assert found.frame["n"].tolist() == [1]
