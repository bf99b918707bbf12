"""One session: what it was asked for and what it made, followed while it is under way."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metaml.evaluation.scoring import METRICS
from metaml.records.session_keys import stored_plan
from metaml.report.account import experience
from metaml.report.data import DatasetFacts, ExperienceFacts, ReportData, SessionFacts, TrialRow
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.search_section import by_algorithm, chosen_when, complete_of, origins, progress
from metaml.report.tables import Bar, bars, facts, figure, paragraph, side_by_side, tiles
from metaml.report.wording import complete, counted, duration, metric_label, number, score_text, share
from metaml.web.catalogue import Catalogue, KnownDataset, KnownSession
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, empty, heading, link, section
from metaml.web.run_table import run_sheet
from metaml.web.sessions import WORDS
from metaml.web.sheet import Field, Sheet, moment
from metaml.web.words import algorithm_link, as_shown, count_text, dataset_link, first_upper
from metaml_kb.browsing.listing import ListedRun, runs_by_key, runs_of_session

MOST_TRIALS, MOST_LISTED = 1200, 300
POLL = "every 2s"
REPEAT = "repeat"
"""The origin of a run that was evaluated again on other folds; it is no new configuration."""
TASKS = ("binary", "multiclass", "regression")
LEDGER = {"evaluations": "evaluating configurations", "rest": "choosing, waiting, last fits"}


@dataclass(frozen=True)
class Evaluated:
    """What a session evaluated, in the order in which it ended, the event of each run by key, and runs on other folds.

    A run that was stored before belongs to another session, but this one has its event.
    """

    runs: Sequence[ListedRun]
    events: Mapping[str, Mapping[str, Any]]
    repeats: Sequence[ListedRun]


def evaluated(catalogue: Catalogue, item: KnownSession, most: int) -> Evaluated:
    """Return what a session evaluated, at most so many runs."""
    events: dict[str, Mapping[str, Any]] = {}
    for _, details in catalogue.kb.events(item.key, "finished"):
        events.setdefault(str(details.get("run")), details)
    with catalogue.connected() as connection:
        own = runs_of_session(connection, catalogue.digest, item.number, most)
        stored_before = set(list(events)[:most]) - {run.key for run in own}
        known = {run.key: run for run in (*own, *runs_by_key(connection, sorted(stored_before)))}
    order = {key: place for place, key in enumerate(events)}
    tried = [run for run in known.values() if run.origin != REPEAT or run.key in order]
    tried.sort(key=lambda run: order.get(run.key, len(order)))
    return Evaluated(tried[:most], events, [run for run in own if run.origin == REPEAT and run.key not in order])


def session(catalogue: Catalogue, asked: Asked, key: str) -> Page:
    """Return one session; with the query `part=live`, only what changes while it goes on."""
    item = catalogue.session(key)
    if item is None:
        raise NotThere(f"There is no session whose key begins with {key[:40]!r}.", "/sessions", "All sessions")
    seen = f"{catalogue.revision}-{item.finished_at or 0:.0f}"
    if asked.get("part") == "live" and asked.get("seen") == seen:
        return Page(title="", content=Html(""), is_part=True, is_unchanged=True)
    found = evaluated(catalogue, item, MOST_TRIALS)
    dataset = next(
        (known for known in catalogue.datasets().values() if known.fingerprint == item.settings.get("dataset")), None
    )
    content, sheets = _content(catalogue, asked, item, dataset, found)
    live = {"hx_get": asked.with_query(part="live", seen=seen, csv=None), "hx_trigger": POLL, "hx_swap": "outerHTML"}
    whole = tag("div", content, id="live", **(live if item.finished_at is None and not asked.is_file else {}))
    if asked.get("part") == "live":
        return Page(title="", content=whole, is_part=True)
    title = f"{item.kind.capitalize()} session {item.key[:8]}"
    return Page(
        title=title,
        content=joined(heading(title, kicker="Session"), whole),
        menu="Sessions",
        trail=[("Sessions", "/sessions")],
        sheets=sheets,
    )


def _content(
    catalogue: Catalogue, asked: Asked, item: KnownSession, dataset: KnownDataset | None, found: Evaluated
) -> tuple[Html, dict[str, Sheet]]:
    """Return all that may change while a session is under way, and its tables."""
    status = _status(item, dataset, is_followed=not asked.is_file)
    runs = [*found.runs, *found.repeats]
    if not runs:
        waiting = "No run is stored yet." if item.finished_at is None else "It made no run that was not known before."
        return joined(status, _making(item), empty(waiting)), {}
    metrics = _metrics(catalogue, item, runs)
    best_first = sorted(
        runs, key=lambda run: (not is_complete(item, run), -_or_worst(run.score(metrics[run.fingerprint])))
    )
    is_one = len({run.fingerprint for run in runs}) == 1
    chosen = best_first if is_one else sorted(runs, key=lambda run: -run.number)
    sheet = run_sheet(
        chosen[:MOST_LISTED],
        metrics,
        title="Runs of the session",
        one_dataset=is_one,
        one_session=True,
        ranked=is_one,
        sorted_by="score" if is_one else "finished_at",
    )
    sheets = {"runs": sheet}
    metric = metrics[runs[0].fingerprint]
    if dataset is not None and item.kind == "tune" and metric in METRICS and dataset.task in TASKS:
        data = stored_report(catalogue, item, dataset, found, metric)
        sheets["algorithms"] = _algorithm_sheet(data)
        n_known = sum(run.session != item.key for run in found.runs)
        body: Html | None = _search(asked, item, data, sheets["algorithms"], n_known)
    else:
        body = _making(item)
    title = "Its runs, best first" if is_one else "Its runs, newest first"
    cut = f"{len(sheet.rows):,} of {len(runs):,} runs. " if len(runs) > len(sheet.rows) else ""
    more = paragraph(cut, link("All of them", "runs", session=item.key), class_="note") if cut else None
    listed = section("runs", title, sheet.html(asked.with_query(csv="runs", part=None, seen=None)), more)
    return joined(status, body, listed), sheets


def _or_worst(score: float) -> float:
    return score if math.isfinite(score) else -math.inf


def _status(item: KnownSession, dataset: KnownDataset | None, *, is_followed: bool) -> Html:
    """Return whether the session is under way, and what it was asked for."""
    if item.finished_at is None:
        said = joined(
            tag("span", class_="pulse", aria_hidden="true"),
            f"Under way or interrupted: {counted(item.span.n_runs, 'run')} so far.",
            " This page follows it." if is_followed else None,
        )
    else:
        said = joined(
            f"{counted(item.span.n_runs, 'run')}, ended ",
            moment(item.finished_at),
            " UTC.",
        )
    asked_for: dict[str, object] = {"Started (UTC)": moment(item.started_at)}
    if dataset is not None:
        asked_for["Data set"] = dataset_link(dataset.name, dataset.fingerprint)
    words = {"seconds": "Budget", "n_iterations": "Evaluations", "n_workers": "Workers", "n_folds": "Folds"}
    for name, word in words.items():
        if (value := item.amount(name)) is not None:
            asked_for[word] = duration(value) if name == "seconds" else f"{value:,g}"
    if item.seed is not None:
        asked_for["Seed"] = item.seed
    asked_for |= {first_upper(name): shortened(found, 40) for name in WORDS if (found := item.word(name))}
    return joined(tag("p", said, class_="lead", role="status"), facts(asked_for))


def _metrics(catalogue: Catalogue, item: KnownSession, runs: Sequence[ListedRun]) -> dict[str, str]:
    own = _metric_of(item)
    known = {found.fingerprint: found.metric for found in catalogue.datasets().values()}
    return {run.fingerprint: own or known.get(run.fingerprint, "") for run in runs}


def _metric_of(item: KnownSession) -> str:
    found = _planned(item, "metric")
    return found if found in METRICS else ""


def _planned(item: KnownSession, name: str) -> str:
    """Return a word of the search plan; empty if there is none."""
    plan = stored_plan(item.settings)
    found = plan.get(name) if isinstance(plan, Mapping) else None
    return found if isinstance(found, str) else ""


def _making(item: KnownSession) -> Html | None:
    """Return what a session other than a search was asked for."""
    known = {
        name: value
        for name, value in item.settings.items()
        if isinstance(value, str | int | float) and name not in ("title",)
    }
    title = item.settings.get("title")
    head = paragraph(title) if isinstance(title, str) else None
    return joined(head, section("settings", "Its settings", facts(known))) if known else head


def _search(asked: Asked, item: KnownSession, data: ReportData, algorithms: Sheet, n_known: int) -> Html:
    """Return how a search went, drawn by the parts of the report."""
    best, metric = complete(data)[:1], data.metric
    reached = score_text(metric, best[0].score) if best else "–"
    final = None if item.final is None or item.final[0] != metric else item.final
    head = tiles(
        [
            *([("Final model", score_text(*final), metric_label(metric))] if final is not None else []),
            (f"Best {metric_label(metric)}", reached, best[0].algorithm if best else "no complete run yet"),
            ("Evaluations", f"{len(data.trials):,}", _outcome(data, n_known)),
            ("Used", duration(data.session.used_seconds), _budget(data)),
        ]
    )
    table = algorithms.html(asked.with_query(csv="algorithms", part=None, seen=None))
    given = joined(side_by_side(table, chosen_when(data)), origins(data))
    parts = [
        ("progress", "Score over time", progress(data)),
        ("allocation", "Who got the evaluations", given),
        ("experience", "What experience contributed", experience(data)),
        ("ledger", "Where the time went", _ledger(data)),
    ]
    again = paragraph(link("Compare it with another session", "compare", a=item.key))
    return joined(head, *(section(name, title, part) for name, title, part in parts), again)


def _outcome(data: ReportData, n_known: int) -> str:
    known = f", {n_known:,} stored before" if n_known else ""
    return f"{len(complete(data)):,} complete{known}"


def _algorithm_sheet(data: ReportData) -> Sheet:
    """Return who got the evaluations; the best algorithm first."""
    busy = sum(trial.seconds for trial in data.trials) or 1.0
    rows = []
    for name, trials in by_algorithm(data).items():
        best = max((trial.score for trial in complete_of(trials)), default=math.nan)
        rows.append(
            {
                "algorithm": name,
                "best": as_shown(data.metric, best),
                "runs": len(trials),
                "time": sum(trial.seconds for trial in trials) / busy,
                "stopped": sum(trial.status != "ok" for trial in trials),
                "rank": -best if math.isfinite(best) else math.inf,
            }
        )
    rows.sort(key=lambda row: (float(str(row["rank"])), str(row["algorithm"])))
    extra = [{"algorithm": algorithm_link(str(row["algorithm"]))} for row in rows]
    fields = [
        Field("Algorithm", "name", key="algorithm"),
        Field(f"Best {metric_label(data.metric)}", "number", key="best", first="down", show=number),
        Field("Runs", "number", key="runs", first="down", show=count_text),
        Field("Time", "number", key="time", first="down", show=share),
        Field("Stopped", "number", key="stopped", first="down", extra=True),
    ]
    return Sheet("algorithms", fields, rows, title="Evaluations by algorithm", extra=extra, sorted_by="best")


def _ledger(data: ReportData) -> Html:
    whole = max(data.session.used_seconds, 1e-9)
    items = [
        Bar(LEDGER[name], seconds / whole, f"{duration(seconds)} ({share(seconds / whole)})")
        for name, seconds in data.ledger.items()
    ]
    workers = data.session.n_workers
    note = f"The time of {workers} workers is divided by their number." if workers > 1 else None
    return figure(f"{duration(whole)} in all", bars(items, label="Seconds by purpose"), note=note)


def _budget(data: ReportData) -> str:
    budget = data.session.budget_seconds
    return "no time limit" if budget is None else f"of a budget of {duration(budget)}"


def stored_report(
    catalogue: Catalogue, item: KnownSession, dataset: KnownDataset, found: Evaluated, metric: str
) -> ReportData:
    """Return a session as the report shows one, from what the knowledge base holds of it."""
    trials = [
        _trial(number, run, found.events.get(run.key, {}), item, metric)
        for number, run in enumerate(found.runs, start=1)
    ]
    end = item.finished_at or max(time.time(), item.started_at)
    used = max([trial.at for trial in trials] + [end - item.started_at if item.finished_at else 0.0])
    workers = round(item.amount("n_workers") or 1)
    evaluating = min(used, sum(trial.seconds for trial in trials) / workers)
    defaults = {f"default {t.algorithm}": t.score for t in trials if t.origin == "default" and t.status == "ok"}
    return ReportData(
        dataset=DatasetFacts(
            name=dataset.name,
            n_rows=dataset.n_rows or 0,
            n_features=dataset.n_columns or 0,
            task=dataset.task,  # type: ignore[arg-type]  # A page asks only for tasks that have a report.
            target=dataset.target or "",
        ),
        metric=metric,
        session=SessionFacts(
            used_seconds=used,
            budget_seconds=item.amount("seconds"),
            n_workers=workers,
            n_folds=round(item.amount("n_folds") or 5),
            seed=item.seed or 0,
            session=item.key,
            bandit=_planned(item, "bandit") or None,
        ),
        trials=trials,
        baselines={name: score for name, score in defaults.items() if math.isfinite(score)},
        experience=_experience(catalogue, item, trials),
        ledger={"evaluations": evaluating, "rest": used - evaluating} if used else {},
    )


def _trial(number: int, run: ListedRun, event: Mapping[str, Any], item: KnownSession, metric: str) -> TrialRow:
    return TrialRow(
        number=number,
        algorithm=run.algorithm,
        status="ok" if is_complete(item, run) and "share" not in event else run.status,
        origin=run.origin,
        score=_number(event.get("score"), run.score(metric)),
        seconds=_number(event.get("seconds"), run.seconds),
        at=seconds_at(event, run, item),
        config=dict(run.config),
    )


def seconds_at(event: Mapping[str, Any], run: ListedRun, item: KnownSession) -> float:
    """Return how many seconds after the start of a session an evaluation ended."""
    return _number(event.get("at"), max(0.0, (run.finished_at or item.started_at) - item.started_at))


def is_complete(item: KnownSession, run: ListedRun) -> bool:
    """Return whether a run counts as complete in its session: all folds have scores, even if learners stopped early."""
    has_all = 0 < round(item.amount("n_folds") or 0) <= run.n_scored
    return run.status == "ok" or (run.status == "partial" and has_all)


def _number(value: object, other: float) -> float:
    """Return a number of an event; `other` if it is none. Others may have stored anything."""
    return float(value) if isinstance(value, int | float) else other


def _experience(catalogue: Catalogue, item: KnownSession, trials: Sequence[TrialRow]) -> ExperienceFacts:
    """Return what was known before the session: all runs but its own and those of later sessions."""
    spans = catalogue.digest.spans.values()
    is_first = not any(span.last < item.span.first for span in spans)
    n_since = sum(span.n_runs for span in spans if span.first >= item.span.first)
    n_before = 0 if is_first else catalogue.digest.n_runs - n_since
    others = {number for number, _, _ in catalogue.digest.counts} if n_before else set()
    warm = sum(trial.origin == "warm start" for trial in trials)
    return ExperienceFacts(n_datasets=max(0, len(others) - 1), n_runs=n_before, n_warm_starts=warm)
