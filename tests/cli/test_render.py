"""Tables on screen, and complete as csv and JSON."""

import json
import math

import pandas as pd
import pytest

from metaml_cli.render import Format, as_text, records, say, show, show_facts, within_width


def test_a_table_gives_the_terminal_no_commands():
    frame = pd.DataFrame({"name": ["\x1b[2Jred\nand\tgreen"]})

    assert as_text(frame, width=70).splitlines() == ["name", " [2Jred and green"]


def test_a_table_fits_the_terminal():
    frame = pd.DataFrame({name: ["x" * 20] for name in "abcdef"})

    text = as_text(frame, width=70)

    assert max(map(len, text.splitlines())) <= 70
    assert text.splitlines()[-1] == "(3 more columns; --format csv shows all)"


def test_numbers_stand_to_the_right_and_words_to_the_left():
    frame = pd.DataFrame({"name": ["a", "long"], "score": [0.5, 12.25]})

    assert as_text(frame, width=None).splitlines() == ["name  score", "a       0.5", "long  12.25"]


def test_an_empty_table_says_so():
    assert as_text(pd.DataFrame({"a": []}), width=80) == "(nothing)"


def test_a_column_without_a_value_is_shown_only_in_a_pipe():
    frame = pd.DataFrame({"a": [1], "nothing": [float("nan")]})

    assert "nothing" not in as_text(frame, width=80)
    assert "nothing" in as_text(frame, width=None)


def test_json_leaves_out_what_a_row_does_not_have_and_keeps_none():
    frame = pd.DataFrame({"a": [None, 1], "b": [2.0, float("nan")]}, dtype=object)

    assert records(frame) == [{"a": None, "b": 2.0}, {"a": 1}]


@pytest.mark.parametrize(
    ("form", "printed"),
    [
        (Format.csv, "fact,value\nruns,3\nruns by status: ok,2\n"),
        (Format.table, "runs                3\nruns by status: ok  2\n"),
    ],
)
def test_facts_are_flattened_for_people_and_tables(capsys, form, printed):
    show_facts({"runs": 3, "runs_by_status": {"ok": 2}}, form)

    assert capsys.readouterr().out == printed


def test_a_message_goes_to_standard_error(capsys):
    say("working")

    assert capsys.readouterr() == ("", "working\n")


def test_long_lines_break_between_words_and_keep_their_indent():
    text = "Done.\n  29%  gradient_boosting with many words"

    lines = within_width(text, 30).split("\n")

    assert lines == ["Done.", "  29%  gradient_boosting with", "  many words"]


def test_a_word_longer_than_the_terminal_stays_whole():
    path = "/" + "x" * 60

    assert within_width(f"Report: {path}", 30).split("\n") == ["Report:", path]


def test_json_has_no_number_that_json_lacks(capsys):
    frame = pd.DataFrame({"x": [math.inf, -math.inf, 1.0], "config": [{"a": [math.inf]}, {}, {}]})

    show(frame, Format.json)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    rows = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert [row["x"] for row in rows] == ["Infinity", "-Infinity", 1.0]
    assert rows[0]["config"] == {"a": ["Infinity"]}
