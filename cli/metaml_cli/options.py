"""Options that several commands share, and those that hold comma-separated names or numbers."""

from typing import Annotated

import typer

RUN_HELP = "Key of a run, or its beginning, or the number of an evaluation of the last search."
Ignore = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]

User = Annotated[str | None, typer.Option(envvar="METAML_USER", help="Whose session it is: a word to find it by.")]
Project = Annotated[str | None, typer.Option(envvar="METAML_PROJECT", help="What it is for: a word to find it by.")]


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated option.

    >>> names_in("svm, mlp,")
    ('svm', 'mlp')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def numbers(text: str | None) -> list[int]:
    """Return the OpenML numbers in a comma-separated option."""
    from metaml.errors import BadRequest

    words = names_in(text or "")
    for word in words:
        if not word.isdigit():
            raise BadRequest(f"{word!r} is not an OpenML number. Write them as 31,37.")
    return [int(word) for word in words]
