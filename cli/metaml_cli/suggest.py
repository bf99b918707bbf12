"""`metaml suggest`: recommend configurations for a data set, with reasons, without running anything."""

import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from metaml_cli.describe import introduce
from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import Ignore, names_in
from metaml_cli.render import WIDTH, Format, counted, say, show, wrapped

ORDER = (
    "Order: the best of earlier versions of this table come first, if there are any. Each line after them adds most to "
    "the lines above it on similar data sets, so a later line may have a higher expected score than an earlier one. "
    "sd: standard deviations of a data set's scores. +1 sd is one of them above the mean of all runs on that data set."
)


def suggest(
    path: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")],
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="How many.")] = 10,
    target: Annotated[str | None, typer.Option(help="Column to predict; default: the last one.")] = None,
    task: Annotated[str | None, typer.Option(help="binary, multiclass or regression; default: detected.")] = None,
    ignore: Ignore = None,
    metric: Annotated[str, typer.Option(help="Score to optimise; auto: ROC AUC, log loss or RMSE.")] = "auto",
    algorithms: Annotated[str | None, typer.Option(help="Comma-separated; default: all.")] = None,
    exclude_dataset: Annotated[
        list[str] | None,
        typer.Option(help="Ignore experience with this data set and its near-duplicates; may be repeated."),
    ] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Recommend configurations for a data set, with reasons.

    What is recommended is learnt from all past runs.

    Each line adds most to the lines above it on similar data sets. "sd" counts standard deviations of a data set's
    scores: +1 is one standard deviation above the mean of its runs.

    Example: metaml suggest data.csv -n 10
    """
    from metaml.data import read_dataset
    from metaml.experience.suggest import request_for
    from metaml.experience.suggest import suggest as suggest_for

    dataset = read_dataset(path, target=target, task=task, ignore=ignore or ())
    introduce(dataset)
    request = request_for(dataset, metric=metric, algorithms=names_in(algorithms or ""))
    with opened(kb, create=kb is None) as base:
        found = suggest_for(base, dataset, request, n=n, exclude_datasets=exclude_dataset or ())
    if not found.is_known:
        known = counted(found.n_datasets, "data set")
        say(
            f"{base.name} has runs on {known} of {found.family}, too few for suggestions (10 data sets are needed). "
            "metaml bot adds runs. Until then, start with the defaults that metaml tune tries first."
        )
        return
    if form is not Format.table:
        import pandas as pd

        show(pd.DataFrame(found.rows), form)
        return
    experience = found.experience
    if experience is not None:
        similar = ", ".join(name for name, _ in experience.similar[:3])
        source = f"{counted(experience.lessons.n_runs, 'run')} on {counted(experience.lessons.n_datasets, 'data set')}"
        say(f"From {source}; most similar: {similar}.")
    for line in wrapped(ORDER):
        say(line)
    for row in found.rows:
        typer.echo("\n".join(_lines(row)))


def _lines(row: dict[str, Any]) -> list[str]:
    """Return a suggestion as lines of at most 80 columns."""
    seconds = f"about {row['seconds']:g} s" if row["seconds"] == row["seconds"] else "time unknown"
    expected = "too few runs to say" if row["expected_sd"] is None else f"expected {row['expected_sd']:+.2f} sd"
    head = f"{row['rank']:>2}. {row['algorithm']}  ({expected}, {seconds})"
    settings = ", ".join(f"{name}={value}" for name, value in row["config"].items())
    earlier = ", ".join(f"{item['dataset']} (number {item['place']})" for item in row["carriers"] if "place" in item)
    similar = [item for item in row["carriers"] if "standing" in item]
    carriers = ", ".join(f"{item['dataset']} {item['standing']:+.1f}" for item in similar[:3])
    parts = [
        ("", settings),
        ("did well on the same columns: ", earlier),
        ("because ", "; ".join(row["reasons"])),
        ("on similar data (sd): ", carriers),
    ]
    lines = [head]
    for label, text in parts:
        if not text:
            continue
        lines += textwrap.wrap(label + text, WIDTH, initial_indent="    ", subsequent_indent="      ")
    return lines
