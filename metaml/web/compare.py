"""Two sessions, or two to eight runs, side by side."""

import math
from collections.abc import Mapping, Sequence

from metaml.experience.run_explained import title_of
from metaml.records.explanation import mean_of, metric_of
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.tables import figure, paragraph
from metaml.report.wording import ORIGIN_WORDS, STATUS_WORDS, counted, duration, rounded
from metaml.web.catalogue import Catalogue, KnownSession
from metaml.web.forms import filter_form, text_field
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, beside, command, empty, heading, section
from metaml.web.pictures import BestSoFar, curves_picture, folds_picture
from metaml.web.session import Evaluated, evaluated, is_complete, seconds_at
from metaml.web.sessions import final_text
from metaml.web.sheet import Field, Sheet
from metaml.web.words import (
    algorithm_link,
    as_shown,
    better,
    dataset_link,
    digits,
    first_upper,
    metric_name,
    run_link,
    session_link,
)
from metaml_kb.browsing.listing import ListedRun
from metaml_kb.errors import BadQuery
from metaml_kb.lookup import StoredRun, find_run

MOST_COMPARED, MOST_TRIALS = 8, 800


def compare(catalogue: Catalogue, asked: Asked) -> Page:
    """Return what differs between sessions or runs; `a`, `b` and `run` are keys or their beginnings."""
    words = [word for word in (asked.get("a"), asked.get("b"), *asked.get("run").split(",")) if word.strip()]
    keys = list(dict.fromkeys(word.strip().lower() for word in words))[:MOST_COMPARED]
    form = filter_form(
        "/compare",
        text_field("a", "First run or session", keys[0] if keys else "", kind="search"),
        text_field("b", "Second run or session", keys[1] if len(keys) > 1 else "", kind="search"),
        kind="filter keys",
    )
    head = heading("Compare", "Runs or sessions side by side, by their keys or the beginnings of them.")
    if asked.is_file:
        said = empty("Comparing needs the server.", command("metaml web --open"))
        return Page(title="Compare", content=joined(head, said), menu="Runs")
    if len(keys) < 2:
        said = empty("Give two keys, or choose runs to compare.", tag("p", tag("a", "Choose runs", href="/runs")))
        return Page(title="Compare", content=joined(head, form, said), menu="Runs")
    sessions = [catalogue.session(key) for key in keys]
    if all(sessions):
        body, sheets = _sessions(catalogue, asked, [item for item in sessions if item is not None])
    else:
        body, sheets = _runs(asked, [_stored(catalogue, key) for key in keys])
    return Page(title="Compare", content=joined(head, form, body), menu="Runs", sheets=sheets)


def _stored(catalogue: Catalogue, key: str) -> StoredRun:
    try:
        return find_run(catalogue.kb, key)
    except BadQuery as error:
        raise NotThere(str(error), "/compare", "Compare others") from None


# Runs


def _runs(asked: Asked, runs: Sequence[StoredRun]) -> tuple[Html, dict[str, Sheet]]:
    facts, settings, scores = _facts(runs), _settings(runs), _scores(runs)
    plans = {run.run.fold_plan for run in runs}
    metric = metric_of(runs[0])
    picture = None
    folds = [run.run.scores.get(metric) for run in runs]
    if len(plans) == 1 and all(isinstance(values, Sequence) for values in folds):
        series = [
            (run.key[:8], [as_shown(metric, value) for value in values])
            for run, values in zip(runs, folds, strict=True)
            if isinstance(values, Sequence)
        ]
        drawn = folds_picture(series, y_label=metric_name(metric))
        picture = figure(f"{first_upper(metric_name(metric))} of each fold ({better(metric)})", drawn, _legend(runs))
    body = joined(
        section("facts", "What they are", facts.html(asked.with_query(csv="facts"))),
        section("scores", "Scores", beside(scores.html(asked.with_query(csv="scores")), picture)),
        section(
            "settings",
            "Settings",
            paragraph("Marked rows differ."),
            settings.html(asked.with_query(csv="settings")),
        ),
    )
    return body, {"facts": facts, "scores": scores, "settings": settings}


def _legend(runs: Sequence[StoredRun]) -> Html:
    items = [
        tag("span", tag("i", class_=f"key key-dot series-{place}"), run.key[:8], " ", shortened(run.run.algorithm, 24))
        for place, run in enumerate(runs)
    ]
    return tag("p", *items, class_="legend")


