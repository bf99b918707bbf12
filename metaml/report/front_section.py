"""The front of several objectives: a picture for each pair of them, and its models as a table."""

import shlex
from collections.abc import Sequence
from itertools import combinations

from metaml.report.data import FrontDot, FrontFacts, ReportData
from metaml.report.markup import Html, joined, tag
from metaml.report.pictures import Dot, axes, dot_at, framed, padded
from metaml.report.tables import TableColumn, figure, paragraph, settings, side_by_side, table
from metaml.report.wording import counted, number

MOST_LETTERS = 160
MOST_EVALUATED = 400


def front(data: ReportData) -> Html | None:
    """Return the models that no other one beats in every objective; None if no front was searched."""
    facts = data.front
    if facts is None:
        return None
    words = " and ".join(facts.labels) if len(facts.labels) == 2 else ", ".join(facts.labels)
    these = "this model" if len(facts.dots) == 1 else f"one of these {counted(len(facts.dots), 'model')}"
    told = f"No other model that was found beats {these} in every objective: {words}."
    pictures = [_picture(facts, x, y) for y, x in combinations(range(len(facts.objectives)), 2)]
    legend = tag(
        "p",
        tag("span", tag("span", class_="key key-record"), "on the front; hover for its settings"),
        tag("span", tag("span", class_="key key-dot"), "an evaluation"),
        class_="legend",
    )
    drawn = [figure(f"{facts.labels[y]} against {facts.labels[x]}", picture) for (y, x), picture in pictures]
    return joined(paragraph(told), side_by_side(*drawn), legend, _table(facts), _commands(data, facts))


def _picture(facts: FrontFacts, x: int, y: int) -> tuple[tuple[int, int], Html]:
    """Return the positions of two objectives, and the picture of one against the other."""
    seen = [(values[x], values[y]) for values in facts.evaluated][:MOST_EVALUATED]
    own = [(dot.values[x], dot.values[y]) for dot in facts.dots]
    log_x, log_y = facts.is_log[x], facts.is_log[y]
    seen = [pair for pair in seen if (pair[0] > 0 or not log_x) and (pair[1] > 0 or not log_y)]
    x_range = _range([pair[0] for pair in (*seen, *own)], is_log=log_x)
    y_range = _range([pair[1] for pair in (*seen, *own)], is_log=log_y)
    x_axis, y_axis = axes(x_range, y_range, log_x=log_x, log_y=log_y)
    parts = [dot_at(Dot(*pair, "dot plain", 2.4), x_axis, y_axis) for pair in seen]
    for dot in facts.dots:
        place = Dot(max(dot.values[x], x_range[0]), max(dot.values[y], y_range[0]), "record", 4.5, _hover(facts, dot))
        parts.append(dot_at(place, x_axis, y_axis))
    title = f"{facts.labels[y]} against {facts.labels[x]}"
    label_x, label_y = (f"{facts.labels[k]} ({_better(facts, k)} is better)" for k in (x, y))
    return (y, x), framed(parts, x_axis, y_axis, title, label_x, label_y)


def _better(facts: FrontFacts, place: int) -> str:
    return "higher" if facts.is_higher_better[place] else "lower"


def _range(values: Sequence[float], *, is_log: bool) -> tuple[float, float]:
    if not is_log:
        return padded(min(values), max(values))
    known = [value for value in values if value > 0] or [1.0]
    return min(known) / 1.3, max(known) * 1.3


def _hover(facts: FrontFacts, dot: FrontDot) -> str:
    """Return the values, the members and their settings of a point, in lines."""
    values = [f"{name}: {number(value)}" for name, value in zip(facts.labels, dot.values, strict=True)]
    own = [
        f"{name}: {', '.join(f'{key} {_short(value)}' for key, value in config.items())}"
        for name, config in dot.members
    ]
    cut = [line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…" for line in own[:4]]
    return "\n".join([f"Point {dot.number}: {dot.text}", *values, *cut])


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(facts: FrontFacts) -> Html:
    columns = [
        TableColumn("Point", "number"),
        *(TableColumn(label, "number") for label in facts.labels),
        TableColumn("Model"),
        TableColumn("Settings of the heaviest member", extra=True),
    ]
    rows = [
        [
            dot.number,
            *(number(value) if abs(value) < 1000 else f"{value:,.0f}" for value in dot.values),
            dot.text,
            settings(dot.members[0][1]) if dot.members else "",
        ]
        for dot in facts.dots
    ]
    return table(columns, rows)


def _commands(data: ReportData, facts: FrontFacts) -> Html | None:
    """Return how to take the model of a point."""
    if data.session.output is None:
        return None
    last = facts.objectives[-1]
    word = "--min" if facts.is_higher_better[-1] else "--max"
    middle = facts.dots[len(facts.dots) // 2].values[-1]
    folder = shlex.quote(data.session.output)
    lines = f"metaml pick {folder} {word} {shlex.quote(f'{last}={middle:.3g}')}\nmetaml pick {folder} --point 1"
    return joined(
        paragraph("Take the model of a point, without a new search:", class_="command-title"), tag("pre", lines)
    )
