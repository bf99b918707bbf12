"""`metaml kb insight`, `kb plot` and `kb rerank`: what can be learned from the runs of a knowledge base."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import names_in
from metaml_cli.render import Format, counted, json_text, records, say, show

if TYPE_CHECKING:
    from metaml.insight import Insight
    from metaml.spaces.config import Config
    from metaml_kb import KnowledgeBase

Algorithm = Annotated[str, typer.Option(help="The algorithm whose hyperparameters to study.")]
Rows = Annotated[str | None, typer.Option(help="Only data sets with this number of rows, such as 500..5000 or ..500.")]
Task = Annotated[str | None, typer.Option(help="Only binary, multiclass or regression.")]
Split = Annotated[str, typer.Option(help="Numbers of rows that divide small from large data sets.")]
Default = Annotated[
    list[str] | None,
    typer.Option(help="NAME=VALUE: the configuration to compare with, if not the algorithm's default."),
]
SPLIT = "500,5000"


def insight(
    algorithm: Algorithm,
    metric: Annotated[str, typer.Option(help="A stored metric, such as roc_auc, accuracy, log_loss, rmse.")],
    rows: Rows = None,
    task: Task = None,
    split: Split = SPLIT,
    default: Default = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Show which hyperparameters matter and what to set.

    This is learnt from the runs of an algorithm on many data sets.

    Importance, ranges and best values come from runs that no search proposed. Gain: how much tuning improves on the
    default.

    Example: metaml kb insight --algorithm lightgbm --metric roc_auc --rows 500..5000
    """
    with opened(kb) as base:
        found = _found(base, algorithm, metric, rows, task, split, default)
    if form is Format.csv:
        show(found.hyperparameters, form)
        return
    if form is Format.json:
        typer.echo(json_text(_facts(found)))
        return
    say(
        f"{found.algorithm} by {found.metric.removeprefix('neg_')}: {counted(found.n_runs, 'run')} on "
        f"{counted(found.n_datasets, 'data set')}; {found.n_drawn:,} of them not proposed by a search."
    )
    for sentence in _gains(found):
        say(sentence)
    show(found.hyperparameters, form)
    values = found.values
    first = found.hyperparameters["hyperparameter"].tolist()[:3]
    say(f"\nHow often each value is best, and what it costs to fix it there ({', '.join(first)}):")
    show(values[values["hyperparameter"].isin(first)], form)
    for note in found.notes:
        say(note)


def _found(
    base: "KnowledgeBase",
    algorithm: str,
    metric: str,
    rows: str | None,
    task: str | None,
    split: str,
    default: list[str] | None,
) -> "Insight":
    """Return the insight that these options ask for."""
    from metaml.experience.insight_runs import algorithm_runs
    from metaml.insight import insight as compute

    runs = algorithm_runs(base, algorithm, metric=metric, task=task, rows=rows_in(rows))
    edges = [_number(word) for word in names_in(split)]
    return compute(runs, split_rows=edges, default=_config(default, runs.configs) if default else None)


def rows_in(text: str | None) -> tuple[float, float] | None:
    """Return the smallest and the largest number of rows in a text such as 500..5000.

    >>> rows_in("500..5000"), rows_in("..500"), rows_in(None)
    ((500, 5000), (0, 500), None)
    """
    from metaml.errors import BadRequest

    if text is None:
        return None
    low, dots, high = (part.strip() for part in text.partition(".."))
    if not dots:
        raise BadRequest(f"--rows {text!r} is not a range. Write it as 500..5000, 500.. or ..5000.")
    return _number(low) if low else 0, _number(high) if high else float("inf")


def _number(word: str) -> int:
    from metaml.errors import BadRequest

    if not word.isdigit():
        raise BadRequest(f"{word!r} is not a number of rows. Write it as 500.")
    return int(word)


def _config(pairs: list[str], configs: "Sequence[Config]") -> "Config":
    """Return the configuration of NAME=VALUE pairs, with values as they were run."""
    from metaml.errors import BadRequest

    found: Config = {}
    for pair in pairs:
        name, _, word = (part.strip() for part in pair.partition("="))
        known = {str(config[name]): config[name] for config in configs if name in config}
        if word not in known:
            some = ", ".join(list(known)[:8]) or "none"
            raise BadRequest(f"No run has {name} {word!r}. Some values that were run: {some}.")
        found[name] = known[word]
    return found