def _columns(runs: Sequence[StoredRun], kind: str = "words") -> list[Field]:
    return [Field(run.key[:8], kind, key=run.key) for run in runs]


def _facts(runs: Sequence[StoredRun]) -> Sheet:
    lines: dict[str, list[str]] = {
        "data set": [run.dataset.name for run in runs],
        "algorithm": [run.run.algorithm for run in runs],
        "ended": [STATUS_WORDS.get(run.run.status, run.run.status) for run in runs],
        "proposed by": [ORIGIN_WORDS.get(run.run.origin, run.run.origin) for run in runs],
        "time to fit": ["–" if run.run.fit_seconds is None else duration(run.run.fit_seconds) for run in runs],
        "session": ["–" if run.session is None else run.session.key[:8] for run in runs],
    }
    rows = [{"fact": name, **_by_key(runs, values)} for name, values in lines.items()]
    extra: list[Mapping[str, object]] = [{} for _ in rows]
    extra[-1] = {run.key: session_link(run.session.key) for run in runs if run.session is not None}
    extra[1] = {run.key: algorithm_link(run.run.algorithm) for run in runs}
    extra[0] = {run.key: dataset_link(run.dataset.name, run.dataset.fingerprint) for run in runs}
    rows.insert(0, {"fact": "run", **_by_key(runs, [title_of(run) for run in runs])})
    extra.insert(0, {run.key: run_link(run.key) for run in runs})
    return Sheet("facts", [Field("", key="fact"), *_columns(runs)], rows, title="Facts", extra=extra, is_sortable=False)


def _by_key(runs: Sequence[StoredRun], values: Sequence[object]) -> dict[str, object]:
    return {run.key: value for run, value in zip(runs, values, strict=True)}


def _settings(runs: Sequence[StoredRun]) -> Sheet:
    names = sorted({name for run in runs for name in run.run.config})
    rows, marked = [], []
    for name in names:
        values = [_setting(run, name) for run in runs]
        rows.append({"setting": name, **_by_key(runs, values)})
        marked.append(len(set(values)) > 1)
    order = sorted(range(len(rows)), key=lambda place: (not marked[place], place))
    fields = [Field("Setting", key="setting"), *_columns(runs)]
    return Sheet(
        "settings",
        fields,
        [rows[place] for place in order],
        title="Settings",
        marked=[marked[place] for place in order],
    )


def _setting(run: StoredRun, name: str) -> str:
    if name not in run.run.config:
        return "–"
    value = run.run.config[name]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _scores(runs: Sequence[StoredRun]) -> Sheet:
    first = metric_of(runs[0])
    names = sorted({name for run in runs for name in run.run.scores}, key=lambda name: (name != first, name))
    rows, extra = [], []
    for name in names:
        means = [mean_of(run.run.scores[name]) if name in run.run.scores else math.nan for run in runs]
        best = max((value for value in means if not math.isnan(value)), default=math.nan)
        rows.append({"metric": metric_name(name), **_by_key(runs, [as_shown(name, value) for value in means])})
        written = [tag("b", digits(name, value)) if value == best else digits(name, value) for value in means]
        extra.append(_by_key(runs, written))
    fields = [Field("Metric", "name", key="metric"), *_columns(runs, "number")]
    return Sheet("scores", fields, rows, title="Scores; the best is bold", extra=extra)


# Sessions


