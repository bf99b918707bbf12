"""`metaml kb import-table`, `import-metafeatures`, `import-openml`, `import-optuna`: import results of others."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, opened
from metaml_cli.render import counted, say

if TYPE_CHECKING:
    from metaml_kb.table_import.runs import ImportReport


def import_table_(
    path: Annotated[Path, typer.Argument(help="A csv or tsv file, plain or .gz; a row per configuration.")],
    dataset_column: Annotated[str, typer.Option(help="Column that names the data set.")],
    score_column: Annotated[list[str], typer.Option(help="Column with a score; may be repeated.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric name of each score column, in order; default: the column's name.")
    ] = None,
    lower_is_better: Annotated[
        list[str] | None, typer.Option(help="Score column that is a loss; it is stored negated as neg_….")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="The algorithm of all rows.")] = None,
    algorithm_column: Annotated[str | None, typer.Option(help="Column that names the algorithm.")] = None,
    config_column: Annotated[str | None, typer.Option(help="Column with hyperparameters as a dict.")] = None,
    seconds_column: Annotated[str | None, typer.Option(help="Column with the runtime in seconds.")] = None,
    speed_column: Annotated[str | None, typer.Option(help="Column with the host's speed, such as scimark.")] = None,
    proposer_column: Annotated[str | None, typer.Option(help="Column that says who proposed the run.")] = None,
    seed_column: Annotated[str | None, typer.Option(help="Column with the seed of a run.")] = None,
    ignore_column: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    word_column: Annotated[
        list[str] | None, typer.Option(help="Column whose values are text, even if they look like numbers.")
    ] = None,
    decimal_column: Annotated[
        list[str] | None, typer.Option(help="Column whose numbers are floats, even if they look like integers.")
    ] = None,
    default: Annotated[list[str] | None, typer.Option(help="NAME=VALUE: what an empty cell of a column means.")] = None,
    empty_means_default: Annotated[
        bool, typer.Option("--empty-means-default", help="An empty cell is the default, not inactive.")
    ] = False,
    failed_score: Annotated[float | None, typer.Option(help="The score that marks a failed run.")] = None,
    dataset_prefix: Annotated[str, typer.Option(help="Prefix for each data set's name, such as openml-task-.")] = "",
    task: Annotated[
        str, typer.Option(help="binary, multiclass or regression, if all data sets have the same task.")
    ] = "unknown",
    fold_plan: Annotated[str, typer.Option(help="A name for the way the rows were evaluated.")] = "imported",
    sep: Annotated[str | None, typer.Option(help="Separator; default: detected.", show_default=False)] = None,
    kb: KB = None,
) -> None:
    """Import a table of evaluated configurations.

    Columns without an option are hyperparameters.

    Example: metaml kb import-table runs.csv.gz --dataset-column task_id --algorithm svm --score-column accuracy
    """
    from metaml_kb.table_import.file import open_table
    from metaml_kb.table_import.layout import TableLayout, assign_roles
    from metaml_kb.table_import.runs import import_table

    layout = TableLayout(
        dataset_column=dataset_column,
        score_columns=tuple(score_column),
        dataset_prefix=dataset_prefix,
        algorithm=algorithm,
        algorithm_column=algorithm_column,
        metrics=tuple(metric or ()),
        lower_is_better=tuple(lower_is_better or ()),
        seconds_column=seconds_column,
        speed_column=speed_column,
        proposer_column=proposer_column,
        seed_column=seed_column,
        config_column=config_column,
        ignore_columns=tuple(ignore_column or ()),
        word_columns=tuple(word_column or ()),
        decimal_columns=tuple(decimal_column or ()),
        defaults=_defaults(default or []),
        empty_means="default" if empty_means_default else "inactive",
        failed_score=failed_score,
        task=task,
        fold_plan=fold_plan,
        separator=sep,
    )
    assign_roles(layout, open_table(path, sep))
    with opened(kb, create=True) as base:
        _say_imported(import_table(base, path, layout), "runs")


def import_metafeatures_(
    path: Annotated[Path, typer.Argument(help="A csv or tsv file: one row per data set.")],
    dataset_column: Annotated[str, typer.Option(help="Column that names the data set.")],
    dataset_prefix: Annotated[str, typer.Option(help="The same prefix as for import-table.")] = "",
    source: Annotated[str, typer.Option(help="Who computed the metafeatures.")] = "openml",
    ignore_column: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    sep: Annotated[str | None, typer.Option(help="Separator; default: detected.", show_default=False)] = None,
    kb: KB = None,
) -> None:
    """Import a table of metafeatures.

    Example: metaml kb import-metafeatures metafeatures.csv --dataset-column task_id
    """
    from metaml_kb.table_import.file import open_table
    from metaml_kb.table_import.metafeatures import import_metafeatures, metafeatures_in

    ignored = tuple(ignore_column or ())
    metafeatures_in(open_table(path, sep), dataset_column, ignored)
    with opened(kb, create=True) as base:
        report = import_metafeatures(
            base,
            path,
            dataset_column=dataset_column,
            dataset_prefix=dataset_prefix,
            source=source,
            ignore_columns=ignored,
            separator=sep,
        )
        _say_imported(report, "values")


def import_openml_(
    task: Annotated[str, typer.Option(help="OpenML tasks, comma-separated.")],
    flow: Annotated[str, typer.Option(help="OpenML flows, comma-separated, such as 6969,6970.")],
    limit: Annotated[int, typer.Option(min=1, help="Most evaluations per task and flow.")] = 1000,
    kb: KB = None,
) -> None:
    """Import other people's evaluations from OpenML.

    Their hyperparameters are imported, too.

    A flow that equals one of metaml's algorithms gets the name of that algorithm. Other flows are called openml.flow.N.

    Example: metaml kb import-openml --task 31,37 --flow 6969
    """
    from metaml.openml_runs.importing import import_evaluations
    from metaml_cli.options import numbers

    tasks, flows = numbers(task), numbers(flow)
    with opened(kb, create=True) as base:
        report = import_evaluations(base, tasks, flows, limit=limit)
        say(
            f"{report.n_new} new runs ({report.n_mapped} mapped to metaml's algorithms), {report.n_known} known before."
        )
        for name, reason in report.set_aside.items():
            say(f"{name} is set aside: {reason}")


def import_optuna_(
    url: Annotated[str, typer.Argument(help="Storage of the study: a URL such as sqlite:///study.db, or a file.")],
    algorithm: Annotated[str, typer.Option(help="What the study tuned, such as lightgbm.")],
    dataset: Annotated[str, typer.Option(help="Name or fingerprint of the data set; a new name makes a new one.")],
    metric: Annotated[str, typer.Option(help="What the objective returned, such as accuracy or rmse.")],
    study: Annotated[str | None, typer.Option(help="Name of the study, if the storage has several.")] = None,
    kb: KB = None,
) -> None:
    """Import the finished trials of an Optuna study.

    Each becomes a run.

    Parameters keep the names that the study has for them. A study that minimises returned a loss.

    Example: metaml kb import-optuna study.db --algorithm svm --dataset iris --metric accuracy
    """
    from metaml.records.study import import_study, load_study

    found = load_study(url, study)
    with opened(kb, create=True) as base:
        report = import_study(base, found, dataset=dataset, algorithm=algorithm, metric=metric)
    say(f"{report.study}: {counted(report.n_new, 'new run')}, {report.n_known:,} known before.")
    if report.n_left_out:
        say(f"{counted(report.n_left_out, 'trial')} left out: not finished, or without parameters or a number.")


def register(app: typer.Typer) -> None:
    """Add these commands to `metaml kb`."""
    app.command("import-table")(import_table_)
    app.command("import-metafeatures")(import_metafeatures_)
    app.command("import-openml")(import_openml_)
    app.command("import-optuna")(import_optuna_)


def _defaults(pairs: list[str]) -> dict[str, str]:
    """Return the NAME=VALUE pairs of --default."""
    from metaml_kb.errors import BadTable

    for pair in pairs:
        if "=" not in pair:
            raise BadTable(f"--default {pair!r} has no value. Write it as NAME=VALUE.")
    return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}


def _say_imported(report: "ImportReport", what: str) -> None:
    failed = f" ({report.n_failed} failed)" if report.n_failed else ""
    say(f"{report.n_rows} rows: {report.n_new} new {what}{failed}, {report.n_known} known before.")
    if report.n_duplicates or report.n_repetitions or report.n_clashes:
        say(
            f"{report.n_duplicates} rows repeat another, {report.n_repetitions} are repetitions with another score, "
            f"{report.n_clashes} clash with what is stored."
        )
    for note in report.notes:
        say(note)
