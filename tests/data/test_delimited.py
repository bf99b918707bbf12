"""Separated text: delimiters, headers, decimal commas and blank lines."""

from pathlib import Path

import numpy as np
import pytest

from metaml.data import Schema, read_dataset, read_frame
from metaml.errors import BadDataset
from tests.data.files import delimited, written


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_delimiter_is_found_though_cells_hold_the_others(tmp_path: Path, delimiter: str, mark: str) -> None:
    frame = read_frame(written(tmp_path / "x.csv", mark + delimited(delimiter)))

    assert list(frame.columns) == ["a", "b", "y"]
    assert frame["a"].dropna().tolist() == [1.5, 2.5, 3.0] * 2
    assert frame["b"].tolist()[1] == "dark; blue, x|y"
    assert frame["b"].isna().tolist() == [False, False, False, True] * 2


def test_decimal_commas_are_read_and_said(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "a;b;y\n" + "1,5;2;p\n1.234,25;3;q\n-7;4;p\n,;5;q\n".replace(",;", ";") * 2)

    dataset = read_dataset(path)

    assert dataset.X["a"].tolist()[:3] == [1.5, 1234.25, -7.0]
    assert dataset.repairs[0].what == "commas read as decimal points"


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "1.234,25", "-7", "1,234"], [1.5, 1234.25, -7.0, 1.234]),
        (["0,126", "1,304", "2,000", "3,000"], [0.126, 1.304, 2.0, 3.0]),
        (["1,234", "12", "5,678,901", "-2,500"], [1234.0, 12.0, 5678901.0, -2500.0]),
        (["1,234.5", "12", "5,678.0", "7"], [1234.5, 12.0, 5678.0, 7.0]),
    ],
    ids=["a short fraction", "a leading zero", "thousands", "thousands and a fraction"],
)
def test_commas_in_quotes_are_thousands_unless_a_number_says_otherwise(
    tmp_path: Path, cells: list[str], numbers: list[float]
) -> None:
    path = written(tmp_path / "x.csv", "a,b,y\n" + "".join(f'"{cell}",{cell[-1]},{cell[0]}\n' for cell in cells * 6))

    assert read_dataset(path, target="b").X["a"].tolist()[:4] == numbers


def test_a_quoted_comma_is_a_decimal_point_where_it_was_one_in_training(tmp_path: Path) -> None:
    training = written(tmp_path / "x.csv", "a,b,y\n" + '"6,7",2.5,p\n"1,5",3.5,q\n' * 3)
    schema = read_dataset(training).schema

    applied = schema.apply(read_frame(written(tmp_path / "new.csv", 'a,b\n"1,250",1.250\n'), schema))

    assert applied.to_numpy().tolist() == [[1.25, 1.25]]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a;b\n1.234;1.234\n2.500;2\n", [1234.0, 2500.0]),
        ("a;b\n1.234;1.234\n500;2\n", [1234.0, 500.0]),
        ("a;b\n1,234;1.234\nunknown;2\n", [1.234, None]),
        ("a;b\n1.234;1.234\n2.5;2\n", [1.234, 2.5]),
        ("a;b\n1.234;1.234\n0.750;2\n", [1.234, 0.75]),
        ("a,b\n1.234,1.234\n2.500,2\n", [1.234, 2.5]),
        ("a\n1.234\n2.500\n", [1234.0, 2500.0]),
    ],
)
def test_dots_are_thousands_where_training_had_decimal_commas_and_no_number_says_otherwise(
    tmp_path: Path, text: str, numbers: list[float | None]
) -> None:
    training = written(tmp_path / "x.csv", "a;b;y\n" + "6.095,7;2.5;p\n1,5;3.5;q\n7;4.5;p\n" * 2)
    schema = Schema.from_json(read_dataset(training).schema.to_json())

    applied = schema.read(read_frame(written(tmp_path / "new.csv", text), schema))

    assert [None if np.isnan(number) else number for number in applied.X["a"]] == numbers


def test_decimal_commas_are_expected_at_their_place_beside_the_target(tmp_path: Path) -> None:
    training = written(tmp_path / "x.data", "p;2.5;3.5;6.095,7\nq;3.5;4.5;1,5\n" * 4)
    schema = read_dataset(training, target="column_1").schema

    applied = schema.apply(read_frame(written(tmp_path / "new.data", "2.500;3.500;1.234\n"), schema))

    assert applied.to_numpy().tolist() == [[2.5, 3.5, 1234.0]]


