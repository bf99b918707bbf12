"""`metaml suggest`: what to try first on a data set, and why, without running anything."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaml_cli.describe import introduce
from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import names_in
from metaml_cli.pages import WIDTH
from metaml_cli.render import Format, counted, say, show

if TYPE_CHECKING:
    from metaml.experience.earlier_versions import EarlierVersions
    from metaml.experience.experience import Experience
    from metaml.metalearning.initial_design import Suggestion
    from metaml.spaces.config import Config

DESCRIBE_SECONDS = 1.0
N_FOLDS = 5


def suggest(
    path: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")],
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="How many.")] = 10,
    target: Annotated[str | None, typer.Option(help="Column to predict; default the last one.")] = None,
    task: Annotated[str | None, typer.Option(help="binary, multiclass or regression; default found out.")] = None,
    metric: Annotated[str, typer.Option(help="What counts; auto: ROC AUC, log loss or RMSE.")] = "auto",
    algorithms: Annotated[str | None, typer.Option(help="Comma-separated; default all.")] = None,
    exclude_dataset: Annotated[
        list[str] | None,
        typer.Option(help="Ignore experience with this data set and its near_duplicates; may be repeated."),
    ] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Recommend configurations for a data set from all past runs, with reasons.

    Example: metaml suggest data.csv -n 10
    """
    from metaml.algorithms import ALGORITHMS, check_known
    from metaml.data import read_dataset
    from metaml.evaluation import default_metric, make_plan
    from metaml.evaluation import metric as metric_of
    from metaml.evaluation.environment import environment
    from metaml.experience.earlier_versions import find_earlier_versions
    from metaml.experience.experience import recall_experience
    from metaml.experience.lesson_files import LessonRequest, count_datasets
    from metaml.experience.load_history import check_left_out, to_leave_out
    from metaml.metafeatures import describe
    from metaml.metalearning.initial_design import InitialDesign

    dataset = read_dataset(path, target=target, task=task)
    introduce(dataset)
    chosen = tuple(names_in(algorithms or "")) or tuple(ALGORITHMS)
    check_known(chosen)
    name = default_metric(dataset.task) if metric == "auto" else metric_of(metric).name
    with opened(kb, create=kb is None) as base:
        check_left_out(base, exclude_dataset or (), own=(dataset.name, dataset.fingerprint))
        left_out = to_leave_out(base, exclude_dataset) if exclude_dataset else ()
        wanted = LessonRequest(name, dataset.task, chosen, left_out)
        described = describe(dataset, seconds=DESCRIBE_SECONDS).values
        experience = recall_experience(base, wanted, described)
        kin = find_earlier_versions(
            base,
            dataset,
            make_plan(dataset, N_FOLDS, 0),
            metric=name,
            algorithms=chosen,
            simple=described,
            left_out=left_out,
        )
        if experience is None and not kin.inherited:
            known = counted(count_datasets(base, wanted), "data set")
            say(
                f"{base.name} has runs on {known} of {wanted.family}, too few to advise (10 are needed); "
                "metaml bot makes more. Start with the defaults that metaml tune tries first."
            )
            return
        reference = environment()["reference_seconds"]
        moves = [item.move for item in kin.inherited]
        if experience is not None:
            opening = InitialDesign(
                experience.lessons.portfolio,
                experience.metafeatures,
                algorithms=chosen,
                is_valid=lambda name, config: ALGORITHMS[name].space(dataset.task).is_valid(config),
                n_rows=len(dataset.y),
                reference_seconds=reference,
            )
            moves += [move for move in opening.first(n, is_filled=True) if _wanted(move) not in kin.moves]
        rows = [_row(rank, move, experience, kin, reference) for rank, move in enumerate(moves[:n], start=1)]
    if form is not Format.table:
        import pandas as pd

        show(pd.DataFrame(rows), form)
        return
    if experience is not None:
        alike = ", ".join(name for name, _ in experience.similar[:3])
        source = f"{counted(experience.lessons.n_runs, 'run')} on {counted(experience.lessons.n_datasets, 'data set')}"
        say(f"From {source}; most alike: {alike}.")
    for row in rows:
        typer.echo("\n".join(_lines(row)))


def _wanted(move: "Suggestion") -> "tuple[str, Config]":
    return move.algorithm, move.config


def _row(
    rank: int, move: "Suggestion", experience: "Experience | None", kin: "EarlierVersions", reference_seconds: float
) -> dict[str, Any]:
    seconds, why = move.seconds, {}
    if experience is not None:
        predicted = experience.seconds(*_wanted(move), reference_seconds=reference_seconds)
        seconds = predicted if predicted == predicted else seconds
        why = experience.reasons(*_wanted(move))
    return {
        "rank": rank,
        "algorithm": move.algorithm,
        "expected_sd": why.get("expected"),
        "seconds": round(seconds, 2),
        "config": dict(move.config),
        "reasons": why.get("reasons", []),
        "carriers": [*kin.carriers(*_wanted(move)), *why.get("carriers", [])],
    }


def _lines(row: dict[str, Any]) -> list[str]:
    """Return a suggestion as lines of at most 80 columns."""
    seconds = f"about {row['seconds']:g} s" if row["seconds"] == row["seconds"] else "time unknown"
    expected = "too few runs to say" if row["expected_sd"] is None else f"expected {row['expected_sd']:+.2f} sd"
    head = f"{row['rank']:>2}. {row['algorithm']}  ({expected}, {seconds})"
    settings = ", ".join(f"{name}={value}" for name, value in row["config"].items())
    kin = ", ".join(f"{item['dataset']} (number {item['place']})" for item in row["carriers"] if "place" in item)
    alike = [item for item in row["carriers"] if "standing" in item]
    carriers = ", ".join(f"{item['dataset']} {item['standing']:+.1f}" for item in alike[:3])
    told = [
        ("", settings),
        ("did well on the same columns: ", kin),
        ("because ", "; ".join(row["reasons"])),
        ("on similar data (sd): ", carriers),
    ]
    lines = [head]
    for label, text in told:
        if not text:
            continue
        lines += textwrap.wrap(label + text, WIDTH, initial_indent="    ", subsequent_indent="      ")
    return lines
