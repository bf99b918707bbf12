"""How the search went: score against time and evaluations, the leaderboard, and who was given the evaluations."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from metaml.evaluation.scoring import display, metric
from metaml.report.data import ReportData, TrialRow
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import Dot, Level, lanes_picture, padded, steps_picture
from metaml.report.tables import Bar, TableColumn, bars, figure, paragraph, settings, side_by_side, table
from metaml.report.wording import (
    ORIGIN_WORDS,
    STATUS_WORDS,
    basis,
    best_default,
    complete,
    counted,
    direction,
    duration,
    effort,
    metric_label,
    score_text,
    share,
)

MOST_LEVELS = 5
MOST_SHOWN = 20
LEAST_WIDTH = 1e-4
"""Scores whose relative difference is smaller differ only by rounding: a picture must not enlarge that."""
UNITS = ((3600.0, 7200.0, "hours"), (60.0, 600.0, "minutes"), (1.0, 0.0, "seconds"))


def progress(data: ReportData) -> Html:
    """Return the best score so far against time and against the number of evaluations, with the baselines."""
    ok = complete(data)
    if not ok:
        return joined(paragraph(effort(data)), paragraph(data.absent.get("progress", "There is no score to draw.")))
    saved = data.final.score if data.final is not None and math.isfinite(data.final.score) else None
    low, high = _window(data, ok, [] if saved is None else [saved])
    levels = [
        Level(name, _shown(data, score), place)
        for place, (name, score) in enumerate(sorted(data.baselines.items(), key=lambda item: -item[1])[:MOST_LEVELS])
        if math.isfinite(score)
    ]
    inside = [level for level in levels if low <= level.y <= high]
    unit, unit_name = next((unit, name) for unit, least, name in UNITS if data.session.used_seconds >= least)
    label = f"{metric_label(data.metric)}{basis(data)} ({direction(data.metric)})"

    def picture(title: str, x_label: str, place: Callable[[TrialRow], float], end: float) -> Html:
        steps, dots = _path(data, place)
        drawn = steps_picture(
            steps,
            dots,
            inside,
            title=f"{metric_label(data.metric)} {title.lower()}",
            x_label=x_label,
            y_label=label,
            x_range=(0.0, max(end, *(place(trial) for trial in data.trials)) or 1.0),
            y_range=(low, high),
            final=_shown(data, saved) if saved is not None else None,
            whole_x=not end,
        )
        return figure(title, drawn)

    pictures = (
        picture(
            "Against time",
            f"{unit_name} since the start",
            lambda trial: trial.at / unit,
            data.session.used_seconds / unit,
        ),
        picture("Against evaluations", "evaluations finished", lambda trial: float(trial.number), 0.0),
    )
    return joined(paragraph(effort(data)), side_by_side(*pictures), _legend(data, levels, inside, (low, high)))


def _path(data: ReportData, place: Callable[[TrialRow], float]) -> tuple[list[tuple[float, float]], list[Dot]]:
    """Return the best so far at each improvement, and a dot for each complete evaluation."""
    records = _records(data)
    steps: list[tuple[float, float]] = []
    dots: list[Dot] = []
    for trial in sorted(complete_of(data.trials), key=lambda trial: trial.at):
        is_best = trial.number in records
        if is_best:
            steps.append((place(trial), _shown(data, trial.score)))
        text = f"{trial.algorithm} {score_text(data.metric, trial.score)}, evaluation {trial.number}"
        kind = "dot best" if is_best else "dot"
        dots.append(Dot(place(trial), _shown(data, trial.score), kind, 3.4 if is_best else 2.6, text))
    return steps, dots


def _window(data: ReportData, ok: Sequence[TrialRow], saved: Sequence[float]) -> tuple[float, float]:
    """Return the range of values worth showing: around the best, not down to the worst failure."""
    scores = [trial.score for trial in ok]
    best, median = scores[0], scores[len(scores) // 2]
    floor = best - 4 * (best - median) if best > median else -math.inf
    ends = [max(scores[-1], floor), best, *saved]
    default = best_default(data)
    if default is not None:
        ends.append(default[1])
        room = 0.6 * (max(ends) - min(ends))
        ends += [score for score in data.baselines.values() if min(ends) - room <= score <= max(ends) + room]
    low, high = sorted((_shown(data, min(ends)), _shown(data, max(ends))))
    if high - low < LEAST_WIDTH * max(abs(low), abs(high)):
        low = high = (low + high) / 2
    return padded(low, high, 0.06)


def _legend(data: ReportData, levels: Sequence[Level], inside: Sequence[Level], window: tuple[float, float]) -> Html:
    items = [
        tag("span", tag("i", class_="key key-steps"), "best so far"),
        tag("span", tag("i", class_="key key-dot"), "one evaluation"),
    ]
    low, high = window
    if not all(low <= _shown(data, trial.score) <= high for trial in complete(data)):
        items.append(tag("span", tag("i", class_="key key-outside"), "one evaluation, off the scale"))
    if data.final is not None and math.isfinite(data.final.score):
        diamond = tag("i", class_="key key-final")
        items.append(tag("span", diamond, f"the saved model {score_text(data.metric, data.final.score)}"))
    for level in levels:
        note = "" if level in inside else " (outside the picture)"
        value = score_text(data.metric, -level.y if metric(data.metric).is_loss else level.y)
        key = tag("i", class_=f"key key-level level-{level.place}")
        items.append(tag("span", key, shortened(level.name, 40), f" {value}{note}"))
    return tag("p", *items, class_="legend")


def leaderboard(data: ReportData) -> Html | None:
    """Return the best complete evaluations, and below them the other members of the saved model."""
    ok = complete(data)
    if not ok:
        return None
    members = [] if data.final is None else [(member.algorithm, member.config) for member in data.final.members]
    ranked = [(place, trial, (trial.algorithm, trial.config) in members) for place, trial in enumerate(ok, start=1)]
    shown = [item for item in ranked if item[0] <= MOST_SHOWN or item[2]]
    label = metric_label(data.metric)
    has_prediction = any(trial.predicted_score is not None for _, trial, _ in shown)
    columns = [
        TableColumn("", "number"),
        TableColumn("Algorithm", "name"),
        TableColumn(label, "number"),
        *([TableColumn("Predicted", "number", extra=True)] if has_prediction else []),
        TableColumn("Proposed by", "name", extra=True),
        TableColumn("Cost", "number"),
        TableColumn("Found after", "number", extra=True),
        TableColumn("No.", "number", extra=True),
        TableColumn("Settings", "wide"),
    ]
    rows = []
    for place, trial, _ in shown:
        predicted = "–" if trial.predicted_score is None else score_text(data.metric, trial.predicted_score)
        rows.append(
            [
                place,
                shortened(trial.algorithm, 30),
                score_text(data.metric, trial.score),
                *([predicted] if has_prediction else []),
                ORIGIN_WORDS.get(trial.origin, trial.origin),
                duration(trial.seconds),
                duration(trial.at),
                f"{trial.number:,}",
                settings(trial.config),
            ]
        )
    marked = [is_member for _, _, is_member in shown]
    said = f"The best {min(len(ok), MOST_SHOWN)} of {counted(len(ok), 'complete evaluation')}"
    n_more = len(shown) - min(len(ok), MOST_SHOWN)
    said += f", and {counted(n_more, 'member')} of the saved model further down." if n_more else "."
    if basis(data):
        said += (
            f" The {label} is that after thresholds: for each fold, the line between classes is drawn on the others."
        )
    if any(marked):
        said += " Marked rows are part of the saved model."
    return joined(paragraph(said), table(columns, rows, marked=marked))


def allocation(data: ReportData) -> Html | None:
    """Return how the evaluations were shared out among the algorithms."""
    if len(data.trials) < 2:
        return None
    groups = by_algorithm(data)
    best = {name: max((t.score for t in complete_of(trials)), default=math.nan) for name, trials in groups.items()}
    order = list(groups)
    busy = sum(trial.seconds for trial in data.trials) or 1.0
    top = max((value for value in best.values() if math.isfinite(value)), default=math.nan)
    rows = [
        [
            shortened(name, 30),
            f"{len(groups[name]):,}",
            share(sum(trial.seconds for trial in groups[name]) / busy),
            score_text(data.metric, best[name]),
            f"{sum(trial.status != 'ok' for trial in groups[name]):,}",
        ]
        for name in order
    ]
    columns = [
        TableColumn("Algorithm", "name"),
        TableColumn("Runs", "number"),
        TableColumn("Time", "number"),
        TableColumn("Best", "number"),
        TableColumn("Stopped", "number", extra=True),
    ]
    policy = f" ({data.session.bandit.replace('_', ' ')})" if data.session.bandit else ""
    said = f"A bandit{policy} decided after each evaluation which algorithm gets the next one."
    shown = table(columns, rows, marked=[best[name] == top for name in order])
    return joined(paragraph(said), side_by_side(shown, chosen_when(data)), origins(data))


def by_algorithm(data: ReportData) -> dict[str, list[TrialRow]]:
    """Return the evaluations of each algorithm; the algorithm with most of them first."""
    groups: dict[str, list[TrialRow]] = defaultdict(list)
    for trial in data.trials:
        groups[trial.algorithm].append(trial)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def chosen_when(data: ReportData) -> Html:
    """Return the evaluations of each algorithm along the search."""
    records = _records(data)
    lanes = [
        (name, [_lane_dot(data, trial, trial.number in records) for trial in trials])
        for name, trials in by_algorithm(data).items()
    ]
    most = max(trial.number for trial in data.trials)
    picture = lanes_picture(lanes, title="Evaluations of each algorithm", x_label="evaluation number", x_most=most)
    keys = tag(
        "p",
        tag("span", tag("i", class_="key key-dot"), "complete"),
        tag("span", tag("i", class_="key key-record"), "new best"),
        tag("span", tag("i", class_="key key-lost"), "stopped or failed"),
        class_="legend",
    )
    return figure("Who was chosen when", picture, keys)


def complete_of(trials: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the complete evaluations among these."""
    return [trial for trial in trials if trial.status == "ok" and math.isfinite(trial.score)]


