"""The pictures that only the web pages have, drawn with the report's axes, frame and colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metaml.report.charts import Axis
from metaml.report.markup import Html, joined, tag
from metaml.report.pictures import Dot, at, axes, axis_texts, dot_at, framed, padded, thinned_ticks

PARALLEL_WIDTH, PARALLEL_HEIGHT = 1000.0, 346.0
TOP, BOTTOM, SIDE = 62.0, 26.0, 56.0
N_SHADES = 5
LEVEL_LETTERS = 14
LETTER = 7.4
"""Room for a letter of a label."""


@dataclass(frozen=True)
class SettingAxis:
    """The axis of a setting: numbers from `low` to `high`, or words at 0, 1, 2 …"""

    name: str
    low: float
    high: float
    is_log: bool = False
    levels: Sequence[str] = ()


def setting_picture(
    values: Sequence[float | None],
    scores: Sequence[float],
    scale: SettingAxis,
    texts: Sequence[str],
    *,
    name: str,
    y_label: str,
    window: tuple[float, float],
    log_y: bool = False,
) -> Html:
    """Return one setting against the score, a dot for each run; words stand in columns."""
    log_x = scale.is_log
    if scale.levels:
        x_range = (scale.low, scale.high)
    elif log_x:
        x_range = (scale.low / 1.15, scale.high * 1.15)
    else:
        x_range = padded(scale.low, scale.high)
    x_axis, y_axis = axes(x_range, window, log_x=log_x, log_y=log_y)
    rng = np.random.default_rng(0)
    dots = []
    for value, score, text in zip(values, scores, texts, strict=True):
        if value is None:
            continue
        shift = float(rng.uniform(-0.22, 0.22)) if scale.levels else 0.0
        word = scale.levels[int(value)] if scale.levels else f"{value:.4g}"
        dots.append(dot_at(Dot(value + shift, score, "dot spotted", 4.2, f"{name} {word}: {text}"), x_axis, y_axis))
    if not scale.levels:
        return framed(dots, x_axis, y_axis, f"{name} against {y_label}", name, y_label)
    room = (x_axis.end - x_axis.start) / len(scale.levels)
    letters = max(3, int(room / LETTER))
    words = [
        tag("text", cut(level, letters), x=at(x_axis(place)), y=at(y_axis.start + 17), text_anchor="middle")
        for place, level in enumerate(scale.levels)
    ]
    return framed([*words, *dots], x_axis, y_axis, f"{name} against {y_label}", name, y_label, bare_x=True)


def cut(text: str, most: int) -> str:
    """Return a text that is no longer than that."""
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"


def parallel_picture(
    scales: Sequence[SettingAxis], lines: Sequence[tuple[str, Sequence[float | None], float, str]], *, title: str
) -> Html:
    """Return runs as lines over parallel axes. A line is a run's key, its values, its rank (0 is best) and a text.

    Where a run has no value its line goes around below the axis. The script of the page brushes them by `data-v`, the
    places on the axes from 0 (below) to 1.
    """
    foot, head = PARALLEL_HEIGHT - BOTTOM, TOP
    left = max(SIDE, 16 + LETTER * max((len(word) for _, word in _ticks_of(scales[0], foot, head)), default=0))
    step = (PARALLEL_WIDTH - left - SIDE) / max(1, len(scales) - 1)
    parts: list[Html] = []
    for key, values, rank, text in lines:
        places = [_share(scale, value) for scale, value in zip(scales, values, strict=True)]
        points = [
            (left + step * column, foot - (foot - head) * (place if place is not None else -0.06))
            for column, place in enumerate(places)
        ]
        path = f"M{points[0][0]:.1f},{points[0][1]:.1f}" + "".join(
            f"C{(x0 + x1) / 2:.1f},{y0:.1f} {(x0 + x1) / 2:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
            for (x0, y0), (x1, y1) in pairwise(points)
        )
        shade = min(N_SHADES - 1, int(rank * N_SHADES))
        data = ",".join("" if place is None else f"{place:.4f}" for place in places)
        parts.append(tag("path", tag("title", text), class_=f"run shade-{shade}", d=path, data_v=data, data_run=key))
    for column, scale in enumerate(scales):
        parts.append(_upright(scale, column, left + step * column, foot, head, step))
    return tag(
        "svg",
        joined(*parts),
        viewBox=f"0 0 {PARALLEL_WIDTH:g} {PARALLEL_HEIGHT:g}",
        role="group",
        aria_label=title,
        class_="parallel-picture",
    )


def _ticks_of(scale: SettingAxis, foot: float, head: float) -> list[tuple[float, str]]:
    """Return the places of the ticks of an upright axis with their words."""
    axis = Axis(scale.low, scale.high, foot, head, is_log=scale.is_log)
    if scale.levels:
        return [(axis(place), cut(level, LEVEL_LETTERS)) for place, level in enumerate(scale.levels)]
    values = thinned_ticks(axis)
    return [(axis(value), word) for value, word in zip(values, axis_texts(axis, values), strict=True)]


def _share(scale: SettingAxis, value: float | None) -> float | None:
    if value is None:
        return None
    place = Axis(scale.low, scale.high, 0.0, 1.0, is_log=scale.is_log)(value)
    return min(max(place, 0.0), 1.0)


def _upright(scale: SettingAxis, column: int, x: float, foot: float, head: float, step: float) -> Html:
    """Return one axis with its name, its ticks, and two handles that brush."""
    ticks = _ticks_of(scale, foot, head)
    # Every other name is higher, so that each has room beside its neighbours.
    name, rise = cut(scale.name, max(8, int(2 * step / LETTER))), 24 + 17 * (column % 2)
    half, is_last = len(name) * LETTER / 2, x > PARALLEL_WIDTH - SIDE - 1
    has_room = (column or half < x) and (not is_last or half < SIDE - 4)
    anchor = "middle" if has_room else "end" if column else "start"
    words = [
        tag("text", tag("title", scale.name), name, x=at(x), y=at(head - rise), text_anchor=anchor, class_="axis"),
        tag("line", class_="upright", x1=at(x), x2=at(x), y1=at(foot), y2=at(head)),
    ]
    for place, word in ticks:
        words.append(tag("line", class_="tick", x1=at(x - 4), x2=at(x), y1=at(place), y2=at(place)))
        words.append(tag("text", word, x=at(x - 13), y=at(place + 4), text_anchor="end", class_="halo"))
    words.append(tag("rect", class_="brush", x=at(x - 9), y=at(head), width="18", height=at(foot - head)))
    for end, place, share in (("lowest", foot, 0), ("highest", head, 100)):
        label = f"{end} {scale.name} shown"
        words.append(
            tag(
                "rect",
                class_=f"handle {end}",
                x=at(x - 9),
                y=at(place - 4),
                width="18",
                height="8",
                rx="3",
                tabindex="0",
                role="slider",
                aria_label=label,
                aria_valuemin="0",
                aria_valuemax="100",
                aria_valuenow=str(share),
                aria_valuetext=_text_at(scale, share / 100),
            )
        )
    ends = {"data_low": f"{scale.low!r}", "data_high": f"{scale.high!r}", "data_log": "1" if scale.is_log else None}
    levels = "\n".join(scale.levels) if scale.levels else None
    return tag("g", *words, class_="axis-group", data_column=str(column), data_levels=levels, **ends)


def _text_at(scale: SettingAxis, share: float) -> str:
    if scale.levels:
        return scale.levels[round(share * (len(scale.levels) - 1))]
    if scale.is_log:
        return f"{math.exp(math.log(scale.low) + share * (math.log(scale.high) - math.log(scale.low))):.4g}"
    return f"{scale.low + share * (scale.high - scale.low):.4g}"


@dataclass(frozen=True)
class BestSoFar:
    """The best so far: its improvements as points, and where it ends."""

    name: str
    points: Sequence[tuple[float, float]]
    end: float


def curves_picture(curves: Sequence[BestSoFar], *, x_label: str, y_label: str) -> Html:
    """Return several searches as steps over one another."""
    values = [y for curve in curves for _, y in curve.points]
    if not values:
        return tag("p", "There is no score to draw.", class_="quiet")
    x_axis, y_axis = axes((0.0, max(curve.end for curve in curves) or 1.0), padded(min(values), max(values)))
    parts = []
    for place, curve in enumerate(curves):
        if not curve.points:
            continue
        first, *rest = curve.points
        path = [f"M{x_axis(first[0]):.1f},{y_axis(first[1]):.1f}"]
        path += [f"H{x_axis(x):.1f}V{y_axis(y):.1f}" for x, y in rest]
        path.append(f"H{x_axis(curve.end):.1f}")
        parts.append(tag("path", tag("title", curve.name), class_=f"steps series-{place}", d="".join(path)))
    return framed(parts, x_axis, y_axis, f"{y_label} over {x_label}", x_label, y_label, whole_x=True)


def folds_picture(series: Sequence[tuple[str, Sequence[float]]], *, y_label: str) -> Html:
    """Return the scores of each fold, a dot for each run, with a line at each run's mean."""
    values = [value for _, folds in series for value in folds if math.isfinite(value)]
    n_folds = max(len(folds) for _, folds in series)
    if not values:
        return tag("p", "There is no score to draw.", class_="quiet")
    x_axis, y_axis = axes((0.5, n_folds + 0.5), padded(min(values), max(values), 0.12))
    parts = []
    for place, (name, folds) in enumerate(series):
        known = [value for value in folds if math.isfinite(value)]
        mean = sum(known) / len(known) if known else math.nan
        if math.isfinite(mean):
            line = {"x1": at(x_axis.start), "x2": at(x_axis.end), "y1": at(y_axis(mean)), "y2": at(y_axis(mean))}
            parts.append(tag("line", tag("title", f"{name}: mean {mean:.4g}"), class_=f"level series-{place}", **line))
        shift = (place - (len(series) - 1) / 2) * 0.5 / max(1, len(series))
        for fold, value in enumerate(folds, start=1):
            if math.isfinite(value):
                text = f"{name}, fold {fold}: {value:.4g}"
                parts.append(dot_at(Dot(fold + shift, value, f"dot best series-{place}", 4.2, text), x_axis, y_axis))
    return framed(parts, x_axis, y_axis, f"{y_label} of each fold", "fold", y_label, whole_x=True)
