"""Pages of text for a person: lines that fit a terminal and cannot steer it."""

import textwrap

WIDTH = 80


def wrapped(told: str, label: str = "") -> list[str]:
    """Return text as lines that fit, the first behind a label and the others below it.

    >>> wrapped("one after another", "Runs  ")
    ['Runs  one after another']
    """
    return textwrap.wrap(
        told, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False
    ) or [label.rstrip()]


def printable(line: str) -> str:
    """Return a line without characters that would steer the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)