def _sessions(catalogue: Catalogue, asked: Asked, sessions: Sequence[KnownSession]) -> tuple[Html, dict[str, Sheet]]:
    datasets = {item.fingerprint: item for item in catalogue.datasets().values()}
    tried = [evaluated(catalogue, item, MOST_TRIALS) for item in sessions]
    runs = [item.runs for item in tried]
    found = [datasets.get(str(item.settings.get("dataset"))) for item in sessions]
    metrics = {item.metric for item in found if item is not None}
    metric = next(iter(metrics)) if len(metrics) == 1 else ""
    rows, extra = [], []
    for item, dataset, made in zip(sessions, found, runs, strict=True):
        whole = [run for run in made if is_complete(item, run)]
        best = max((run.score(metric) for run in whole if math.isfinite(run.score(metric))), default=math.nan)
        rows.append(
            {
                "session": item.key,
                "dataset": None if dataset is None else dataset.name,
                "final": None if item.final is None else as_shown(*item.final),
                "best": as_shown(metric, best),
                "runs": len(made),
                "complete": len(whole),
                "seconds": sum(run.seconds for run in made),
                "took": None if item.finished_at is None else item.finished_at - item.started_at,
                "seed": item.seed,
            }
        )
        linked = {} if dataset is None else {"dataset": dataset_link(dataset.name, dataset.fingerprint)}
        final = {} if item.final is None else {"final": final_text(item.final)}
        extra.append({"session": session_link(item.key), "best": digits(metric, best), **final, **linked})
    fields = [
        Field("Session", "name", key="session"),
        Field("Data set", key="dataset"),
        *([Field("Final model", "number", key="final")] if any(item.final for item in sessions) else []),
        Field(f"Best {metric_name(metric)}" if metric else "Best", "number", key="best", first="down", show=rounded),
        Field("Runs", "number", key="runs", first="down"),
        Field("Complete", "number", key="complete", first="down"),
        Field("In evaluations", "number", key="seconds", show=duration, extra=True),
        Field("Took", "number", key="took", show=duration, extra=True),
        Field("Seed", "number", key="seed", extra=True),
    ]
    sheet = Sheet("sessions", fields, rows, title="Sessions", extra=extra)
    parts: list[object] = [section("facts", "What they reached", sheet.html(asked.with_query(csv="sessions")))]
    same = len({item.fingerprint for item in found if item is not None}) == 1 and None not in found
    if metric and same:
        parts.append(section("progress", "Best run so far", _curves(sessions, tried, metric)))
    else:
        parts.append(paragraph("They searched on different data sets, so their scores do not compare."))
    allocation = _allocation(sessions, runs)
    shown = allocation.html(asked.with_query(csv="allocation"))
    parts.append(section("allocation", "Who got the evaluations", shown))
    return joined(*parts), {"sessions": sheet, "allocation": allocation}


def _curves(sessions: Sequence[KnownSession], tried: Sequence[Evaluated], metric: str) -> Html:
    """Return the best complete run so far of each session, against time and against evaluations."""
    pairs = list(zip(sessions, tried, strict=True))
    label = f"{metric_name(metric)} ({better(metric)})"
    by_time, by_number = [], []
    for item, made in pairs:
        times = [seconds_at(made.events.get(run.key, {}), run, item) for run in made.runs]
        by_time.append(_curve(item, made.runs, times, metric))
        by_number.append(_curve(item, made.runs, [float(n) for n in range(1, len(made.runs) + 1)], metric))
    keys = [
        tag("span", tag("i", class_=f"key key-dot series-{place}"), item.key[:8]) for place, item in enumerate(sessions)
    ]
    pictures = beside(
        figure("Against time", curves_picture(by_time, x_label="seconds since the start", y_label=label)),
        figure("Against evaluations", curves_picture(by_number, x_label="evaluations finished", y_label=label)),
    )
    return joined(pictures, tag("p", *keys, class_="legend"))


def _curve(item: KnownSession, runs: Sequence[ListedRun], places: Sequence[float], metric: str) -> BestSoFar:
    """Return when the best score of a session improved; `places` are those of its runs along the picture."""
    best, points = -math.inf, []
    for place, run in zip(places, runs, strict=True):
        score = run.score(metric)
        if is_complete(item, run) and math.isfinite(score) and score > best:
            best = score
            points.append((place, as_shown(metric, score)))
    return BestSoFar(item.key[:8], points, max(places, default=0.0))


def _allocation(sessions: Sequence[KnownSession], runs: Sequence[Sequence[ListedRun]]) -> Sheet:
    names = sorted({run.algorithm for made in runs for run in made})
    rows, extra = [], []
    for name in names:
        counts = [sum(run.algorithm == name for run in made) for made in runs]
        extra.append({"algorithm": algorithm_link(name)})
        rows.append({"algorithm": name, **{item.key: n for item, n in zip(sessions, counts, strict=True)}})
    fields = [Field("Algorithm", "name", key="algorithm")]
    fields += [Field(item.key[:8], "number", key=item.key, first="down") for item in sessions]
    return Sheet("allocation", fields, rows, title=f"Evaluations of {counted(len(names), 'algorithm')}", extra=extra)
