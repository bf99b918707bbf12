"""How the prediction changes along the columns that matter most, and which columns act together."""

from collections.abc import Sequence

from metaml.explanation.effects import ColumnEffect, Interaction
from metaml.report.charts import Axis
from metaml.report.data import ReportData
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import (
    CHARACTER,
    HEIGHT,
    MOST_LETTERS,
    RIGHT,
    TOP,
    WIDTH,
    Dot,
    at,
    axes,
    circle,
    ends,
    framed,
    padded,
    svg,
    x_ticks,
)
from metaml.report.tables import TableColumn, figure, paragraph, side_by_side, table
from metaml.report.wording import counted, rounded, share

LANE, FOOT = 26.0, 44.0
FLAT = 0.04
"""A curve that changes by less than this share of the common scale is called flat."""
TURN = 0.25
"""A curve that goes back by more than this share of its change has turned."""


def effects(data: ReportData) -> Html | None:
    """Return a picture for each of the strongest columns, and the pairs that act together."""
    if not data.effects:
        return None
    n_models = len(data.effects[0].curves)
    whose = (
        f"The line is the mean over the models of {counted(n_models, 'fold')}, each asked about rows that it was not "
        "fitted to, and the band its standard deviation over them"
        if n_models > 1
        else "The model was asked about rows that it was not fitted to"
    )
    what = "predicted probability" if data.dataset.task != "regression" else "prediction"
    said = (
        f"How the {what} of the whole model changes along the columns that matter most, all else as it is. {whose}. "
        "All pictures have the same scale, so that a flat line is a weak effect. Marks at the foot are the places that "
        "were asked about."
    )
    low, high = _range(data.effects)
    drawn = [_drawn(data, effect, (low, high)) for effect in data.effects]
    return joined(paragraph(said), side_by_side(*drawn), _together(data))


def _range(found: Sequence[ColumnEffect]) -> tuple[float, float]:
    """Return a range in which all curves lie with their bands."""
    lows = [m - s for effect in found for m, s in zip(effect.mean, effect.spread, strict=True)]
    highs = [m + s for effect in found for m, s in zip(effect.mean, effect.spread, strict=True)]
    low, high = padded(min(lows), max(highs))
    return (max(low, 0.0), min(high, 1.0)) if found[0].output else (low, high)


def _drawn(data: ReportData, effect: ColumnEffect, y_range: tuple[float, float]) -> Html:
    y_label = f"probability of {_short(effect.output)}" if effect.output else f"predicted {_short(data.dataset.target)}"
    title = f"{y_label} along {effect.column}"
    make = levels_picture if effect.is_category else curve_picture
    picture = make(effect, y_range, title=title, y_label=y_label)
    return figure(joined(tag("code", shortened(effect.column, 40)), _words(data, effect, y_range)), picture)


def _words(data: ReportData, effect: ColumnEffect, y_range: tuple[float, float]) -> str:
    """Return what a curve does, in a word or two."""
    asked = {**dict.fromkeys(data.dataset.increasing, "rises"), **dict.fromkeys(data.dataset.decreasing, "falls")}
    if effect.column in asked:
        return f" only {asked[effect.column]}, as asked for"
    mean = effect.mean
    change = max(mean) - min(mean)
    if change < FLAT * (y_range[1] - y_range[0]):
        return " hardly matters by itself"
    if effect.is_category:
        return f" highest for {_short(str(effect.places[mean.index(max(mean))]))}"
    top, bottom, last = mean.index(max(mean)), mean.index(min(mean)), len(mean) - 1
    if change - abs(mean[-1] - mean[0]) > TURN * change:
        return " goes up and down" if {top, bottom} <= set(range(1, last)) else _turn(top, last)
    return " rises" if mean[-1] > mean[0] else " falls"


def _turn(top: int, last: int) -> str:
    return " rises, then falls" if 0 < top < last else " falls, then rises"


def curve_picture(effect: ColumnEffect, y_range: tuple[float, float], *, title: str, y_label: str) -> Html:
    """Return a curve with a band of one standard deviation, and marks where the rows are."""
    places = [float(place) for place in effect.places]
    x_axis, y_axis = axes(padded(places[0], places[-1], 0.02), y_range)
    mean, spread = effect.mean, effect.spread
    upper = [(x, m + s) for x, m, s in zip(places, mean, spread, strict=True)]
    lower = [(x, m - s) for x, m, s in zip(places, mean, spread, strict=True)]
    parts = []
    if any(spread):
        parts.append(tag("polygon", class_="band", points=_points([*upper, *lower[::-1]], x_axis, y_axis)))
    parts += [
        tag("line", class_="rug", x1=at(x_axis(x)), x2=at(x_axis(x)), y1=at(y_axis.start), y2=at(y_axis.start - 6))
        for x in places
    ]
    line = list(zip(places, mean, strict=True))
    parts.append(tag("polyline", class_="steps", points=_points(line, x_axis, y_axis)))
    parts += [
        circle(x_axis(x), _inside(y_axis, m), Dot(x, m, "dot best", 2.6, f"{x:.6g}: {m:.4g} ± {s:.2g}"))
        for x, m, s in zip(places, mean, spread, strict=True)
    ]
    return framed(parts, x_axis, y_axis, title, _short(effect.column, 40), y_label)


