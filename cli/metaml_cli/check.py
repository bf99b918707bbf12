"""`metaml check`: are new rows like those that a model was trained on?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from metaml_cli.render import Format, show

DIFFERENT = 1
"""Exit code if the rows differ from the training rows."""
MOST_COLUMNS = 10


def check(
    model: Annotated[Path, typer.Argument(help="The folder that metaml tune wrote, or a model.zip.")],
    data: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file with new rows.")],
    limit: Annotated[
        float, typer.Option(help="Area under the curve (0.5 to 1) beyond which the rows count as different.")
    ] = 0.6,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Check whether new rows are like the training rows.

    The exit code is 1 if they are not.

    A classifier tries to separate new rows from training rows. Each column is compared, and new categories are listed.
    The target is compared, too; if the file has no target, the predictions of the model are compared instead.

    Example: metaml check results new.csv
    """
    from metaml.data import read_frame
    from metaml.model import load

    loaded = load(model)
    found = loaded.check(read_frame(data, like=loaded.schema), limit=limit)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        apart = found.separation
        typer.echo(f"{found.n_rows:,} rows; a classifier tells them from the training rows with AUC "
                   f"{apart.auc:.3f} ± {apart.error:.3f} (0.5: not at all).")  # fmt: skip
        show(found.table().head(MOST_COLUMNS).round(3), Format.table)
        for name, words in found.new_categories.items():
            some = ", ".join(f"{word!r} ({n:,})" for word, n in list(words.items())[:5])
            typer.echo(f"New in {name}: {some}")
        kind = "target" if found.is_target_known else "predictions"
        typer.echo(f"Shift of the {kind} of {found.target.column}: {found.target.distance:.3f}.")
        for reason in found.reasons:
            typer.echo(reason)
        typer.echo("These rows differ from the training rows." if found.differs else "No difference was found.")
    if found.differs:
        raise typer.Exit(DIFFERENT)
