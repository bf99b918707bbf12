"""JSON arrays as columns: the fast decoder agrees with the JSON parser."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml_kb.columns import decode, hexadecimal, scatter, typed

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["None", "null", "true", "1", "1.0", "a,b", "]\n[", '"', "\\"]),
)


def same(first: object, second: object) -> bool:
    return type(first) is type(second) and first == second


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=20))
def test_the_fast_decoder_agrees_with_the_json_parser(rows):
    texts = [json.dumps(list(row), separators=(",", ":"), ensure_ascii=False).encode() for row in rows]

    few = decode(b"\n".join(texts), len(texts), 2)
    many = decode(b"\n".join(texts * 1000), 1000 * len(texts), 2)

    for place in range(2):
        expected = [row[place] for row in rows]
        assert all(map(same, expected, list(few[place].astype(object))))
        assert all(map(same, expected, list(many[place][: len(rows)].astype(object))))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([1, 2], "int64"), ([1.0, 2.0], "float64"), ([True, False], "bool"), (["a", "b"], "str"), ([1, None], "object")],
)
def test_a_column_of_one_type_has_that_type(values, dtype):
    column = typed(values)

    assert str(column.dtype) == dtype
    assert list(column) == values


def test_an_integer_that_no_array_holds_stays_a_python_integer():
    assert typed([2**70]).tolist() == [2**70]


def test_pieces_are_put_at_their_rows_and_other_rows_have_no_value():
    column = scatter([(np.array([2]), np.array([7])), (np.array([0]), np.array(["a"], dtype=object))], 3)

    assert (column[0], column[2]) == ("a", 7)
    assert np.isnan(column[1])


def test_pieces_of_one_type_that_fill_all_rows_keep_it():
    column = scatter([(np.array([1]), np.array([7])), (np.array([0]), np.array([5]))], 2)

    assert (str(column.dtype), column.tolist()) == ("int64", [5, 7])


def test_identities_are_shown_as_hexadecimal_text():
    assert list(hexadecimal(bytes(16) + bytes(range(16)))) == ["0" * 32, bytes(range(16)).hex()]