def levels_picture(effect: ColumnEffect, x_range: tuple[float, float], *, title: str, y_label: str) -> Html:
    """Return a lane for each level of a category, with its mean and one standard deviation to either side."""
    order = sorted(range(len(effect.places)), key=lambda k: -effect.mean[k])
    names = [_short(str(effect.places[k])) for k in order]
    left = 16.0 + CHARACTER * max(map(len, names))
    height = max(TOP + LANE * len(order) + FOOT, HEIGHT if len(order) > 4 else 0.0)
    axis, foot = Axis(*x_range, left, WIDTH - RIGHT), height - FOOT
    lane = (foot - TOP) / len(order)
    parts: list[Html] = []
    for row, k in enumerate(order):
        middle, m, s = TOP + lane * (row + 0.5), effect.mean[k], effect.spread[k]
        parts.append(tag("text", names[row], x=at(left - 8), y=at(middle + 4), text_anchor="end"))
        parts.append(tag("line", class_="grid", **ends(axis.start, axis.end, middle)))
        if s:
            low, high = axis(max(m - s, x_range[0])), axis(min(m + s, x_range[1]))
            parts.append(tag("line", class_="steps", **ends(low, high, middle)))
        told = f"{effect.places[k]}: {m:.4g} ± {s:.2g}, {share(effect.shares[k])} of the rows"
        parts.append(circle(axis(m), middle, Dot(m, 0.0, "dot best", 4.5, told)))
    parts += x_ticks(axis, foot, whole=False)
    centre = (axis.start + axis.end) / 2
    parts.append(tag("text", y_label, x=at(centre), y=at(height - 8), text_anchor="middle", class_="axis"))
    return svg(parts, title, height)


def _together(data: ReportData) -> Html | None:
    """Return the pairs of columns that act together, and how the strongest does."""
    found = data.interactions
    if not found:
        return None
    rows = [
        [
            tag("code", shortened(pair.first, 30)),
            tag("code", shortened(pair.second, 30)),
            share(pair.share),
            rounded(pair.size, 2),
        ]
        for pair in found
    ]
    columns = [
        TableColumn("Column"),
        TableColumn("acts together with"),
        TableColumn("Of their joint effect", "number"),
        TableColumn("Size", "number"),
    ]
    said = (
        "Pairs whose joint effect is more than the sum of both: the part of its variance that neither has alone "
        "(Friedman's H squared), and how large that is in units of the prediction."
    )
    parts: list[object] = [tag("h3", "Columns that act together"), paragraph(said), table(columns, rows)]
    if found[0].curves:
        parts[2] = side_by_side(table(columns, rows), _strongest(data, found[0]))
    return joined(*parts)


def _strongest(data: ReportData, pair: Interaction) -> Html:
    values = [value for _, curve in pair.curves for value in curve]
    places = list(pair.places)
    x_axis, y_axis = axes(padded(places[0], places[-1], 0.02), padded(min(values), max(values)))
    parts = [
        tag(
            "polyline", class_=f"steps curve-{k}", points=_points(list(zip(places, curve, strict=True)), x_axis, y_axis)
        )
        for k, (_, curve) in enumerate(pair.curves)
    ]
    output = data.effects[0].output
    y_label = f"probability of {_short(output)}" if output else f"predicted {_short(data.dataset.target)}"
    title = f"Along {pair.first}, by {pair.second}"
    drawn = framed(parts, x_axis, y_axis, title, _short(pair.first, 40), y_label)
    keys = [
        tag("span", tag("span", class_=f"key key-{k}"), _short(f"{pair.second}: {name}", 40))
        for k, (name, _) in enumerate(pair.curves)
    ]
    return figure(_short(title, 60), drawn, tag("p", *keys, class_="legend"))


def _points(line: Sequence[tuple[float, float]], x_axis: Axis, y_axis: Axis) -> str:
    return " ".join(f"{x_axis(x):.1f},{_inside(y_axis, y):.1f}" for x, y in line)


def _inside(axis: Axis, value: float) -> float:
    low, high = sorted((axis.start, axis.end))
    return min(max(axis(value), low), high)


def _short(name: str, most: int = MOST_LETTERS) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
