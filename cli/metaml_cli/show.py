"""`metaml show`: show the result of a search, from its output folder; `metaml pick`: take a model of its front."""

import csv
import json
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaml_cli.kb import Form
from metaml_cli.render import WIDTH, Format, counted, json_text, printable, say, wrapped
from metaml_cli.render import show as show_table

if TYPE_CHECKING:
    import pandas as pd

    from metaml.errors import MetamlError
    from metaml.model.front import Front, FrontPoint

LABEL = 13
MOST_MEMBERS = 8
KEY = 8
"""Characters of a run's key that are shown; they are almost always enough to identify it."""


def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of metaml tune.")],
    top: Annotated[int, typer.Option(min=0, help="Rows of the leaderboard.")] = 5,
    front: Annotated[
        bool, typer.Option("--front", help="Show the Pareto front of a search with --objectives.")
    ] = False,
    form: Form = Format.table,
) -> None:
    """Show what a search found: model, baselines, best runs.

    With --format json it prints best.json, with --format csv the leaderboard.

    Example: metaml show out/ --top 10
    """
    if front:
        show_front(folder, form)
        return
    facts = read_best(folder)
    if form is Format.json:
        typer.echo(json_text(facts))
        return
    rows = read_leaderboard(folder)
    if form is Format.csv:
        path = folder / "leaderboard.csv"
        typer.echo(path.read_text(encoding="utf-8") if path.exists() else "", nl=False)
        return
    try:
        lines = lines_of(facts, rows[:top], folder)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _damaged(folder) from None
    typer.echo("\n".join(lines))


def read_best(folder: Path) -> dict[str, Any]:
    """Return the content of best.json. Raises `BadRequest` if it is missing or damaged."""
    path = folder / "best.json"
    if not path.is_file():
        from metaml.errors import BadRequest

        raise BadRequest(f"{folder} has no best.json. Name the output folder of a metaml tune that has ended.")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        facts = None
    if not isinstance(facts, dict) or not {"metric", "dataset"} <= set(facts):
        raise _damaged(folder)
    return facts


def _damaged(folder: Path) -> "MetamlError":
    from metaml.errors import BadRequest

    return BadRequest(f"{folder} holds files that metaml tune did not write, or damaged ones. Run metaml tune again.")


def read_leaderboard(folder: Path) -> list[dict[str, str]]:
    """Return the ranked rows of the leaderboard; none if it is missing."""
    path = folder / "leaderboard.csv"
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return [row for row in csv.DictReader(stream) if row.get("rank")]
    except (UnicodeDecodeError, csv.Error):
        raise _damaged(folder) from None


def lines_of(facts: dict[str, Any], rows: list[dict[str, str]], folder: Path) -> list[str]:
    """Return the summary as lines of at most 80 columns."""
    dataset, metric, session = facts["dataset"], facts["metric"], facts.get("session") or {}
    model = facts.get("model") or {}
    lines = [*wrapped(facts.get("headline") or "No model was found."), ""]
    guessed = " (guessed)" if dataset.get("target_was_guessed") else ""
    n_repairs = len(dataset.get("repairs") or [])
    lines += _fact(
        "Data",
        f"{dataset['name']}: {counted(dataset['n_rows'], 'row')}, {counted(dataset['n_features'], 'feature')}, "
        f"{dataset['task']}, "
        f"target {dataset['target']!r}{guessed}; repairs: {n_repairs}",
    )
    for warning in dataset.get("warnings") or []:
        lines += _fact("Warning", warning)
    if dataset.get("directions"):
        lines += _fact("Directions", dataset["directions"])
    for place, member in enumerate((model.get("members") or [])[:MOST_MEMBERS]):
        text = f"{member['weight']:4.0%}  {member['algorithm']}  ({_score(metric, member['score'])} alone)"
        lines += _fact("Model" if place == 0 else "", text)
    hidden = len(model.get("members") or []) - MOST_MEMBERS
    if hidden > 0:
        lines += _fact("", f"… and {hidden} more")
    for place, (name, score) in enumerate(_best_first(facts.get("baselines") or {})):
        lines += _fact("Baselines" if place == 0 else "", f"{_score(metric, score)}  {name}")
    known = facts.get("experience")
    if known:
        nouns = {"n_runs": "run", "n_datasets": "data set", "n_warm_starts": "warm start"}
        runs, datasets, warm_starts = (counted(known[name], noun) for name, noun in nouns.items())
        text = f"{runs} on {datasets}, {warm_starts}"
        off = known.get("guard_off")
        lines += _fact("Experience", f"{text}, switched off for {', '.join(off)}" if off else text)
        if known.get("worth_text"):
            lines += _fact("Worth", known["worth_text"])
    if session.get("key"):
        lines += _fact("Session", f"{session['key']}, seed {session.get('seed')}")
    if rows:
        lines += ["", *_leaderboard(metric, rows)]
    # Do not wrap commands and paths: the user may copy them.
    if model:
        lines += ["", f"metaml predict {shlex.quote(str(folder))} new.csv -o predictions.csv"]
    if (folder / "report.html").exists():
        lines.append(f"Report: {folder / 'report.html'}")
    return [printable(line) for line in lines]


