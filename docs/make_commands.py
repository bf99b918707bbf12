"""Writes docs/commands.md, the command reference, from what `metaml … --help` says now.

Run: python docs/make_commands.py
"""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import typer
from typer.testing import CliRunner

from metaml_cli.main import app

PAGE = Path(__file__).with_name("commands.md")
WIDTH = 80
MADE_WITH = f"<!-- typer {version('typer')} -->"
"""Other versions write placeholders and line breaks otherwise."""
INTRODUCTION = """# Commands

What `metaml … --help` says, command by command. This page is written by `python docs/make_commands.py`; a test fails
when it is out of date. Every command that takes `--kb` uses the file or database URL in the variable `METAML_KB`
without it, and your own knowledge base without either.

Completion with the tab key: `metaml --install-completion` sets it up for bash, zsh, fish or PowerShell, whichever runs
the command; open a new terminal afterwards. `metaml --show-completion` prints the lines instead, to be put where you
like.

Exit codes: 0 is success; 2 a request that cannot be met, and one sentence says why; 1 an error that `kb doctor` found,
a difference that `reproduce` or `replay` found, a `tune` that ended early, with a model, because nothing more could be
stored, a `tune` or `bot` whose knowledge base was deleted or replaced, or a mistake inside metaml; 130 a search or a
bot that Ctrl-C ended early, with all that was done kept, and likewise 143 after SIGTERM and 129 after SIGHUP.
"""


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group of commands, `metaml` itself first, as none."""

    def walk(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))

    return walk(typer.main.get_command(app), ())


def help_of(words: tuple[str, ...]) -> str:
    """Return the help of a command, as a terminal of 80 columns shows it."""
    result = CliRunner().invoke(app, [*words, "--help"], prog_name="metaml", terminal_width=WIDTH)
    return "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())


def page() -> str:
    """Return the command reference."""
    parts = [f"{INTRODUCTION}\n{MADE_WITH}\n"]
    for words in commands():
        title = " ".join(("metaml", *words))
        parts.append(f"{'#' * (2 + (len(words) > 1))} {title}\n\n```text\n{help_of(words)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
