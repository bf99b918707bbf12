"""Tables: sortable in the browser, downloadable, and without anything that a spreadsheet would run."""

import csv
import io

from metaml.web.sheet import Field, Sheet, moment, plain, sortable
from tests.report.reading import read, words
from tests.web.samples import HOSTILE

FIELDS = [Field("Name", key="name"), Field("Score", "number", key="score", first="down", show="{:.1f}".format)]


def test_cells_show_a_value_and_are_sorted_by_it():
    page = Sheet("t", FIELDS, [{"name": "a", "score": 0.123}, {"name": "b", "score": None}], sorted_by="score").html(
        "/x"
    )

    assert 'data-v="0.123"' in page
    assert 'data-v=""' in page
    assert 'aria-sort="descending"' in page
    assert words(page) == "tNameScorea0.1b–2 rowsDownload csv"


def test_a_hidden_column_is_in_the_csv_only():
    sheet = Sheet("t", [FIELDS[0], Field("Error", key="error", is_hidden=True)], [{"name": "a", "error": 0.5}])

    assert words(sheet.html()) == "tNamea"
    assert sheet.csv() == "name,error\na,0.5\n"


def test_hostile_values_stay_text_and_the_csv_says_the_same():
    sheet = Sheet("t", FIELDS, [{"name": HOSTILE, "score": 1.0}, {"name": "=1+1", "score": -1.5}])

    assert "script" not in read(sheet.html()).tags
    rows = list(csv.reader(io.StringIO(sheet.csv())))
    assert rows[0] == ["name", "score"]
    assert rows[1] == [HOSTILE, "1.0"]
    assert rows[2] == ["'=1+1", "-1.5"]


def test_a_formula_is_quoted_and_a_number_is_not():
    assert [plain(value) for value in ("@x", "-x", -2, "\tx", {"a": 1})] == ["'@x", "'-x", "-2", "'\tx", "a=1"]


def test_values_are_sorted_as_numbers():
    assert [sortable(value) for value in (1, True, float("nan"), {"a": 1})] == ["1.0", "1.0", "", ""]


def test_a_moment_is_shown_to_the_minute_and_machines_read_the_second():
    assert moment(1.7e9) == '<time datetime="2023-11-14T22:13:20Z">2023-11-14 22:13</time>'
