"""`metaml explain`: what each column adds to the predictions of new rows."""

from pathlib import Path
from typing import Annotated

import typer

from metaml_cli.predict import write_table
from metaml_cli.render import say


def explain(
    model: Annotated[Path, typer.Argument(help="The folder that metaml tune wrote, or a model.zip.")],
    data: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file with the rows to explain.")],
    output: Annotated[str, typer.Option("--output", "-o", help="A csv file; - is standard output.")] = "-",
    label: Annotated[
        str | None,
        typer.Option("--class", help="The class whose probability is explained; default: the predicted one."),
    ] = None,
    samples: Annotated[
        int,
        typer.Option(min=1, help="Pairs of samples for members other than boosted trees; more pairs are more exact."),
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampling.")] = 0,
) -> None:
    """Say what each column adds to each prediction.

    The base and the contributions sum to the output.

    The output is the predicted number, or the probability of a class.

    Example: metaml explain results new.csv -o why.csv
    """
    from metaml.data import read_frame
    from metaml.model import load

    loaded = load(model)
    frame = read_frame(data, like=loaded.schema)
    for note in loaded.notes:
        say(f"Note: {note}")
    found = loaded.explain(frame, samples=samples, seed=seed)
    write_table(found.table(label), output)
    if output != "-" and len(frame):
        strongest = found.importance().head(5)
        shown = [f"{name} ({size:.3g})" for name, size in strongest.itertuples(index=False)]
        say(f"Explanations are in {output}. Largest mean contributions: {', '.join(shown)}.")
