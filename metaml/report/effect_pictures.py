"""Pictures of effects: a curve over a number, bars over levels, a grid over a pair of columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from metaml.explanation.readable import ReadableEffect
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import at, axes, ends, framed, padded
from metaml.report.tables import TableColumn, table
from metaml.report.wording import rounded

MOST_LEVELS, MOST_CURVES, RUG = 14, 6, 16.0
"""Levels of a category that are shown, curves in a picture, and the height of the rows' histogram below a curve."""
DEEPEST = 46.0
LEAST_SHOWN = 1e-9


def effect_picture(effect: ReadableEffect, outputs: Sequence[str], y_range: tuple[float, float], y_label: str) -> Html:
    """Return the picture of an effect; `outputs` are the classes that have a curve each, none for one curve."""
    if len(effect.columns) == 2:
        return _grid(effect, outputs)
    if effect.are_numbers[0]:
        return _curve(effect, outputs, y_range, y_label)
    return _levels(effect, outputs)


def _curve(effect: ReadableEffect, outputs: Sequence[str], y_range: tuple[float, float], y_label: str) -> Html:
    x = np.array(effect.points[0], dtype=np.float64)
    x_axis, y_axis = axes(padded(float(x[0]), float(x[-1]), 0.02), y_range)
    most = max(float(effect.share.max()), 1e-12)
    parts = [tag("line", class_="equal", **ends(x_axis.start, x_axis.end, y_axis(0.0)))]
    width = max(min((x_axis.end - x_axis.start) / len(x) * 0.7, 14.0), 1.0)
    for value, share in zip(x, effect.share, strict=True):
        height = RUG * float(share) / most
        hover = tag("title", f"{value:.6g}: {share:.1%} of the rows")
        place = {"x": x_axis(float(value)) - width / 2, "y": y_axis.start - height, "width": width, "height": height}
        parts.append(tag("rect", hover, class_="rows", **{name: at(size) for name, size in place.items()}))
    for output, values in enumerate(effect.values.T[:MOST_CURVES]):
        path = " ".join(f"{x_axis(one):.1f},{y_axis(two):.1f}" for one, two in zip(x, values, strict=True))
        name = outputs[output] if outputs else effect.columns[0]
        parts.append(tag("polyline", tag("title", name), class_=f"steps curve-{output}", points=path))
        if len(x) <= 12:
            parts += [
                tag("circle", tag("title", f"{one:.6g}: {two:+.3g}"), class_=f"dot solid curve-dot-{output}",
                    cx=at(x_axis(one)), cy=at(y_axis(two)), r="3.2")
                for one, two in zip(x, values, strict=True)
            ]  # fmt: skip
    name = effect.columns[0]
    picture = framed(parts, x_axis, y_axis, f"Effect of {name}", name if len(name) <= 40 else name[:39] + "…", y_label)
    return joined(picture, _missing(effect, outputs))


def _missing(effect: ReadableEffect, outputs: Sequence[str]) -> Html | None:
    if effect.missing is None:
        return None
    if not outputs:
        return tag("p", f"A missing value adds {signed(float(effect.missing[0]))}.", class_="note")
    told = ", ".join(f"{signed(float(value))} to {name}" for value, name in zip(effect.missing, outputs, strict=True))
    return tag("p", f"A missing value adds {told}.", class_="note")


def _levels(effect: ReadableEffect, outputs: Sequence[str]) -> Html:
    """Return levels with a bar to the left or right, or a table where there are several outputs."""
    names = [str(point) for point in effect.points[0]]
    values, shares = effect.values, effect.share
    if effect.missing is not None:
        names, values = [*names, "(missing)"], np.vstack([values, effect.missing])
        shares = np.append(shares, max(1 - shares.sum(), 0.0))
    order = np.argsort(-values[:, 0], kind="stable") if len(names) <= MOST_LEVELS else np.arange(MOST_LEVELS)
    rest = len(names) - len(order)
    note = tag("p", f"{rest} rarer levels are not shown.", class_="note") if rest > 0 else None
    if outputs:
        columns = [TableColumn(effect.columns[0]), *(TableColumn(name, "number") for name in outputs)]
        rows = [[shortened(names[k], 30), *(signed(float(value)) for value in values[k])] for k in order]
        return joined(table(columns, rows), note)
    most = float(np.abs(values).max()) or 1.0
    bars = [_bar(names[k], float(values[k, 0]), most, float(shares[k])) for k in order]
    return joined(tag("div", *bars, class_="bars", role="list", aria_label=f"Effect of {effect.columns[0]}"), note)


def _bar(name: str, value: float, most: float, share: float) -> Html:
    left, width = (50.0, 50 * value / most) if value > 0 else (50 + 50 * value / most, -50 * value / most)
    track = tag(
        "svg",
        tag(
            "rect",
            class_="fill" if value > 0 else "fill less",
            x=at(left),
            y="0",
            width=at(max(width, 0.5)),
            height="10",
        ),
        tag("line", class_="middle", x1="50", x2="50", y1="0", y2="10"),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="track",
        aria_hidden="true",
    )
    cells = [tag("span", shortened(name, 30), class_="name"), track, tag("span", signed(value), class_="told")]
    return tag("div", *cells, class_="bar", role="listitem", title=f"{share:.1%} of the rows")


def _grid(effect: ReadableEffect, outputs: Sequence[str]) -> Html:
    """Return a pair of columns as a shaded table of what both together add beyond each alone."""
    values = effect.values[..., 0]
    most = float(np.abs(values).max()) or 1.0
    rows_shown, columns_shown = _thinned(len(effect.points[0])), _thinned(len(effect.points[1]))
    heads = [tag("th", _point(effect.points[1][k]), scope="col") for k in columns_shown]
    lines = [tag("tr", tag("td"), *heads)]
    for one in rows_shown:
        cells = [_cell(float(values[one, two]), most) for two in columns_shown]
        lines.append(tag("tr", tag("th", _point(effect.points[0][one]), scope="row"), *cells))
    title = f"Rows: {effect.columns[0]}. Columns: {effect.columns[1]}."
    if outputs:
        title += f" Shown for {outputs[0]}."
    return joined(
        tag("div", tag("table", *lines, class_="heat"), class_="scroll", tabindex="0"), tag("p", title, class_="note")
    )


def _thinned(n: int, most: int = 7) -> list[int]:
    return sorted({round(place) for place in np.linspace(0, n - 1, min(n, most))})


def _cell(value: float, most: float) -> Html:
    kind = "right" if value > 0 else "wrong"
    return tag("td", signed(value), class_=kind, style=f"--depth:{DEEPEST * abs(value) / most:.0f}%")


def _point(value: Any) -> Html:
    if value is None:
        return tag("span", "(missing)")
    return tag("span", f"{value:.4g}") if isinstance(value, float) else shortened(value, 16)


def signed(value: float) -> str:
    """Return a number with its sign, a real minus.

    >>> signed(0.1234), signed(-2.0), signed(0.0)
    ('+0.123', '−2', '0')
    """
    if abs(value) < LEAST_SHOWN:
        return "0"
    return f"{'+' if value > 0 else '−'}{rounded(abs(value))}"
