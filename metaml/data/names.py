"""Column names: made usable, and checked for signs of an identifier."""

import re
from collections.abc import Iterable, Sequence

from metaml.data.columns import Repair

_IDENTIFIERS = "id ids uid pid uuid guid identifier identif rowid userid customerid orderid caseid patientid"
_COUNTERS = "index idx row rows rownames rownum rownumber rowno no nr num number serial seq seqno obs observation"
_ENTITIES = "customer client patient user subject person household member player student machine device sensor session"
_TIMES = "date datetime day days time timestamp year month week quarter period hour minute"
_IDENTIFIER_WORDS = frozenset(_IDENTIFIERS.split())
_INDEX_WORDS = _IDENTIFIER_WORDS | frozenset([*_COUNTERS.split(), "record", "case", "caseno", "sample", "instance"])
_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNNAMED = re.compile(r"(Unnamed: \d+(_level_\d+)?)?")


def usable_names(raw: Iterable[object]) -> tuple[list[str], list[Repair]]:
    """Return distinct, non-empty, stripped names in the same order, and what was renamed.

    >>> names, repairs = usable_names(["a", "", "a "])
    >>> names, [str(repair) for repair in repairs]
    (['a', 'column_2', 'a_2'], ['column_2: named by its position (its header is empty)', \
"a_2: renamed from 'a' (another column has that name)"])
    """
    wanted = [_joined(name).strip() for name in raw]
    repairs: list[Repair] = []
    names: list[str] = []
    taken = set(wanted)
    uses: dict[str, int] = {}
    for position, name in enumerate(wanted, start=1):
        unique = name
        uses[name] = uses.get(name, 0) + 1
        if is_unnamed(name):
            unique = free_name(f"column_{position}", taken)
            repairs.append(Repair(unique, "named by its position", "its header is empty"))
        elif uses[name] > 1:
            unique = free_name(f"{name}_{uses[name]}", taken)
            repairs.append(Repair(unique, f"renamed from {name!r}", "another column has that name"))
        taken.add(unique)
        names.append(unique)
    return names, repairs


def names_by_position(n_columns: int) -> list[str]:
    """Return the names of columns that have none.

    >>> names_by_position(2)
    ['column_1', 'column_2']
    """
    return [f"column_{place + 1}" for place in range(n_columns)]


def is_unnamed(name: object) -> bool:
    """Return whether a header is empty, or what pandas writes for an empty one."""
    return _UNNAMED.fullmatch(_joined(name).strip()) is not None


def _joined(name: object) -> str:
    if isinstance(name, tuple):  # a header of several levels
        return "_".join(str(part) for part in name)
    return "" if name is None else str(name)


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken.

    >>> free_name("a", {"a", "a_2"})
    'a_3'
    """
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def names_an_identifier(name: str) -> bool:
    """Return whether the first or last word of a column name says "identifier".

    >>> [names_an_identifier(name) for name in ("id", "customerID", "Patient Id", "humidity", "width")]
    [True, True, True, False, False]
    """
    return _ends(name) & _IDENTIFIER_WORDS != set()


def names_an_entity(name: str) -> bool:
    """Return whether a column is named after somebody or something that rows may be repeated observations of.

    >>> names_an_entity("Customer"), names_an_entity("customer_age"), names_an_entity("income")
    (True, False, False)
    """
    tokens = [token.lower() for token in _TOKEN.findall(name)]
    return len(tokens) == 1 and tokens[0].removesuffix("s") in _ENTITIES.split()


def names_time(name: str) -> bool:
    """Return whether the first or last word of a column name says when a row was observed.

    >>> names_time("order_date"), names_time("Year"), names_time("yearly_income")
    (True, True, False)
    """
    return _ends(name) & set(_TIMES.split()) != set()


def names_an_index(name: str, *, was_empty: bool) -> bool:
    """Return whether a column that counts 0, 1, 2 ... or 1, 2, 3 ... is named like a row number.

    R calls its row numbers "X".

    >>> [names_an_index(name, was_empty=False) for name in ("No", "X", "rownames", "x", "year")]
    [True, True, True, False, False]
    """
    return was_empty or name == "X" or _ends(name) & _INDEX_WORDS != set()


def _ends(name: str) -> set[str]:
    tokens = [token.lower() for token in _TOKEN.findall(name)]
    return {tokens[0], tokens[-1]} if tokens else set()


def first_names(names: Sequence[str], n: int = 8) -> str:
    """Return the first names in one line, for messages."""
    return ", ".join(names[:n]) + (" ..." if len(names) > n else "")
