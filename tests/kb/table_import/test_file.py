"""Third-party files as raw cells: separators, quotes, and files that are none."""

import gzip

import pytest

from metaml_kb.errors import BadTable
from metaml_kb.table_import.file import open_table
from metaml_kb.table_import.runs import import_table
from tests.kb.table_import.importer import FOREST


def test_separator_is_seen_from_the_header(imported):
    for name, separator in (("a.csv", ";"), ("b.tsv", "\t"), ("c.txt", "|"), ("d.csv.gz", ",")):
        row = separator.join(("1", name, "0.5"))
        imported(f"task_id{separator}p{separator}accuracy\n{row}\n", name=name)

    assert [config["p"] for config in imported.configs()] == ["a.csv", "b.tsv", "c.txt", "d.csv.gz"]


def test_byte_order_mark_blank_lines_and_quotes_are_no_problem(imported):
    imported('\ufefftask_id, p ,accuracy\r\n1," a,b ",0.5\r\n\r\n1,"two\nlines",0.6\r\n')

    assert imported.configs() == [{"p": "a,b"}, {"p": "two\nlines"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("task_id,d,accuracy\n", "no rows"),
        ("task_id,d,d,accuracy\n1,2,3,0.5\n", "several columns named 'd'"),
        ("task_id,d,accuracy\n1,5,0.5\n1,5\n", "Line 3 of runs.csv has 2 cells where the header has 3"),
        ("task_id,d,accuracy\n1,5,0.5,9\n", "Line 2 of runs.csv has 4 cells"),
        ("task_id,d,accuracy\n,5,0.5\n", "Line 2 of runs.csv has '' as 'task_id'; expected a name"),
        ('task_id,d,accuracy\n1,"5,0.5\n', "cannot be split into cells"),
    ],
)
def test_broken_table_is_one_sentence(imported, text, said):
    with pytest.raises(BadTable, match=said):
        imported(text)


def test_unreadable_files_are_one_sentence(kb, tmp_path):
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"task_id,d,accuracy\n1,5,0.5\n" * 1000)[:-20])
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x9d")

    for path, said in (
        (cut, "damaged"),
        (binary, "not UTF-8"),
        (tmp_path, "cannot be read"),
        (tmp_path / "x", "no file"),
    ):
        with pytest.raises(BadTable, match=said):
            import_table(kb, path, FOREST)


def test_rows_come_in_chunks_with_the_line_they_end_on(tmp_path):
    (tmp_path / "runs.csv").write_text('a,b\n1,"two\nlines"\n\n3,4\n')

    chunks = list(open_table(tmp_path / "runs.csv").chunks(size=1))

    assert [chunk.cells for chunk in chunks] == [{"a": ["1"], "b": ["two\nlines"]}, {"a": ["3"], "b": ["4"]}]
    assert [chunk.lines for chunk in chunks] == [[3], [5]]


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    (tmp_path / "runs.csv").write_text("a,b\n1,2\n")

    with pytest.raises(BadTable, match=r"no column 'c'\. Columns: a, b\. Choose one with --score-column"):
        open_table(tmp_path / "runs.csv").require("c", "--score-column")


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "runs.csv").write_text("a,a\n1,2\n")

    with pytest.raises(BadTable, match="several columns named 'a'"):
        open_table(tmp_path / "runs.csv")
