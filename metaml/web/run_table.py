"""Runs as a table that several pages show."""

from collections.abc import Mapping, Sequence

from metaml.report.markup import Html, joined, tag
from metaml.report.tables import settings
from metaml.report.wording import ORIGIN_WORDS, STATUS_WORDS, rounded
from metaml.web.sheet import Field, Sheet, moment, short
from metaml.web.words import (
    algorithm_link,
    as_shown,
    dataset_link,
    digits,
    metric_name,
    run_link,
    seconds_text,
    session_link,
    status_text,
)
from metaml_kb.browsing.listing import ListedRun


def run_sheet(
    runs: Sequence[ListedRun],
    metrics: Mapping[str, str],
    *,
    name: str = "runs",
    title: str = "Runs",
    one_dataset: bool = False,
    one_session: bool = False,
    chosen: bool = False,
    sorted_by: str = "",
    ranked: bool = False,
) -> Sheet:
    """Return runs as a sheet; `metrics` names the metric to show for each data set (fingerprint).

    `one_dataset` and `one_session` leave out a column that would say the same in each row, `chosen` adds boxes to
    choose runs to compare, `ranked` numbers them.
    """
    shown = {metrics.get(run.fingerprint, "") for run in runs}
    label = metric_name(next(iter(shown))) if len(shown) == 1 and "" not in shown else "Score"
    is_mixed = len(shown) > 1
    fields = [
        *([Field("Pick", "pick")] if chosen else []),
        *([Field("", "number", key="place", show=str)] if ranked else []),
        Field("Run", "name", key="run"),
        *([] if one_dataset else [Field("Data set", key="dataset", show=short(40))]),
        Field("Algorithm", "name", key="algorithm"),
        Field(label, "number", key="score", first="down", show=rounded),
        *([Field("Metric", "name", key="metric", is_hidden=True)] if is_mixed else []),
        Field("Ended", "name", key="status", extra=True),
        Field("Proposed by", "name", key="origin", extra=True),
        Field("Cost", "number", key="seconds", first="down", show=seconds_text, extra=True),
        Field("Finished (UTC)", "name", key="finished_at", first="down", show=moment, extra=True),
        *([] if one_session else [Field("Session", "name", key="session", extra=True, is_hidden=chosen)]),
        Field("Settings", "wide", key="settings"),
    ]
    rows, extra = [], []
    for place, run in enumerate(runs, start=1):
        metric = metrics.get(run.fingerprint, "")
        score = run.score(metric)
        rows.append(
            {
                "place": place,
                "run": run.key,
                "dataset": run.dataset,
                "algorithm": run.algorithm,
                "score": as_shown(metric, score),
                "metric": metric_name(metric) if metric else None,
                "status": STATUS_WORDS.get(run.status, run.status),
                "origin": ORIGIN_WORDS.get(run.origin, run.origin),
                "seconds": run.seconds,
                "finished_at": run.finished_at,
                "session": run.session,
                "settings": dict(run.config),
            }
        )
        extra.append(
            {
                "": _box(run),
                "run": run_link(run.key),
                "dataset": dataset_link(run.dataset, run.fingerprint),
                "algorithm": algorithm_link(run.algorithm),
                "score": _score(metric, score) if is_mixed else digits(metric, score),
                "status": status_text(run.status),
                "session": session_link(run.session),
                "settings": settings(run.config),
            }
        )
    return Sheet(name, fields, rows, title=title, extra=extra, sorted_by=sorted_by)


def _score(metric: str, score: float) -> Html:
    """Return a score after the name of its metric, which a phone has no room for."""
    return joined(tag("span", f"{metric_name(metric)} ", class_="quiet extra"), digits(metric, score))


def _box(run: ListedRun) -> Html:
    said = f"Compare run {run.key[:8]}"
    return tag("label", tag("input", type="checkbox", name="run", value=run.key, aria_label=said), class_="box")