def _best_first(baselines: dict[str, float | None]) -> list[tuple[str, float | None]]:
    """Return the baselines, highest stored score first; those without a score come last."""
    return sorted(baselines.items(), key=lambda item: -math.inf if item[1] is None else item[1], reverse=True)


def _leaderboard(metric: dict[str, Any], rows: list[dict[str, str]]) -> list[str]:
    widest = min(20, max(len("algorithm"), *(len(row["algorithm"]) for row in rows)))
    label = metric["label"]
    width = max(len(label), 9)
    # Tables of an earlier version have no keys.
    has_keys = any(row.get("run") for row in rows)
    key = f"  {'run':<{KEY}}" if has_keys else ""
    lines = [f"   #{key}  {'algorithm':<{widest}}  {label:>{width}}  {'seconds':>8}  {'after':>7}  proposed by"]
    for row in rows:
        score = _score(metric, float(row["score"]))
        costs = f"{float(row['seconds']):>8.2f}  {float(row['at']):>6.0f}s"
        name = f"{row['algorithm'][:widest]:<{widest}}"
        key = f"  {(row.get('run') or '')[:KEY]:<{KEY}}" if has_keys else ""
        lines.append(f"{row['rank']:>4}{key}  {name}  {score:>{width}}  {costs}  {row['origin']}"[:WIDTH])
    if has_keys:
        lines.append(f"Why a run was made: metaml why {rows[0]['run'][:KEY]}")
    return lines


def _score(metric: dict[str, Any], score: float | None) -> str:
    from metaml.report.wording import number

    if score is None:
        return "–"
    return number(-score + 0.0 if metric["is_loss"] else score)


def _fact(name: str, text: str) -> list[str]:
    return wrapped(text, f"{name:<{LABEL}}")


def pick(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of metaml tune with --objectives.")],
    highest: Annotated[
        list[str] | None,
        typer.Option("--max", help="Largest value of an objective: predict_seconds=0.002; may repeat."),
    ] = None,
    lowest: Annotated[
        list[str] | None, typer.Option("--min", help="Smallest value of an objective: roc_auc=0.9; may be repeated.")
    ] = None,
    point: Annotated[int | None, typer.Option(help="Number of a point, as metaml show --front has it.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for the model; default: DIR/point-N.")] = None,
) -> None:
    """Make the model of a point of a Pareto front.

    No new search is made.

    Of the points within all limits it takes the best one by the first objective without a limit; without limits, the
    compromise nearest to the best of every objective.

    Example: metaml pick result/ --max predict_seconds=0.002
    """
    from metaml.model.front import load_front

    front = load_front(folder)
    chosen = front.pick(max=_limits(highest), min=_limits(lowest), point=point)
    place = output or folder / f"point-{chosen.number}"
    model = front.model(chosen)
    _made(place)
    model.save(place)
    say(printable(f"Point {chosen.number}: {_told(front, chosen)}."))
    say(f"Predict: metaml predict {shlex.quote(str(place))} NEW.csv -o out.csv")


def show_front(folder: Path, form: Format) -> None:
    """Print the front of a search."""
    from metaml.model.front import load_front

    front = load_front(folder)
    if form is not Format.table:
        show_table(front.frame(), form)
        return
    show_table(_table(front), form)
    for line in wrapped(f"The model of a point: metaml pick {shlex.quote(str(folder))} --point 1"):
        say(line)


def _table(front: "Front") -> "pd.DataFrame":
    """Return the front with configurations as words."""
    import pandas as pd

    rows = [{"point": one.number, **one.values, "model": printable(one.in_words)} for one in front]
    return pd.DataFrame(rows)


def _told(front: "Front", chosen: "FrontPoint") -> str:
    values = ", ".join(f"{name} {chosen.values[name]:.4g}" for name in front.objectives)
    return f"{values} ({chosen.in_words})"


def _limits(given: list[str] | None) -> dict[str, float]:
    """Return limits as they are typed: NAME=NUMBER."""
    from metaml.errors import BadRequest

    found = {}
    for text in given or ():
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise BadRequest(f"{text!r} is no limit. Write an objective and a number: predict_seconds=0.002.") from None
    return found


def _made(place: Path) -> None:
    from metaml.errors import BadRequest

    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadRequest(f"The folder {place} cannot be made: {why}. Give another --output.") from None
