"""`metaml why`: explain a run: who proposed it, what was predicted, and which past data sets supported it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import RUN_HELP
from metaml_cli.render import Format, printable, show_facts, wrapped

if TYPE_CHECKING:
    from metaml_kb.lookup import StoredRun

LABEL = 15


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Explain a run: who proposed it and what was predicted.

    It also shows the result, and which past runs supported the proposal.

    A number such as 4 means evaluation 4 of the last search. The leaderboard shows numbers and keys.

    Example: metaml why 1f3a9c02
    """
    from metaml.records.explanation import run_facts
    from metaml_kb.lookup import find_run

    with opened(kb) as base:
        stored = find_run(base, run)
    if form is not Format.table:
        show_facts(run_facts(stored), form)
        return
    typer.echo("\n".join(lines_of(stored)))


def lines_of(stored: "StoredRun") -> list[str]:
    """Return the explanation of a run as lines of at most 80 columns."""
    from metaml.experience.run_explained import explained, title_of

    lines = wrapped(title_of(stored))
    for block in explained(stored):
        lines.append("")
        for name, texts in block:
            lines += _listed(name, texts) if name else texts
    return [printable(line) for line in lines]


def _listed(name: str, texts: Sequence[str]) -> list[str]:
    """Return one or several facts under one label as lines of at most 80 columns."""
    return [line for place, text in enumerate(texts) for line in wrapped(text, f"{'' if place else name:<{LABEL}}")]
