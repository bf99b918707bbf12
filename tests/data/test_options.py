"""What a user says about columns, as it is given and as it is stored."""

import json

import pytest

from metaml.data import ColumnOptions, column_options
from metaml.errors import BadRequest


def test_levels_come_as_a_text_a_list_or_a_mapping():
    levels = (("size", ("S", "M", "L")),)

    assert column_options(ordinal="size: S < M < L").ordinal == levels
    assert column_options(ordinal=["size:S<M<L"]).ordinal == levels
    assert column_options(ordinal={"size": ["S", "M", "L"]}).ordinal == levels


@pytest.mark.parametrize("text", ["size", "size:S", "S<M<L"])
def test_a_text_without_a_column_or_an_order_is_refused(text):
    with pytest.raises(BadRequest, match="Write the column and its levels as 'size:S<M<L'"):
        column_options(ordinal=text)


def test_options_survive_json():
    options = column_options(columns=["a", "b"], ordinal="b:1<2", increasing="a", group="who")

    assert ColumnOptions.from_json(json.loads(json.dumps(options.as_json()))) == options


def test_nothing_said_is_nothing_stored():
    assert column_options().as_json() == {}
