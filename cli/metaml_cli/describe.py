"""`metaml describe`: the metafeatures of a data set, and the most similar known data sets."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import Ignore
from metaml_cli.render import Format, counted, printable, say, show, show_facts

if TYPE_CHECKING:
    from metaml.data import Dataset

N_SIMILAR = 3


def describe(
    path: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")],
    target: Annotated[str | None, typer.Option(help="Column to predict; default: the last one.")] = None,
    task: Annotated[str | None, typer.Option(help="binary, multiclass or regression; default: detected.")] = None,
    ignore: Ignore = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit for the metafeatures, in seconds.")] = 30.0,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Compute the metafeatures of a data set.

    They have OpenML's names. The most similar known data sets are listed, too.

    Example: metaml describe data.csv --target price --format json
    """
    from metaml.data import read_dataset
    from metaml.metafeatures import describe as describe_dataset

    dataset = read_dataset(path, target=target, task=task, ignore=ignore or ())
    introduce(dataset)
    facts = describe_dataset(dataset, seconds=seconds)
    similar = _similar(kb, dataset.fingerprint, facts.values)
    if form is Format.json:
        show_facts(
            {
                "dataset": dataset.name,
                "fingerprint": dataset.fingerprint,
                "task": dataset.task,
                "target": dataset.target,
                "metafeatures": {name: value for name, value in facts.values.items() if value == value},
                "undefined": dict(facts.reasons),
                "seconds": dict(facts.seconds),
                "similar": similar,
            },
            form,
        )
        return
    from metaml.metafeatures.table import as_table

    show(as_table(facts), form)
    say("Seconds: " + ", ".join(f"{group} {spent:.2f}" for group, spent in facts.seconds.items()))
    for item in similar:
        say(f"Similar: {item['name']} (distance {item['distance']:.2f}, {counted(item['runs'], 'run')})")


def introduce(dataset: "Dataset", say: Callable[[str], None] = say) -> None:
    """Print what was read, which column is the target, every repair of the data, and what is suspicious."""
    guessed = ", its last column" if dataset.target_was_guessed else ""
    size = f"{counted(len(dataset.y), 'row')}, {counted(dataset.X.shape[1], 'feature')}"
    say(f"{dataset.name}: {size}, {dataset.task}.")
    say(f"Predicting {dataset.target!r}{guessed}.")
    for repair in dataset.repairs:
        say(f"  {repair.column or 'table'}: {repair.what} ({repair.why})")
    for warning in dataset.warnings:
        say(f"Warning: {printable(warning)}")


def _similar(place: str | None, fingerprint: str, values: dict[str, float]) -> list[dict[str, Any]]:
    """Return the known data sets that are most similar to this one; none if there is no knowledge base."""
    from metaml.metafeatures.similarity import nearest
    from metaml_kb.errors import CannotOpen

    try:
        base = opened(place)
    except CannotOpen:
        if place is not None:
            raise
        return []
    with base:
        table = base.metafeatures().drop(index=fingerprint, errors="ignore")
        known = base.datasets()
    facts = {row["fingerprint"]: row for row in known.to_dict("records")}
    return [
        {
            "name": facts[found]["name"],
            "distance": round(distance, 4),
            "runs": facts[found]["n_runs"],
            "fingerprint": found,
        }
        for found, distance in nearest(values, table, n=N_SIMILAR)
    ]
