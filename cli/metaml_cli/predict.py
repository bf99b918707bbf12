"""`metaml predict`: what a saved model says about new rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.render import say

if TYPE_CHECKING:
    import pandas as pd

    from metaml.model import Answer, Model


def predict(
    model: Annotated[Path, typer.Argument(help="The folder that metaml tune wrote, or a model.zip.")],
    data: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file with the rows to predict.")],
    output: Annotated[str, typer.Option("--output", "-o", help="A csv file; - is standard output.")] = "-",
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
) -> None:
    """Predict the rows of a table, in their order: column `prediction`, with --proba one more per class.

    Example: metaml predict results new.csv -o out.csv --proba
    """
    from metaml.data import read_frame
    from metaml.errors import BadRequest
    from metaml.model import load

    loaded = load(model)
    if proba and loaded.labels is None:
        raise BadRequest(f"The model predicts the number {loaded.schema.target!r}: leave --proba out.")
    answer = loaded.answer(read_frame(data, like=loaded.schema))
    for note in (*loaded.notes, *answer.notes):
        say(f"Note: {note}")
    text = _table(loaded, answer, proba).to_csv(index=False, lineterminator="\n")
    if output == "-":
        typer.echo(text, nl=False)
        return
    _write(Path(output), text)
    say(f"{len(answer.predictions)} predictions of {loaded.schema.target!r} are in {output}.")


def _table(model: "Model", answer: "Answer", proba: bool) -> "pd.DataFrame":
    import pandas as pd

    predictions = pd.DataFrame({"prediction": answer.predictions})
    if not proba or answer.probabilities is None or model.labels is None:
        return predictions
    chances = pd.DataFrame(answer.probabilities, columns=[str(label) for label in model.labels.tolist()])
    return pd.concat([predictions, chances], axis=1)


def _write(path: Path, text: str) -> None:
    from metaml.errors import BadRequest

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror}. Choose another place with -o.") from None
