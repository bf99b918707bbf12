"""Print text and tables: fitted to a terminal, complete in a pipe, or as csv and JSON for programs."""

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

WIDEST_CELL = 40
STANDARD_ERROR = 2
GAP = "  "
WIDTH = 80
"""Columns of text in a terminal."""


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    csv = "csv"
    json = "json"


def say(message: str) -> None:
    """Print a message to standard error, so that standard output holds only data; in a terminal, break long lines."""
    if sys.stderr.isatty():
        message = within_width(message, shutil.get_terminal_size().columns)
    with unheard():
        typer.echo(message, err=True)


def within_width(text: str, width: int) -> str:
    """Return text whose lines break between words after at most `width` characters, and keep their indent.

    >>> print(within_width("  29%  lightgbm and more", 16))
      29%  lightgbm
      and more
    """
    lines = text.split("\n")
    return "\n".join(line if len(line) <= width else _broken(line, width) for line in lines)


def _broken(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join(
        textwrap.wrap(
            line,
            max(width, len(indent) + 1),
            initial_indent="",
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
    )


@contextmanager
def unheard() -> Iterator[None]:
    """Ignore that standard error was closed: the message is lost, but the program goes on."""
    try:
        yield
    except OSError:
        # Redirect it, because every later write would fail too, even Python's own at exit.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, STANDARD_ERROR)
        os.close(nowhere)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun. Unlike the report's function, this one imports no library.

    >>> counted(1, "run"), counted(12000, "data set")
    ('1 run', '12,000 data sets')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def show(frame: "pd.DataFrame", form: Format) -> None:
    """Print a table in the given format."""
    if form is Format.csv:
        typer.echo(_with_none_as_word(frame).to_csv(index=False, na_rep=""), nl=False)
    elif form is Format.json:
        typer.echo(json_text(records(frame)))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        typer.echo(as_text(frame, width))


def json_text(content: Any) -> str:
    """Return content as JSON. Numbers that JSON lacks become words: "Infinity", "-Infinity", "NaN".

    >>> json_text(float("-inf")), json_text(1.5)
    ('"-Infinity"', '1.5')
    """
    return json.dumps(_finite(content), indent=2, ensure_ascii=False, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _finite(content) for name, content in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _with_none_as_word(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame with the word None for None: in csv, an empty cell means that a row has no value."""
    written = frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object:
            written[name] = ["None" if value is None else value for value in frame[name]]
    return written


def show_facts(facts: Mapping[str, Any], form: Format) -> None:
    """Print named facts in the given format."""
    if form is Format.json:
        typer.echo(json_text(facts))
        return
    flat = _flatten(facts)
    if form is Format.csv:
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(["fact", "value"])
        writer.writerows(flat.items())
        return
    longest = max(map(len, flat), default=0)
    for name, value in flat.items():
        typer.echo(f"{name:<{longest}}{GAP}{_cell(value)}")


def _flatten(facts: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        title = name.replace("_", " ")
        if isinstance(value, Mapping):
            for inner, content in value.items():
                text = ", ".join(f"{n} {k}" for k, n in content.items()) if isinstance(content, Mapping) else content
                flat[f"{title}: {inner}"] = text
        elif isinstance(value, list):
            flat[title] = ", ".join(map(str, value))
        else:
            flat[title] = "" if value is None else value
    return flat


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return rows as JSON objects. None is null; values that a row does not have are left out."""
    rows = frame.astype(object).to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items() if not _is_missing(value)} for row in rows]


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))


def _plain(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.tolist() if hasattr(value, "tolist") else value


def _cell(value: Any) -> str:
    """Return the text of a value in a table on screen."""
    if _is_missing(value):
        return ""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "strftime"):
        return str(value.strftime("%Y-%m-%d %H:%M:%S"))
    # Replace control characters: a name in someone else's data must not control the terminal.
    text = "".join(character if character.isprintable() else " " for character in str(value))
    return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"


def as_text(frame: "pd.DataFrame", width: int | None) -> str:
    """Return a table as text. Columns that do not fit into `width` characters are only counted."""
    if frame.empty:
        return "(nothing)"
    cells = {str(name): [_cell(value) for value in frame.iloc[:, i]] for i, name in enumerate(frame.columns)}
    if width is not None:
        cells = {name: column for name, column in cells.items() if any(column)}
    widths = {name: max(len(name), *map(len, column)) for name, column in cells.items()}
    shown: list[str] = []
    used = 0
    for name in cells:
        used += widths[name] + len(GAP)
        if width is not None and used - len(GAP) > width and shown:
            break
        shown.append(name)
    is_number = {name: all(_looks_numeric(cell) for cell in cells[name]) for name in shown}
    lines = [GAP.join(_aligned(name, widths[name], is_number[name]) for name in shown)]
    lines += [
        GAP.join(_aligned(cells[name][row], widths[name], is_number[name]) for name in shown)
        for row in range(len(frame))
    ]
    text = "\n".join(line.rstrip() for line in lines)
    hidden = len(cells) - len(shown)
    return f"{text}\n({hidden} more columns; --format csv shows all)" if hidden else text


def _aligned(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def _looks_numeric(cell: str) -> bool:
    return not cell or cell.lstrip("-").replace(".", "", 1).replace("e-", "", 1).replace("e+", "", 1).isdigit()


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
