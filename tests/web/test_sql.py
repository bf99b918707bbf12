"""The page for SQL: only if it is allowed, rows as a table and as csv, refusals as sentences."""

from dataclasses import replace

import pytest

from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked
from metaml.web.site import answer, table_of
from metaml.web.sql import EXAMPLES, MOST_SHOWN
from tests.report.reading import words
from tests.web.asking import page_at
from tests.web.samples import HOSTILE


def test_it_is_not_there_unless_the_server_allows_it(in_file):
    with pytest.raises(NotThere, match="--sql"):
        answer(in_file, Asked("/sql", {"q": "SELECT 1"}))


def test_rows_are_a_table_and_a_csv(catalogue):
    asked = Asked("/sql", {"q": "SELECT name, n_rows FROM dataset ORDER BY n_rows"})

    page = answer(catalogue, asked)
    table = table_of(catalogue, replace(asked, query={**asked.query, "csv": "rows"})).csv().splitlines()

    assert page.status == 200
    assert "data-1200" in words(page.content)
    assert (table[0], table[2], len(table)) == ("name,n_rows", "data-1,200", 13)


@pytest.mark.parametrize("title", EXAMPLES)
def test_every_example_can_be_asked(catalogue, title):
    page = page_at(catalogue, "/sql", q=EXAMPLES[title])

    assert page.status == 200
    assert page.sheets["rows"].rows


@pytest.mark.parametrize("query", ["DELETE FROM run", "SELECT nothing", "SELECT 1; SELECT 2", HOSTILE])
def test_anything_else_is_refused_with_a_sentence(catalogue, query):
    page = page_at(catalogue, "/sql", q=query)

    assert page.status == 400
    assert 'role="alert"' in page.content
    assert "<script" not in page.content
    assert not page.sheets


def test_many_rows_are_cut_and_the_csv_has_more(catalogue):
    query = "SELECT r.id FROM run r CROSS JOIN dataset d"

    page = page_at(catalogue, "/sql", q=query)
    table = page_at(catalogue, "/sql", q=query, csv="rows").sheets["rows"]

    assert len(page.sheets["rows"].rows) == MOST_SHOWN < len(table.rows)
    assert f"first {MOST_SHOWN} rows" in words(page.content)


def test_bytes_truth_and_nothing_are_shown(in_file):
    page = page_at(Catalogue(in_file.kb, allows_sql=True), "/sql", q="SELECT x'0001' AS b, NULL AS n, 0.25 AS f")

    assert page.sheets["rows"].rows == [{"b": "(2 bytes)", "n": None, "f": 0.25}]


def test_without_a_query_it_names_tables_and_columns(catalogue):
    said = words(page_at(catalogue, "/sql").content)

    assert "result view" in said
    assert "metafeature" in said
