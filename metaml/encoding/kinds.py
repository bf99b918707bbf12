"""What kind of parameter a set of observed values makes: thesis table 3.1."""

from collections.abc import Iterable
from typing import Literal

from metaml.spaces.config import Value

Kind = Literal["numeric", "nominal", "boolean", "mixed", "object"]

NULL = "null"
"""The word a mixed parameter has where its value is a number."""


def kind_of(values: Iterable[object]) -> Kind:
    """Return the kind of a parameter that has taken these values (van Hoof 2018, table 3.1).

    None does not change the kind of words or booleans, but None among numbers makes a parameter mixed.
    Booleans may be written 0 and 1.

    >>> kind_of([10, 100, 500]), kind_of([9, 10, None]), kind_of([True, False, 0, 1])
    ('numeric', 'mixed', 'boolean')
    """
    seen = {type(value) for value in values}
    types = seen - {type(None)}
    if any(not issubclass(kind, str | int | float) for kind in types):
        return "object"
    words = any(issubclass(kind, str) for kind in types)
    if bool in types and not words:
        return "boolean"
    if not any(issubclass(kind, int | float) for kind in types):
        return "nominal"
    return "mixed" if words or type(None) in seen else "numeric"


def is_number(value: object) -> bool:
    """Return whether a value belongs to the numeric part of a mixed parameter; True and False do."""
    return isinstance(value, int | float)


def word_of(value: Value) -> str:
    """Return the word under which a value that is not a number enters a vocabulary.

    >>> word_of(None)
    'None'
    """
    return str(value)
