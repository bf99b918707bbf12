"""The pictures of a report: SVG inside the page, coloured by its style sheet, so that they follow light and dark.

All are drawn 440 units wide, a size that is readable on a phone and fits twice on a screen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from metaml.report.charts import Axis
from metaml.report.markup import Html, joined, tag

WIDTH, HEIGHT = 440.0, 272.0
RIGHT, TOP, BOTTOM = 14.0, 12.0, 44.0
LANE_HEIGHT, MOST_LETTERS = 22.0, 17
CHARACTER = 8.2
"""Room for a letter or a digit of a label."""
MOST_DOTS = 1200


@dataclass(frozen=True)
class Dot:
    """A point; `kind` is its class in the style sheet."""

    x: float
    y: float
    kind: str = "dot"
    size: float = 3.0
    text: str = ""


@dataclass(frozen=True)
class Level:
    """A horizontal line to compare with; `place` chooses its colour."""

    name: str
    y: float
    place: int


def steps_picture(
    steps: Sequence[tuple[float, float]],
    dots: Sequence[Dot],
    levels: Sequence[Level],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    final: float | None = None,
    whole_x: bool = False,
) -> Html:
    """Return the best so far as steps, each evaluation as a dot, levels as dashed lines, and where it ended."""
    x_axis, y_axis = axes(x_range, y_range)
    parts: list[Html] = [
        tag("line", class_=f"level level-{level.place}", **ends(x_axis.start, x_axis.end, y_axis(level.y)))
        for level in levels
    ]
    parts += [dot_at(dot, x_axis, y_axis) for dot in fewer_dots(dots)]
    if steps:
        path = [f"M{x_axis(steps[0][0]):.1f},{_inside(y_axis, steps[0][1]):.1f}"]
        for x, y in steps[1:]:
            path += [f"H{x_axis(x):.1f}", f"V{_inside(y_axis, y):.1f}"]
        path.append(f"H{x_axis.end:.1f}")
        parts.append(tag("path", class_="steps", d="".join(path)))
    if final is not None:
        x, y = x_axis.end, _inside(y_axis, final)
        parts.append(tag("path", class_="final", d=f"M{x - 6:.1f},{y:.1f} l6,-6 6,6 -6,6 z"))
    return framed(parts, x_axis, y_axis, title, x_label, y_label, whole_x=whole_x)


def lanes_picture(lanes: Sequence[tuple[str, Sequence[Dot]]], *, title: str, x_label: str, x_most: float) -> Html:
    """Return one lane per name with its dots along a common axis."""
    height = TOP + LANE_HEIGHT * len(lanes) + BOTTOM
    labels = [name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…" for name, _ in lanes]
    left = 16.0 + CHARACTER * max(map(len, labels), default=1)
    x_axis = Axis(0.0, max(x_most, 1.0), left, WIDTH - RIGHT)
    parts: list[Html] = []
    most = max(1, MOST_DOTS // max(1, len(lanes)))
    for number, (label, (_, dots)) in enumerate(zip(labels, lanes, strict=True)):
        middle = TOP + LANE_HEIGHT * (number + 0.5)
        parts.append(tag("text", label, x=at(left - 8), y=at(middle + 4), text_anchor="end"))
        parts.append(tag("line", class_="grid", **ends(x_axis.start, x_axis.end, middle)))
        parts += [circle(x_axis(dot.x), middle, dot) for dot in fewer_dots(dots, most)]
    foot = height - BOTTOM
    parts += x_ticks(x_axis, foot, whole=True)
    centre = (x_axis.start + x_axis.end) / 2
    parts.append(tag("text", x_label, x=at(centre), y=at(height - 8), text_anchor="middle", class_="axis"))
    return svg(parts, title, height)


def reliability_picture(points: Sequence[tuple[float, float, int]], *, title: str, x_label: str, y_label: str) -> Html:
    """Return predicted against observed shares with the line on which they are equal; large dots are many rows."""
    x_axis, y_axis = axes((0.0, 1.0), (0.0, 1.0))
    most = max((n for _, _, n in points), default=1)
    corners = {"x1": x_axis(0), "y1": y_axis(0), "x2": x_axis(1), "y2": y_axis(1)}
    parts = [tag("line", class_="equal", **{name: at(place) for name, place in corners.items()})]
    if points:
        path = " ".join(f"{x_axis(x):.1f},{y_axis(y):.1f}" for x, y, _ in points)
        parts.append(tag("polyline", class_="steps thin", points=path))
    for x, y, n in points:
        text = f"predicted {x:.2f}, observed {y:.2f}, rows: {n:,}"
        parts.append(dot_at(Dot(x, y, "dot best", 3.0 + 6.0 * math.sqrt(n / most), text), x_axis, y_axis))
    return framed(parts, x_axis, y_axis, title, x_label, y_label)


def scatter_picture(points: Sequence[tuple[float, float]], *, title: str, x_label: str, y_label: str) -> Html:
    """Return pairs as points over a common range with the line on which both are equal."""
    values = [value for point in points for value in point]
    both = padded(min(values), max(values))
    x_axis, y_axis = axes(both, both)
    corners = {"x1": x_axis(both[0]), "y1": y_axis(both[0]), "x2": x_axis(both[1]), "y2": y_axis(both[1])}
    parts = [tag("line", class_="equal", **{name: at(place) for name, place in corners.items()})]
    parts += [dot_at(Dot(x, y, "dot plain", 2.6), x_axis, y_axis) for x, y in points[:MOST_DOTS]]
    return framed(parts, x_axis, y_axis, title, x_label, y_label)


def histogram_picture(edges: Sequence[float], counts: Sequence[int], *, title: str, x_label: str, y_label: str) -> Html:
    """Return counts as columns between their edges."""
    x_axis, y_axis = axes((edges[0], edges[-1]), (0.0, max(1.0, 1.05 * max(counts, default=0))))
    parts = []
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        left, right, top = x_axis(low) + 0.5, x_axis(high) - 0.5, y_axis(count)
        shape = {"width": max(0.5, right - left), "height": max(0.0, y_axis.start - top)}
        hover = tag("title", f"{low:.4g} to {high:.4g}: {count:,}")
        sizes = {name: at(size) for name, size in shape.items()}
        parts.append(tag("rect", hover, class_="column", x=at(left), y=at(top), **sizes))
    return framed(parts, x_axis, y_axis, title, x_label, y_label, whole_y=True)


def padded(low: float, high: float, by: float = 0.05) -> tuple[float, float]:
    """Return a range a little wider than the values in it; never empty.

    >>> padded(0.0, 10.0), padded(2.0, 2.0)
    ((-0.5, 10.5), (1.9, 2.1))
    """
    room = by * ((high - low) or abs(high) or 1.0)
    return low - room, high + room


def fewer_dots(dots: Sequence[Dot], most: int = MOST_DOTS) -> Sequence[Dot]:
    """Return evenly chosen dots, at most this many; the marked ones always stay."""
    if len(dots) <= most:
        return dots
    every = math.ceil(len(dots) / most)
    return [dot for place, dot in enumerate(dots) if place % every == 0 or "best" in dot.kind]


def axes(
    x_range: tuple[float, float], y_range: tuple[float, float], *, log_x: bool = False, log_y: bool = False
) -> tuple[Axis, Axis]:
    """Return both axes, with as much room to the left as the labels need."""
    y_axis = Axis(*y_range, HEIGHT - BOTTOM, TOP, is_log=log_y)
    widest = max(map(len, axis_texts(y_axis, _ticks(y_axis, whole=False))), default=1)
    return Axis(*x_range, 32.0 + 1.2 * CHARACTER * widest, WIDTH - RIGHT, is_log=log_x), y_axis


def framed(
    parts: Sequence[Html],
    x_axis: Axis,
    y_axis: Axis,
    title: str,
    x_label: str,
    y_label: str,
    *,
    whole_x: bool = False,
    whole_y: bool = False,
    bare_x: bool = False,
) -> Html:
    """Return parts as a picture with both axes, their ticks and labels; `bare_x` leaves the ticks of x to the parts."""
    frame: list[Html] = []
    ticks = _ticks(y_axis, whole_y)
    for tick, text in zip(ticks, axis_texts(y_axis, ticks), strict=True):
        place = y_axis(tick)
        frame.append(tag("line", class_="grid", **ends(x_axis.start, x_axis.end, place)))
        frame.append(tag("text", text, x=at(x_axis.start - 7), y=at(place + 4), text_anchor="end"))
    frame += [] if bare_x else x_ticks(x_axis, y_axis.start, whole_x)
    centre, middle = (x_axis.start + x_axis.end) / 2, (y_axis.start + y_axis.end) / 2
    turned = f"rotate(-90 14 {middle:.1f})"
    frame.append(tag("text", x_label, x=at(centre), y=at(HEIGHT - 7), text_anchor="middle", class_="axis"))
    frame.append(tag("text", y_label, x="14", y=at(middle), text_anchor="middle", transform=turned, class_="axis"))
    return svg([*frame, *parts], title, HEIGHT)


def _ticks(axis: Axis, whole: bool) -> list[float]:
    """Return round values along an axis; with `whole`, only whole numbers."""
    ticks = thinned_ticks(axis) if axis.is_log else axis.ticks()
    return [tick for tick in ticks if not whole or tick == round(tick)]


def thinned_ticks(axis: Axis, most: int = 6) -> list[float]:
    """Return round values along an axis, at most about this many; decades only where a logarithmic axis has more.

    >>> thinned_ticks(Axis(1e-8, 10.0, 0.0, 1.0, is_log=True))
    [1e-08, 1e-06, 0.0001, 0.01, 1.0]
    """
    ticks = axis.ticks()
    if axis.is_log and len(ticks) > most:
        ticks = [tick for tick in ticks if abs(math.log10(tick) - round(math.log10(tick))) < 1e-9]
    return ticks[:: max(1, math.ceil(len(ticks) / most))]


def axis_texts(axis: Axis, ticks: Sequence[float]) -> list[str]:
    """Return the labels of values along an axis; on a logarithmic one each has the digits that it needs."""
    return [_tick(tick, 0) for tick in ticks] if axis.is_log else tick_texts(ticks)


def x_ticks(axis: Axis, foot: float, whole: bool) -> list[Html]:
    """Return the labels along a horizontal axis whose foot is there, as many as have room."""
    ticks = _ticks(axis, whole)
    words = axis_texts(axis, ticks)
    widest = max(map(len, words), default=1)
    every = math.ceil(len(ticks) * (CHARACTER * widest + 10) / (axis.end - axis.start))
    return [
        tag("text", text, x=at(axis(tick)), y=at(foot + 17), text_anchor="middle")
        for tick, text in list(zip(ticks, words, strict=True))[:: max(1, every)]
    ]


def svg(parts: Sequence[Html], title: str, height: float) -> Html:
    """Return parts as a picture of the usual width, which a screen reader announces by its title."""
    return tag("svg", joined(*parts), viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=title)


def dot_at(dot: Dot, x_axis: Axis, y_axis: Axis) -> Html:
    """Return a dot at its place, or a short stroke at the edge if it is outside the picture."""
    place = _inside(y_axis, dot.y)
    if abs(place - y_axis(dot.y)) > 0.5:
        x = at(x_axis(dot.x))
        inwards = -5.0 if place == y_axis.start else 5.0
        return tag("line", class_="outside", x1=x, x2=x, y1=at(place), y2=at(place + inwards))
    return circle(x_axis(dot.x), place, dot)


def circle(x: float, y: float, dot: Dot) -> Html:
    """Return a dot as a circle; hovering over it shows its text."""
    hover = tag("title", dot.text) if dot.text else None
    return tag("circle", hover, class_=dot.kind, cx=at(x), cy=at(y), r=f"{dot.size:.2g}")


def _inside(axis: Axis, value: float) -> float:
    low, high = sorted((axis.start, axis.end))
    return min(max(axis(value), low), high)


def ends(x1: float, x2: float, y: float) -> dict[str, str]:
    """Return the coordinates of a horizontal line."""
    return {"x1": at(x1), "x2": at(x2), "y1": at(y), "y2": at(y)}


def at(place: float) -> str:
    """Return a coordinate as text, with one decimal at most."""
    return f"{place:.1f}".removesuffix(".0")


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Return the labels of values along an axis, with enough digits to distinguish neighbours.

    >>> tick_texts([0.0, 500_000.0, 1_000_000.0]), tick_texts([10_200_000.0, 10_400_000.0])
    (['0', '500,000', '1e+06'], ['1.02e+07', '1.04e+07'])
    >>> tick_texts([2000.0, 2000.5]), tick_texts([0.9425, 0.943, 0.9435])
    (['2,000.0', '2,000.5'], ['0.9425', '0.9430', '0.9435'])
    """
    step = min((after - before for before, after in pairwise(ticks)), default=1.0) or 1.0
    finest = math.floor(math.log10(step) + 1e-6)
    while finest > -12 and any(abs(round(tick, -finest) - tick) > step / 1000 for tick in ticks):
        finest -= 1
    return [_tick(tick, finest, n_decimals=max(0, -finest)) for tick in ticks]


def _tick(value: float, finest: int, n_decimals: int | None = None) -> str:
    """Return the label of a value; `finest` is the power of ten of its last digit that matters.

    Numbers of usual size have so many decimals, or as many as they need.
    """
    size = abs(value)
    n_digits = math.floor(math.log10(size)) - finest + 1 if size > 0 else 1
    if size >= 1e6 or 0 < size < 1e-4:
        text = f"{value:.{max(2, n_digits)}g}"
    elif size > 0 and n_decimals is not None:
        text = f"{value:,.{n_decimals}f}"
    else:
        text = f"{value:,.{max(0, -finest)}f}" if size >= 1000 else f"{value:.{max(6, n_digits)}g}"
    return text.replace("-", "−")
