"""Charts of what many data sets teach, as SVG files: bars with errors, shares, a rank diagram and a map."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from metaml.report.charts import NAMESPACE, PALETTE, STYLE, Axis

WIDTH = 720.0
TOP, BOTTOM, RIGHT = 44.0, 46.0, 24.0
ROW, CHARACTER = 26.0, 7.4
MOST_LETTERS = 34


@dataclass(frozen=True)
class ErrorBar:
    """A named value with its standard error."""

    name: str
    value: float
    error: float = 0.0


@dataclass(frozen=True)
class Point:
    """A place on a map, of a kind that chooses its colour."""

    x: float
    y: float
    kind: str
    text: str = ""


def error_bars(items: Sequence[ErrorBar], *, title: str, x_label: str) -> str:
    """Return horizontal bars, each with a line of one standard error to either side.

    >>> error_bars([ErrorBar("depth", 0.5, 0.1)], title="T", x_label="x").startswith("<svg")
    True
    """
    left = _room([item.name for item in items])
    height = TOP + ROW * len(items) + BOTTOM
    ends = [item.value + item.error for item in items if math.isfinite(item.error)] or [1.0]
    lows = [item.value - item.error for item in items if math.isfinite(item.error)] or [0.0]
    axis = Axis(min(0.0, *lows), max(*ends, 1e-9) if len(ends) > 1 else max(ends[0], 1e-9), left, WIDTH - RIGHT)
    parts = _x_axis(axis, height, x_label)
    for place, item in enumerate(items):
        middle = TOP + ROW * (place + 0.5)
        start, end = sorted((axis(0.0), axis(item.value)))
        parts.append(_label(item.name, left, middle))
        parts.append(
            f'<rect x="{start:.1f}" y="{middle - 8:.1f}" width="{max(end - start, 0.5):.1f}" height="16" rx="2" '
            f'fill="{PALETTE[0]}"><title>{escape(item.name)}: {item.value:.4g} ± {item.error:.2g}</title></rect>'
        )
        if item.error and math.isfinite(item.error):
            low, high = axis(item.value - item.error), axis(item.value + item.error)
            parts.append(f'<path class="e" d="M{low:.1f},{middle:.1f} H{high:.1f}"/>')
    return _framed(parts, title, height)


def value_shares(groups: Mapping[str, Mapping[str, float]], *, title: str, x_label: str) -> str:
    """Return how often each value is best, in percent: a block of bars per value, a colour per group of data sets."""
    values = list(dict.fromkeys(value for shares in groups.values() for value in shares))
    left = _room(values)
    block = 16.0 * len(groups) + 12.0
    height = TOP + block * len(values) + BOTTOM + 20.0 * len(groups)
    most = max((share for shares in groups.values() for share in shares.values()), default=1.0)
    axis = Axis(0.0, max(100 * most, 1e-9), left, WIDTH - RIGHT)
    foot = TOP + block * len(values) + BOTTOM
    parts = _x_axis(axis, foot, x_label)
    for row, value in enumerate(values):
        top = TOP + block * row + 6.0
        parts.append(_label(value, left, top + 8.0 * len(groups)))
        for place, (group, shares) in enumerate(groups.items()):
            share = 100 * shares.get(value, 0.0)
            parts.append(
                f'<rect x="{left:.1f}" y="{top + 16 * place:.1f}" width="{max(axis(share) - left, 0.5):.1f}" '
                f'height="13" rx="2" fill="{PALETTE[place % len(PALETTE)]}">'
                f"<title>{escape(group)}, {escape(value)}: {share:.0f} %</title></rect>"
            )
    for place, group in enumerate(groups):
        y = foot + 20.0 * place + 4.0
        parts.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="14" height="10" fill="{PALETTE[place % len(PALETTE)]}"/>'
        )
        parts.append(f'<text x="{left + 20:.1f}" y="{y + 10:.1f}">{escape(group)}</text>')
    return _framed(parts, title, height)


def rank_diagram(
    names: Sequence[str], mean_ranks: Sequence[float], groups: Sequence[tuple[int, int]], *, title: str
) -> str:
    """Return a critical-difference diagram: mean ranks on a line. Bars join those without a significant difference.

    `names` are in the order of their ranks, best first; `groups` are first and last positions. Demšar (2006).
    """
    half = math.ceil(len(names) / 2)
    line, low, high = TOP + 30.0, 190.0, WIDTH - 190.0
    first_label = line + 24.0 + 9.0 * len(groups)
    height = first_label + 22.0 * half + 24.0
    axis = Axis(
        math.floor(min(mean_ranks)), max(math.ceil(max(mean_ranks)), math.floor(min(mean_ranks)) + 1), low, high
    )
    parts = [f'<path class="a" d="M{low:.1f},{line:.1f} H{high:.1f}"/>']
    for tick in range(int(axis.low), int(axis.high) + 1):
        place = axis(tick)
        parts.append(f'<path class="a" d="M{place:.1f},{line - 6:.1f} V{line:.1f}"/>')
        parts.append(f'<text x="{place:.1f}" y="{line - 11:.1f}" text-anchor="middle">{tick}</text>')
    for place, (name, rank) in enumerate(zip(names, mean_ranks, strict=True)):
        is_left = place < half
        y = first_label + 22.0 * (place if is_left else len(names) - 1 - place)
        edge, anchor = (low - 14.0, "end") if is_left else (high + 14.0, "start")
        parts.append(f'<path class="d" d="M{axis(rank):.1f},{line:.1f} V{y:.1f} H{edge:.1f}"/>')
        shown = f"{name} ({rank:.2f})"
        at = edge - 6.0 if is_left else edge + 6.0
        parts.append(f'<text x="{at:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{escape(shown)}</text>')
    for place, (start, end) in enumerate(groups):
        y = line + 14.0 + 9.0 * place
        parts.append(
            f'<path class="c" d="M{axis(mean_ranks[start]) - 4:.1f},{y:.1f} H{axis(mean_ranks[end]) + 4:.1f}"/>'
        )
    return _framed(parts, title, height)


def map_chart(points: Sequence[Point], *, title: str, x_label: str, y_label: str) -> str:
    """Return points in the plane, coloured by their kind, with a legend of the kinds, most frequent first."""
    kinds: dict[str, int] = {}
    for point in points:
        kinds[point.kind] = kinds.get(point.kind, 0) + 1
    order = sorted(kinds, key=lambda kind: (-kinds[kind], kind))
    colours = {kind: PALETTE[min(place, len(PALETTE) - 1)] for place, kind in enumerate(order)}
    height, legend = 470.0, 190.0
    xs, ys = [point.x for point in points] or [0.0], [point.y for point in points] or [0.0]
    x_axis = Axis(min(xs), max(xs), 40.0, WIDTH - legend)
    y_axis = Axis(min(ys), max(ys), height - BOTTOM, TOP)
    parts = [
        f'<circle cx="{x_axis(point.x):.1f}" cy="{y_axis(point.y):.1f}" r="4.5" fill="{colours[point.kind]}" '
        f'fill-opacity="0.75"><title>{escape(point.text)}</title></circle>'
        for point in points
    ]
    for place, kind in enumerate(order):
        y = TOP + 20.0 * place
        parts.append(f'<circle cx="{WIDTH - legend + 24:.1f}" cy="{y:.1f}" r="5" fill="{colours[kind]}"/>')
        parts.append(f'<text x="{WIDTH - legend + 36:.1f}" y="{y + 4:.1f}">{escape(kind)} ({kinds[kind]})</text>')
    centre, middle = (x_axis.start + x_axis.end) / 2, (TOP + height - BOTTOM) / 2
    parts.append(f'<text x="{centre:.1f}" y="{height - 12:.1f}" text-anchor="middle">{escape(x_label)}</text>')
    turned = f'text-anchor="middle" transform="rotate(-90 16 {middle:.1f})"'
    parts.append(f'<text x="16" y="{middle:.1f}" {turned}>{escape(y_label)}</text>')
    return _framed(parts, title, height)


def _framed(parts: Sequence[str], title: str, height: float) -> str:
    style = (
        f"{STYLE}.e{{stroke:#222;stroke-width:1.6}}.a{{stroke:#777;stroke-width:1.4}}.d{{stroke:#999;stroke-width:1}}"
        ".c{stroke:#222;stroke-width:5}@media(prefers-color-scheme:dark){.e,.c{stroke:#eee}}"
    )
    return "".join(
        [
            f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(title)}">',
            f'<style>{style}</style><text class="t" x="16" y="22">{escape(title)}</text>',
            *parts,
            "</svg>",
        ]
    )


def _x_axis(axis: Axis, foot: float, x_label: str) -> list[str]:
    parts = []
    for tick in axis.ticks():
        place = axis(tick)
        parts.append(f'<line class="g" x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 6:g}" y2="{foot - BOTTOM:.1f}"/>')
        parts.append(f'<text x="{place:.1f}" y="{foot - BOTTOM + 18:.1f}" text-anchor="middle">{tick:g}</text>')
    centre = (axis.start + axis.end) / 2
    parts.append(f'<text x="{centre:.1f}" y="{foot - 8:.1f}" text-anchor="middle">{escape(x_label)}</text>')
    return parts


def _room(names: Sequence[str]) -> float:
    return 24.0 + CHARACTER * min(MOST_LETTERS, max(map(len, names), default=1))


def _label(name: str, left: float, middle: float) -> str:
    short = name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"
    return f'<text x="{left - 8:.1f}" y="{middle + 4:.1f}" text-anchor="end">{escape(short)}</text>'
