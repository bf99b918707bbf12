"""`metaml reproduce`: evaluate a stored run again and compare the scores."""

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import RUN_HELP, Ignore
from metaml_cli.render import WIDTH, Format, as_text, printable, say, show_facts, wrapped

if TYPE_CHECKING:
    import pandas as pd

    from metaml.records.reproduction import Reproduction

DIFFERENT = 1


def reproduce(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    data: Annotated[
        Path | None, typer.Option(help="The data file of the run; not needed for the data sets of bot --builtin.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict; default: the stored one.")] = None,
    ignore: Ignore = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Evaluate a stored run again and compare every score.

    Scores are compared on every fold; the exit code is 1 if one differs.

    The data, the folds, the configuration and the seed are those of the run.

    Example: metaml reproduce 1f3a9c02 --data data.csv
    """
    from metaml.records.reproduction import dataset_of
    from metaml.records.reproduction import reproduce as make_again
    from metaml_kb.lookup import find_run

    with opened(kb) as base:
        stored = find_run(base, run)
    dataset = dataset_of(stored, data, target, ignore or ())
    took = (stored.run.fit_seconds or 0.0) + (stored.run.predict_seconds or 0.0)
    say(f"Evaluating {stored.run.algorithm} on {dataset.name} again; it took {took:.1f} s.")
    found = make_again(stored, dataset)
    if form is Format.table:
        typer.echo("\n".join(lines_of(found)))
    else:
        show_facts(reproduction_facts(found), form)
    if not found.is_same:
        raise typer.Exit(DIFFERENT)


def reproduction_facts(found: "Reproduction") -> dict[str, Any]:
    """Return the comparison as JSON values."""
    from metaml.records.explanation import defined

    run = found.stored.run
    return {
        "run": found.stored.key,
        "is_same": found.is_same,
        "status": {"stored": run.status, "again": found.outcome.status},
        "error": {"stored": run.error, "again": found.outcome.error},
        "scores_compared": found.n_compared,
        "scores_that_differ": len(found.differences),
        "differences": [
            {"metric": item.metric, "fold": item.fold, "stored": defined(item.stored), "again": defined(item.again)}
            for item in found.differences
        ],
        "versions": {name: {"stored": then, "again": now} for name, (then, now) in found.versions.items()},
    }


def lines_of(found: "Reproduction") -> list[str]:
    """Return the comparison as lines of at most 80 columns."""
    lines = wrapped(_verdict(found))
    if found.outcome.scores and found.differences:
        lines += ["", *as_text(_table(found), WIDTH).splitlines()]
    if not found.is_same:
        lines += ["", *wrapped(_circumstances(found))]
        lines += [
            f"  {name} {then or 'none'} then, {now or 'none'} now" for name, (then, now) in found.versions.items()
        ]
    return [printable(line) for line in lines]


def _verdict(found: "Reproduction") -> str:
    run, outcome, key = found.stored.run, found.outcome, found.stored.key[:8]
    then, now = _ended(run.status, run.error), _ended(outcome.status, outcome.error)
    if outcome.status != run.status:
        return f"Not reproduced: run {key} was {then}, now it is {now}."
    if found.differences:
        return f"Not reproduced: {len(found.differences)} of the {found.n_compared} scores of run {key} differ."
    if not found.n_compared:
        return f"Reproduced: run {key} was {then} and has no scores, now it is {now} again."
    return f"Reproduced: all {found.n_compared} scores of run {key} are the same to 1e-9."


def _ended(status: str, error: str | None) -> str:
    return f"{status} ({error})" if error else status


def _table(found: "Reproduction") -> "pd.DataFrame":
    import pandas as pd

    rows = [
        (
            item.metric,
            "mean" if item.fold is None else str(item.fold),
            f"{item.stored:.10g}",
            "–" if item.again is None else f"{item.again:.10g}",
            "–" if item.again is None else f"{item.again - item.stored:+.2g}",
        )
        for item in found.differences
    ]
    return pd.DataFrame(rows, columns=["metric", "fold", "stored", "now", "difference"])


def _circumstances(found: "Reproduction") -> str:
    """Return possible reasons for the difference."""
    machine = found.stored.environment
    if machine is None:
        return "The library versions of the stored run are not known."
    elsewhere = machine.host and machine.host != platform.node()
    where = f" It was made on another machine ({machine.host})." if elsewhere else ""
    if found.versions:
        return f"These versions differ from those of the stored run.{where}"
    return f"The library versions are the same.{where} The order of a file's columns matters, too."