def origins(data: ReportData) -> Html | None:
    """Return who proposed the evaluations and how good the best of each was."""
    groups: dict[str, list[TrialRow]] = defaultdict(list)
    for trial in data.trials:
        groups[trial.origin].append(trial)
    order = sorted(groups, key=lambda name: (list(ORIGIN_WORDS).index(name) if name in ORIGIN_WORDS else 99, name))
    items = []
    for name in order:
        best = max((trial.score for trial in complete_of(groups[name])), default=math.nan)
        text = f"{len(groups[name]):,}, best {score_text(data.metric, best)}"
        items.append(Bar(ORIGIN_WORDS.get(name, name), len(groups[name]) / len(data.trials), text))
    return figure("Who proposed the evaluations", bars(items, label="Evaluations by who proposed them"))


def _records(data: ReportData) -> set[int]:
    """Return the numbers of the evaluations that were better than all before them."""
    best, found = -math.inf, set()
    for trial in sorted(complete_of(data.trials), key=lambda trial: trial.at):
        if trial.score > best:
            best = trial.score
            found.add(trial.number)
    return found


def _lane_dot(data: ReportData, trial: TrialRow, is_record: bool) -> Dot:
    text = f"{trial.algorithm}, evaluation {trial.number}: {STATUS_WORDS.get(trial.status, trial.status)}"
    if trial.status != "ok" or not math.isfinite(trial.score):
        return Dot(trial.number, 0.0, "dot lost", 2.8, text)
    text = f"{text}, {score_text(data.metric, trial.score)}"
    return Dot(trial.number, 0.0, "dot record best" if is_record else "dot solid", 4.2 if is_record else 3.0, text)


def _shown(data: ReportData, score: float) -> float:
    return display(data.metric, score)[1]
