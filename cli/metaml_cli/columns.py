"""`metaml columns`: which columns of a table matter for its target."""

from pathlib import Path
from typing import Annotated

import typer

from metaml_cli.describe import introduce
from metaml_cli.kb import Form
from metaml_cli.options import Ignore
from metaml_cli.render import Format, counted, say, show


def columns(
    path: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")],
    target: Annotated[str | None, typer.Option(help="Column to predict; default: the last one.")] = None,
    by: Annotated[str, typer.Option(help="probing (fast) or stability (with a bound on errors).")] = "probing",
    task: Annotated[str | None, typer.Option(help="binary, multiclass or regression; default: detected.")] = None,
    ignore: Ignore = None,
    effects: Annotated[str, typer.Option(help="How columns may matter: curves, or lines only.")] = "curves",
    threshold: Annotated[
        float, typer.Option(help="Stability: share of the half samples that must select a column.")
    ] = 0.9,
    expected_errors: Annotated[
        float, typer.Option(help="Stability: how many irrelevant columns may be expected among the selected ones.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the shuffling and of the half samples.")] = 0,
    everything: Annotated[bool, typer.Option("--all", help="List the other columns, too.")] = False,
    form: Form = Format.table,
) -> None:
    """List the columns that matter for the target.

    Nothing is stored.

    Probing boosts an additive model and stops when a shuffled copy of a column would be selected. Stability selection
    boosts 100 half samples and lists what most of them select.

    Example: metaml columns data.csv --target price --by stability --format csv
    """
    from metaml.data import read_dataset
    from metaml.explanation.column_selection import select_columns

    dataset = read_dataset(path, target=target, task=task, ignore=ignore or ())
    introduce(dataset)
    found = select_columns(
        dataset, by=by, effects=effects, threshold=threshold, expected_errors=expected_errors, seed=seed
    )
    table = found.table
    say(found.note)
    say(f"Selected: {int(table['selected'].sum())} of {counted(len(table), 'column')}.")
    show(table if everything else table[table["selected"]].drop(columns="selected"), form)
