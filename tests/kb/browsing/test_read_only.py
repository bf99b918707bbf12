"""A knowledge base that is only read: the database refuses to write, and ends what takes too long."""

from itertools import count

import pytest
from sqlalchemy import text

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.browsing.read_only import open_read_only
from metaml_kb.engine import reading
from metaml_kb.errors import BadQuery, CannotOpen, KBError, TooSlow

SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT sum(i) FROM n"


_numbers = count()


@pytest.fixture(params=["file", "postgresql"])
def place(request, tmp_path, run_of):
    is_file = request.param == "file"
    place = tmp_path / "kb.db" if is_file else request.getfixturevalue("postgres_url")(f"read_only_{next(_numbers)}")
    with open_kb(place) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        kb.add_run(run_of(1))
    return place


def test_it_reads_and_refuses_to_write(place, run_of):
    with open_read_only(place) as kb:
        with pytest.raises(KBError, match="read-only"):
            kb.add_run(run_of(2))

        assert kb.n_runs() == 1


def test_it_sees_what_others_add(place, run_of):
    with open_read_only(place) as kb, open_kb(place) as writer:
        before = kb.revision()
        writer.add_run(run_of(2))

        assert kb.n_runs() == 2
        assert kb.revision() != before


def test_a_statement_that_takes_too_long_is_stopped_also_after_sql_of_the_user(place):
    with open_read_only(place, seconds=0.2) as kb:
        kb.sql("SELECT 1 AS one")
        with pytest.raises(BadQuery, match="took more than"):
            kb.sql(SLOW, timeout=0.1)
        with pytest.raises(TooSlow, match="took too long"), reading(kb.engine) as connection:
            connection.execute(text(SLOW))

        assert kb.n_runs() == 1


def test_a_missing_one_is_not_made(tmp_path):
    with pytest.raises(CannotOpen, match="There is no knowledge base"):
        open_read_only(tmp_path / "missing.db")

    assert not list(tmp_path.iterdir())