def _gains(found: "Insight") -> list[str]:
    tuned = found.tunability
    if tuned is None:
        return []
    gains = [("the default", tuned.over_default), ("the best single configuration", tuned.over_best_single)]
    return [
        f"Tuning gains {gain.mean:.4f} ± {gain.standard_error:.4f} over {what} "
        f"({counted(gain.n_datasets, 'data set')}"
        + (f"; {gain.held_out:.4f} on held-out runs)." if gain.held_out == gain.held_out else ").")
        for what, gain in gains
        if gain is not None
    ]


def _facts(found: "Insight") -> dict[str, object]:
    from dataclasses import asdict

    tuned = found.tunability
    return {
        "algorithm": found.algorithm,
        "metric": found.metric,
        "runs": found.n_runs,
        "runs_not_proposed_by_searches": found.n_drawn,
        "datasets": found.n_datasets,
        "over_default": asdict(tuned.over_default) if tuned is not None and tuned.over_default is not None else None,
        "over_best_single": None if tuned is None else asdict(tuned.over_best_single),
        "best_single": None if tuned is None else tuned.best_single,
        "hyperparameters": records(found.hyperparameters),
        "values": records(found.values),
        "trends": records(found.best.trends),
        "datasets_best": records(found.best.table),
        "notes": list(found.notes),
    }


def rerank(
    metric: Annotated[str | None, typer.Option(help="Any metric of metaml, such as f1, kappa, log_loss, mae.")] = None,
    costs: Annotated[
        list[str] | None,
        typer.Option(help="TRUE:DECIDED=COST, comma-separated: cost of this error; other errors cost 1."),
    ] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Name or fingerprint; may be repeated.")] = None,
    top: Annotated[int, typer.Option("-n", min=1, help="Runs to show per data set; csv and json have all.")] = 10,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Rank stored runs by a new metric.

    That needs the predictions that were stored with them.

    The column "was" is the rank by the metric that metaml tune uses by default.

    Example: metaml kb rerank --metric f1
    """
    from metaml.experience.rerank import rerank as compute
    from metaml.metrics.costs import costs_in

    with opened(kb) as base:
        frame = compute(base, metric=metric, costs=costs_in(costs) if costs else None, dataset=dataset)
    if form is Format.table:
        n = len(frame)
        frame = frame.assign(run=frame["run"].str[:8]).drop(columns="fingerprint").groupby("dataset").head(top)
        show(frame, form)
        say(f"{counted(n, 'run')} with stored predictions were ranked by the new metric.")
    else:
        show(frame, form)


def plot(
    kind: Annotated[str, typer.Argument(help="importance, tunability, values, ranks or map.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write; .png needs a browser or rsvg-convert.")
    ],
    metric: Annotated[str, typer.Option(help="A stored metric, such as roc_auc, accuracy, log_loss, rmse.")],
    algorithm: Annotated[str | None, typer.Option(help="The algorithm; ranks, map and tunability need none.")] = None,
    hyperparameter: Annotated[
        str | None, typer.Option(help="Hyperparameter whose values are drawn; default: the first one.")
    ] = None,
    rows: Rows = None,
    task: Task = None,
    split: Split = SPLIT,
    kb: KB = None,
) -> None:
    """Draw a chart from the runs.

    It shows importance, gains, best values by size, mean ranks, or a map of the data sets.

    Example: metaml kb plot ranks --metric roc_auc --output ranks.svg
    """
    from metaml.errors import BadRequest
    from metaml.experience.plots import PlotRequest, picture_size
    from metaml.experience.plots import plot as draw

    if output.suffix not in (".svg", ".png"):
        raise BadRequest(f"{output.name} is neither .svg nor .png. Choose one of these endings.")
    request = PlotRequest(
        metric=metric,
        algorithm=algorithm,
        hyperparameter=hyperparameter,
        rows=rows_in(rows),
        task=task,
        split_rows=[_number(word) for word in names_in(split)],
    )
    with opened(kb) as base:
        picture = draw(base, kind, request)
    if output.suffix == ".png":
        from metaml.report.raster import png_of

        content = png_of(picture, *picture_size(picture))
    else:
        content = picture.encode()
    try:
        output.write_bytes(content)
    except OSError as error:
        raise BadRequest(f"{output} cannot be written ({error.strerror}). Choose another place.") from None
    say(f"{output} shows {kind}.")


def register(app: typer.Typer) -> None:
    """Add these commands to `metaml kb`."""
    app.command("insight")(insight)
    app.command("plot")(plot)
    app.command("rerank")(rerank)
