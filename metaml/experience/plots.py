"""The pictures of `metaml kb plot`: each a function of a knowledge base that returns SVG."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from metaml.errors import BadRequest
from metaml.experience.insight_runs import Rows, algorithm_runs, dataset_sizes, score_table
from metaml.insight import AlgorithmRuns, best_settings, importance, map_datasets, rank_algorithms, tunability
from metaml.insight.best_settings import SPLIT_ROWS
from metaml.report.insight_charts import ErrorBar, Point, error_bars, map_chart, rank_diagram, value_shares
from metaml_kb import KnowledgeBase

MOST_BARS = 15
FEWEST = 3
LOST = "no score"


@dataclass(frozen=True, kw_only=True)
class PlotRequest:
    """What a picture is of: a metric, and for most of them an algorithm; `rows` and `task` choose data sets."""

    metric: str
    algorithm: str | None = None
    hyperparameter: str | None = None
    rows: Rows | None = None
    task: str | None = None
    split_rows: Sequence[int] = SPLIT_ROWS


def plot(kb: KnowledgeBase, kind: str, request: PlotRequest) -> str:
    """Return a picture as SVG. `kind` is one of PLOTS. Raises BadRequest if there are too few runs for it."""
    if kind not in PLOTS:
        raise BadRequest(f"There is no plot {kind!r}. Choose among: {', '.join(PLOTS)}.")
    return PLOTS[kind](kb, request)


def picture_size(svg: str) -> tuple[int, int]:
    """Return width and height of a picture.

    >>> picture_size('<svg viewBox="0 0 720 120.5">')
    (720, 121)
    """
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if found is None:
        return 720, 480
    return round(float(found[1])), int(-(-float(found[2]) // 1))


def _runs(kb: KnowledgeBase, request: PlotRequest) -> AlgorithmRuns:
    if request.algorithm is None:
        raise BadRequest("This plot is of one algorithm. Name it with --algorithm.")
    return algorithm_runs(kb, request.algorithm, metric=request.metric, task=request.task, rows=request.rows)


def _importance(kb: KnowledgeBase, request: PlotRequest) -> str:
    found = importance(_runs(kb, request))
    if not found:
        raise BadRequest("No data set has 8 runs that no search proposed. Make some with: metaml bot")
    whole = sum(max(item.divergence, 0.0) * item.n_datasets for item in found) or 1.0
    bars = [
        ErrorBar(item.name, item.share, item.standard_error * item.n_datasets / whole) for item in found[:MOST_BARS]
    ]
    title = f"Importance of the settings of {request.algorithm} ({request.metric})"
    return error_bars(bars, title=title, x_label=f"share of the importance, {found[0].n_datasets} data sets")


def _tunability(kb: KnowledgeBase, request: PlotRequest) -> str:
    names = [request.algorithm] if request.algorithm else list(kb.info()["runs_by_algorithm"])
    found = []
    for name in names:
        try:
            tuned = tunability(algorithm_runs(kb, name, metric=request.metric, task=request.task, rows=request.rows))
        except BadRequest:
            continue
        if tuned is not None:
            found.append(tuned)
    if not found:
        raise BadRequest("No data set has enough runs to say what tuning gains. Make some with: metaml bot")
    metric = request.metric.removeprefix("neg_")
    if request.algorithm:
        gains = found[0].hyperparameters[:MOST_BARS]
        bars = [ErrorBar(gain.name, gain.mean, gain.standard_error) for gain in gains]
        what = "the default" if found[0].over_default is not None else "the best single configuration"
        title = f"Gain when one setting of {request.algorithm} is tuned"
        return error_bars(bars, title=title, x_label=f"{metric} over {what}, {gains[0].n_datasets} data sets")
    found.sort(key=lambda item: -item.over_best_single.mean)
    bars = [
        ErrorBar(
            f"{item.algorithm} ({item.over_best_single.n_datasets})",
            item.over_best_single.mean,
            item.over_best_single.standard_error,
        )
        for item in found
    ]
    return error_bars(bars, title="Tunability", x_label=f"gain in {metric} over the best single configuration")


def _values(kb: KnowledgeBase, request: PlotRequest) -> str:
    runs = _runs(kb, request)
    groups = best_settings(runs, split_rows=request.split_rows).groups
    names = list(groups[0].effects)
    name = request.hyperparameter or (names[0] if names else "")
    if name not in names:
        raise BadRequest(f"No runs vary {name!r}. Choose --hyperparameter among: {', '.join(names) or 'none'}.")
    chosen = [group for group in groups[1:] if group.effects.get(name)] or list(groups[:1])
    shares = {
        f"{group.label} ({group.n_datasets} data sets)": {item.value: item.share for item in group.effects[name]}
        for group in chosen
    }
    title = f"Which {name} of {request.algorithm} is best ({request.metric})"
    return value_shares(shares, title=title, x_label="percent of the data sets")


def _ranks(kb: KnowledgeBase, request: PlotRequest) -> str:
    table = score_table(kb, metric=request.metric, task=request.task, rows=request.rows)
    if table.shape[1] < 2:
        raise BadRequest("Fewer than two algorithms have runs of their defaults. Make some with: metaml bot")
    found = rank_algorithms(table)
    title = f"Mean ranks of defaults by {request.metric}, {found.n_datasets} data sets"
    return rank_diagram(found.names, found.mean_ranks, found.groups, title=title)


def _map(kb: KnowledgeBase, request: PlotRequest) -> str:
    sizes = dataset_sizes(kb)
    described = kb.metafeatures()
    if len(described) < FEWEST:
        raise BadRequest(f"A map needs metafeatures of {FEWEST} data sets. Make some with: metaml bot")
    places = map_datasets(described)
    table = score_table(kb, metric=request.metric, task=request.task, rows=request.rows)
    winners = table.idxmax(axis=1)
    points = [
        Point(float(row.x), float(row.y), str(winners.get(key, LOST)), str(sizes["name"].get(key, key)))
        for key, row in pd.DataFrame(places.places).iterrows()
        if key in winners.index
    ]
    axes = [
        f"{', '.join(names[:2])} … ({part:.0%})" for names, part in zip(places.leading, places.explained, strict=True)
    ]
    title = f"Data sets by their metafeatures, coloured by the best default ({request.metric})"
    return map_chart(points, title=title, x_label=axes[0], y_label=axes[1])


PLOTS: dict[str, Callable[[KnowledgeBase, PlotRequest], str]] = {
    "importance": _importance,
    "tunability": _tunability,
    "values": _values,
    "ranks": _ranks,
    "map": _map,
}
"""Every picture by name."""
