"""`metaml predict`: predict new rows with a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.live import LiveLine, ticking
from metaml_cli.options import shares
from metaml_cli.render import Format, counted, say, show

if TYPE_CHECKING:
    import pandas as pd


def predict(
    model: Annotated[Path, typer.Argument(help="The folder that metaml tune wrote, or a model.zip.")],
    data: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file with the rows to predict.")],
    output: Annotated[str, typer.Option("--output", "-o", help="A csv file; - is standard output.")] = "-",
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(help="Add an interval that holds the true value with this probability, such as 0.9."),
    ] = None,
    quantiles: Annotated[
        str | None,
        typer.Option(help="Add the values that the truth stays below with these probabilities, such as .05,.5,.95."),
    ] = None,
    verify: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Refuse a model that was not signed with the key in this file.")
    ] = None,
) -> None:
    """Predict the rows of a table, in the same order.

    The output has a column `prediction`; with --proba, also one column per class. With --interval it has `low` and
    `high` for a number, or `set` for a class: the labels that are possible. With --quantiles, such as .05,.95, it has a
    column for each (`q0.05`).

    Example: metaml predict results new.csv -o out.csv --proba
    """
    line = LiveLine()
    with ticking(line):
        line.phase("loading the model")
        from metaml.data import read_frame
        from metaml.errors import BadRequest
        from metaml.model import load
        from metaml.model.signing import read_key
        from metaml.model.table import prediction_table, with_intervals

        loaded = load(model, key=None if verify is None else read_key(verify))
        if proba and loaded.labels is None:
            raise BadRequest(f"The model predicts the number {loaded.schema.target!r}: leave --proba out.")
        line.phase("reading")
        frame = read_frame(data, like=loaded.schema)
        line.phase(f"predicting {counted(len(frame), 'row')}")
        answer = loaded.answer(frame)
        for note in (*loaded.notes, *answer.notes):
            line.say(f"Note: {note}")
        table = prediction_table(loaded, answer, proba=proba)
        if interval is not None:
            table = with_intervals(table, loaded.predict_interval(frame, interval))
        if quantiles is not None:
            table = with_intervals(table, loaded.predict_quantiles(frame, shares(quantiles)))
        line.phase("writing")
        text = csv_text(table)
    # Draw no live line between the rows of a table in the terminal.
    write_text(text, output)
    if output != "-":
        n = len(answer.predictions)
        say(f"{counted(n, 'prediction')} of {loaded.schema.target!r} {'is' if n == 1 else 'are'} in {output}.")


def write_table(table: "pd.DataFrame", output: str) -> None:
    """Write a table as csv into a file, or to standard output if that is -."""
    write_text(csv_text(table), output)


def csv_text(table: "pd.DataFrame") -> str:
    """Return a table as csv, without its index."""
    return table.to_csv(index=False, lineterminator="\n")


def write_text(text: str, output: str) -> None:
    """Write a text into a file, or to standard output if that is -."""
    from metaml.errors import BadRequest

    if output == "-":
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"{output} cannot be written: {error.strerror}. Choose another place with -o.") from None


def evaluate(
    model: Annotated[Path, typer.Argument(help="The folder that metaml tune wrote, or a model.zip.")],
    data: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file with the target.")],
    metric: Annotated[str | None, typer.Option(help="Only this metric; default: all metrics of the task.")] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column that says how much each row counts; default: that of the search.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="csv and json write only data to standard output.")] = (
        Format.table
    ),
) -> None:
    """Score a saved model on labelled rows.

    Each score comes with its standard error.

    A higher score is better, so losses are negative. The first row is the metric of the search, beside its
    cross-validated score.

    Example: metaml evaluate results labelled.csv
    """
    import warnings

    from metaml.tuning.results.predicting import evaluate as evaluate_model

    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        table = evaluate_model(model, data, metric=metric, weight=weight)
    for note in notes:
        say(f"Note: {note.message}")
    show(table, form)