def test_row_names_that_r_leaves_out_of_the_header_are_found(tmp_path: Path) -> None:
    lines = [f"{row},{row / 2},{'pq'[row % 2]}" for row in range(1, 9)]
    path = written(tmp_path / "x.csv", "a,y\n" + "\n".join(lines))

    frame = read_frame(path)

    assert list(frame.columns) == ["", "a", "y"]
    assert list(read_dataset(path).X.columns) == ["a"]


def test_a_file_without_header_keeps_its_first_row(tmp_path: Path) -> None:
    path = written(tmp_path / "iris.data", "5.1,3.5,setosa\n4.9,3.0,virginica\n" * 3)

    dataset = read_dataset(path)

    assert len(dataset.X) == 6
    assert list(dataset.X.columns) == ["column_1", "column_2"]
    assert dataset.repairs[0].why == "the first line holds data, not names"


@pytest.mark.parametrize(
    "lines",
    [
        ["39, Private, 13, <=50K", "50, Self-emp, 13, <=50K", "38, Private, 9, >50K"],
        ["p,x,s", "e,x,y", "p,b,s"],
        ["b,?,1.25,00202,+", "a,?,0,00043,+", "b,u,0.5,00100,-"],
    ],
    ids=["few numbers", "no numbers", "a gap"],
)
def test_a_first_line_of_words_that_stand_again_below_is_data(tmp_path: Path, lines: list[str]) -> None:
    frame = read_frame(written(tmp_path / "x.data", "\n".join(lines * 3)))

    assert len(frame) == 9
    assert frame.columns[0] == "column_1"


@pytest.mark.parametrize(
    "text",
    [
        "city,2019,2020\nBonn,1,2\nBonn,3,4\n",
        "Mail,Phone\nMail,\n,Phone\nMail,Phone\n",
        "a,b\nx,1\na,b\nx,2\n",
    ],
    ids=["years", "ticked answers", "a repeated header"],
)
def test_a_first_line_of_names_is_the_header(tmp_path: Path, text: str) -> None:
    frame = read_frame(written(tmp_path / "x.csv", text))

    assert list(frame.columns) == text.split("\n")[0].split(",")


def test_short_lines_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "y,a,b\np,1,2\nq,2\np,3,4\nq,4,5\np,5,6\nq,6,7\n")

    dataset = read_dataset(path, target="y")

    assert str(dataset.repairs[0]) == "1 absent cell read as missing (some lines are shorter than the header)"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "cells"), [("\na\n1\n\n3\n\n", [1.0, None, 3.0]), ("1.5\n\n \n3", [1.5, None, None, 3.0])]
)
def test_a_blank_line_is_an_empty_cell_of_a_single_column(
    tmp_path: Path, text: str, cells: list[float | None], end: str
) -> None:
    frame = read_frame(written(tmp_path / "x.csv", text.replace("\n", end)))

    assert frame.iloc[:, 0].astype(object).where(frame.iloc[:, 0].notna(), None).tolist() == cells


def test_a_blank_line_is_no_row_of_several_columns(tmp_path: Path) -> None:
    frame = read_frame(written(tmp_path / "x.csv", "a,b\n1,2\n\n3,4\n\n"))

    assert frame["a"].tolist() == [1, 3]


@pytest.mark.parametrize("n_characters", [140_000, 2_100_000])
def test_a_long_cell_in_the_first_row_is_read(tmp_path: Path, n_characters: int) -> None:
    frame = read_frame(written(tmp_path / "x.csv", "a,b,y\n" + f"1,{'w' * n_characters},p\n" + "2,v,q\n" * 5))

    assert len(frame) == 6
    assert len(frame["b"][0]) == n_characters


def test_a_header_alone_is_still_no_table(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="has a header but no rows"):
        read_frame(written(tmp_path / "x.csv", "a,b,y\n"))


def test_huge_integer_labels_beside_empty_cells_keep_every_digit(tmp_path: Path) -> None:
    rows = "1,9007199254740993\n2,9007199254740995\n3,\n" * 10

    dataset = read_dataset(written(tmp_path / "x.csv", "a,y\n" + rows))

    assert dataset.labels is not None
    assert dataset.labels.tolist() == [9007199254740993, 9007199254740995]
