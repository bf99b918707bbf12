"""Column names: made usable, and checked for signs of an identifier."""

import pytest

from metaml.data.names import first_names, free_name, is_unnamed, names_an_identifier, names_an_index, usable_names


def test_names_are_stripped_distinct_and_never_empty() -> None:
    names, repairs = usable_names([" a ", "a", "", None, ("top", "below")])

    assert names == ["a", "a_2", "column_3", "column_4", "top_below"]
    assert [repair.column for repair in repairs] == ["a_2", "column_3", "column_4"]


def test_a_made_name_never_takes_that_of_another_column() -> None:
    names, _ = usable_names(["a", "a", "a_2", "", "column_4"])

    assert len(set(names)) == 5
    assert names[2] == "a_2"
    assert names[4] == "column_4"


def test_a_taken_name_is_numbered_with_the_first_free_number() -> None:
    assert free_name("a", {"b"}) == "a"
    assert free_name("a", {"a", "a_2", "a_4"}) == "a_3"


@pytest.mark.parametrize("name", ["", "  ", None, "Unnamed: 0", "Unnamed: 3_level_1"])
def test_what_pandas_writes_for_an_empty_header_is_no_name(name: object) -> None:
    assert is_unnamed(name)


@pytest.mark.parametrize(
    ("name", "is_identifier"),
    [
        ("id", True),
        ("customerID", True),
        ("order_id", True),
        ("id_of_house", True),
        ("humidity", False),
        ("idea", False),
    ],
)
def test_an_identifier_has_id_as_its_first_or_last_word(name: str, is_identifier: bool) -> None:
    assert names_an_identifier(name) is is_identifier


def test_a_column_without_a_name_may_number_the_rows() -> None:
    assert names_an_index("column_1", was_empty=True)
    assert not names_an_index("column_1", was_empty=False)
    assert names_an_index("X", was_empty=False)


def test_a_message_shows_a_few_names() -> None:
    assert first_names(["a", "b"]) == "a, b"
    assert first_names(["a", "b", "c"], 2) == "a, b ..."
