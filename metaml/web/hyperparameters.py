"""What the settings of an algorithm did on one data set: each against the score, and all together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.report.markup import Html, joined, tag
from metaml.report.tables import figure, paragraph
from metaml.report.wording import counted
from metaml.web.pictures import SettingAxis, parallel_picture, setting_picture
from metaml.web.words import as_shown, better, digits, metric_name
from metaml_kb.browsing.listing import ListedRun

LEAST_RUNS = 3
MOST_PICTURES, MOST_AXES, MOST_LINES, MOST_LEVELS = 9, 8, 250, 8
LOG_RATIO = 50.0


@dataclass(frozen=True)
class VaryingHyperparameter:
    """A hyperparameter that varies: its scale, and for each run its place on it or None; `strength` sorts them."""

    name: str
    scale: SettingAxis
    values: Sequence[float | None]
    strength: float


def hyperparameters(runs: Sequence[ListedRun], metric: str, algorithm: str) -> Html:
    """Return pictures of the hyperparameters that vary against the score."""
    known = [run for run in runs if math.isfinite(run.score(metric))]
    varying = varying_hyperparameters(known, metric)
    if len(known) < LEAST_RUNS or not varying:
        return paragraph(f"There are too few different runs of {algorithm} to draw.")
    scores = [as_shown(metric, run.score(metric)) for run in known]
    label = metric_name(metric)
    window = window_of(scores, [run.score(metric) for run in known])
    texts = [f"{digits(metric, run.score(metric))}, run {run.key[:8]}" for run in known]
    pictures = [
        figure(
            setting.name,
            setting_picture(
                setting.values, scores, setting.scale, texts, name=setting.name, y_label=label, window=window
            ),
        )
        for setting in varying[:MOST_PICTURES]
    ]
    said = (
        f"{counted(len(known), 'complete run')} of {algorithm}, one dot each ({label}, {better(metric)}). Settings "
        "that never vary are left out; those that go with the score come first."
    )
    if any(not window[0] <= score <= window[1] for score in scores):
        said += " A short mark at the edge is a run off the scale."
    return joined(
        paragraph(said),
        tag("div", *pictures, class_="grid-3"),
        parallel(known, varying, metric),
    )


def parallel(runs: Sequence[ListedRun], varying: Sequence[VaryingHyperparameter], metric: str) -> Html:
    """Return all settings of the runs side by side, with the score as the last axis."""
    order = sorted(range(len(runs)), key=lambda place: -runs[place].score(metric))
    every = math.ceil(len(order) / MOST_LINES)
    chosen = order[::every]
    scores = [as_shown(metric, run.score(metric)) for run in runs]
    window = window_of(scores, [run.score(metric) for run in runs])
    scales = [setting.scale for setting in varying[:MOST_AXES]]
    scales.append(SettingAxis(metric_name(metric), *window))
    lines = []
    for rank, place in enumerate(chosen):
        values = [setting.values[place] for setting in varying[:MOST_AXES]]
        text = f"run {runs[place].key[:8]}, {digits(metric, runs[place].score(metric))}"
        lines.append((runs[place].key, [*values, scores[place]], rank / max(1, len(chosen) - 1), text))
    lines.reverse()
    picture = parallel_picture(scales, lines, title=f"Settings and {metric_name(metric)}, side by side")
    said = (
        "Each line is a run; the better, the stronger its colour. Drag along an axis to keep only the runs that pass "
        "there, or move the ends of an axis with the arrow keys."
    )
    status = tag("span", f"{len(lines)} of {counted(len(lines), 'run')}", class_="brushed", role="status")
    reset = tag("button", "Reset", type="button", class_="reset quiet-link", hidden="hidden")
    shown = tag("div", picture, class_="scroll parallel", tabindex="0", role="group", aria_label="Parallel coordinates")
    return figure("All together", shown, tag("p", status, reset, class_="tools"), note=said)


def varying_hyperparameters(runs: Sequence[ListedRun], metric: str) -> list[VaryingHyperparameter]:
    """Return the hyperparameters that vary, those that go with the score first."""
    names = sorted({name for run in runs for name in run.config})
    scores = np.array([run.score(metric) for run in runs])
    found = []
    for name in names:
        values = [run.config.get(name) if name in run.config else math.nan for run in runs]
        setting = _setting(name, values, scores)
        if setting is not None:
            found.append(setting)
    return sorted(found, key=lambda item: (-item.strength, item.name))


def _setting(name: str, values: Sequence[object], scores: np.ndarray) -> VaryingHyperparameter | None:
    active = [value for value in values if not (isinstance(value, float) and math.isnan(value))]
    distinct = {repr(value) for value in active}
    if len(distinct) < 2:
        return None
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in active):
        numbers = [float(value) for value in active]  # type: ignore[arg-type]  # The line above asked.
        low, high = min(numbers), max(numbers)
        is_log = low > 0 and high / low >= LOG_RATIO
        places: list[float | None] = [
            None if isinstance(value, float) and math.isnan(value) else float(value)  # type: ignore[arg-type]
            for value in values
        ]
        return VaryingHyperparameter(
            name, SettingAxis(name, low, high, is_log=is_log), places, _strength(places, scores)
        )
    levels = sorted({str(value) for value in active})
    if len(levels) > MOST_LEVELS:
        return None
    coded: list[float | None] = [
        None if isinstance(value, float) and math.isnan(value) else float(levels.index(str(value))) for value in values
    ]
    scale = SettingAxis(name, -0.5, len(levels) - 0.5, levels=levels)
    means = {code: scores[[place for place, at in enumerate(coded) if at == code]].mean() for code in set(coded)}
    fitted = np.array([means[code] for code in coded])
    spread = float(np.var(scores))
    return VaryingHyperparameter(name, scale, coded, math.sqrt(float(np.var(fitted)) / spread) if spread > 0 else 0.0)


def _strength(places: Sequence[float | None], scores: np.ndarray) -> float:
    """Return how much a number goes with the score: the absolute rank correlation."""
    known = [place for place, value in enumerate(places) if value is not None]
    x = np.argsort(np.argsort([places[place] or 0.0 for place in known]))
    y = np.argsort(np.argsort(scores[known]))
    if len(known) < LEAST_RUNS or x.std() == 0 or y.std() == 0:
        return 0.0
    # What few runs have says little about all of them.
    return abs(float(np.corrcoef(x, y)[0, 1])) * len(known) / len(places)


def window_of(shown: Sequence[float], scores: Sequence[float]) -> tuple[float, float]:
    """Return the range of scores worth showing: all but the worst tenth, a little wider."""
    order = np.argsort(scores)
    kept = [shown[place] for place in order[len(order) // 10 :]]
    low, high = min(kept), max(kept)
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    return low - room, high + room
