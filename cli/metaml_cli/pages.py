"""Text for a terminal: wrapped lines without control characters."""

import textwrap

WIDTH = 80


def wrapped(text: str, label: str = "") -> list[str]:
    """Return text as lines of at most 80 columns, with a label before the first and an indent before the others.

    >>> wrapped("one after another", "Runs  ")
    ['Runs  one after another']
    """
    return textwrap.wrap(
        text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label), break_on_hyphens=False
    ) or [label.rstrip()]


def printable(line: str) -> str:
    """Return a line with control characters replaced, so that a name cannot control the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)
