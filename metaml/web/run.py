"""One run: everything `metaml why` says, its folds, its environment, and the command that reproduces it."""

import math
from collections.abc import Sequence

from metaml.experience.run_explained import Block, explained
from metaml.records.explanation import mean_of, metric_of
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.tables import facts, figure, paragraph, tiles
from metaml.report.wording import ORIGIN_WORDS, STATUS_WORDS, counted, duration, rounded
from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, address, beside, command, heading, section
from metaml.web.pictures import folds_picture
from metaml.web.sheet import Field, Sheet
from metaml.web.words import algorithm_link, as_shown, dataset_link, digits, first_upper, metric_name, session_link
from metaml_kb.errors import BadQuery
from metaml_kb.lookup import StoredRun, find_run

SEPARATE = ("Data", "Configuration", "Score", "Cost", "Made")
"""What has a place of its own on the page."""


def run(catalogue: Catalogue, asked: Asked, key: str) -> Page:
    """Return one run."""
    try:
        stored = find_run(catalogue.kb, key)
    except BadQuery as error:
        raise NotThere(str(error), "/runs", "All runs") from None
    item, metric = stored.run, metric_of(stored)
    title = f"Run {stored.key[:8]}"
    lead = joined(
        algorithm_link(item.algorithm),
        " on ",
        dataset_link(stored.dataset.name, stored.dataset.fingerprint, 60),
        f": {STATUS_WORDS.get(item.status, item.status)}.",
    )
    _, proposed, past = explained(stored)
    configuration, scores = _configuration(stored), _scores(stored, metric)
    content = joined(
        heading(title, lead, kicker="Run"),
        _tiles(stored, metric),
        None if item.error is None else _error(item.status, item.error),
        section("why", "Why it was tried", _blocks([*proposed, *past])),
        section("scores", "Scores", beside(scores.html(asked.with_query(csv="scores")), _folds(stored, metric)))
        if scores.rows
        else None,
        section("configuration", "Settings", beside(configuration.html(asked.with_query(csv="configuration")))),
        section("environment", "Where and how it was made", _environment(stored)),
        section("again", "Make it again", _again(stored)),
    )
    sheets = {"scores": scores, "configuration": configuration}
    trail = [("Runs", "/runs"), (stored.dataset.name[:40], f"/datasets/{stored.dataset.fingerprint}")]
    return Page(title=title, content=content, menu="Runs", trail=trail, sheets=sheets)


def _error(status: str, error: str) -> Html:
    """Return why a run did not complete; one that was stopped early on purpose has no error."""
    return tag("p", None if status == "partial" else tag("b", "Error: "), first_upper(error), class_="warning")


def _tiles(stored: StoredRun, metric: str) -> Html:
    item = stored.run
    shown: list[tuple[str, object, object]] = []
    if metric in item.scores:
        shown.append(
            (first_upper(metric_name(metric)), digits(metric, mean_of(item.scores[metric])), "mean over folds")
        )
    n_folds = max((len(_defined(values)) for values in item.scores.values()), default=0)
    scored = f"{counted(n_folds, 'fold')} scored" if n_folds else "no score"
    shown.append(("Ended", first_upper(STATUS_WORDS.get(item.status, item.status)), scored))
    shown.append(("Proposed by", first_upper(ORIGIN_WORDS.get(item.origin, item.origin)), _chance(stored)))
    if item.fit_seconds is not None:
        predict = "" if item.predict_seconds is None else f"{duration(item.predict_seconds)} to predict"
        shown.append(("Time to fit", duration(item.fit_seconds), predict))
    if item.peak_megabytes is not None:
        shown.append(("Memory", f"{item.peak_megabytes:,.0f} MB", "at its peak"))
    return tiles(shown)


def _chance(stored: StoredRun) -> str:
    density = stored.run.probability
    return "" if density is None else f"sampling density {density:.3g}"


def _blocks(block: Block) -> Html:
    """Return facts with their labels, and sentences as they are."""
    parts = [
        tag("div", tag("dt", name), *(tag("dd", text) for text in texts)) for name, texts in block if name and texts
    ]
    sentences = [paragraph(text) for name, texts in block if not name for text in texts]
    return joined(tag("dl", *parts, class_="story") if parts else None, *sentences)


def _configuration(stored: StoredRun) -> Sheet:
    rows = [{"setting": name, "value": value} for name, value in stored.run.config.items()]
    extra = [{"value": _value(value)} for value in stored.run.config.values()]
    fields = [Field("Setting", key="setting"), Field("Value", key="value")]
    return Sheet("configuration", fields, rows, title="Settings", extra=extra)


def _value(value: object) -> Html:
    return tag("code", f"{value:.6g}" if isinstance(value, float) else shortened(value, 80))


def _scores(stored: StoredRun, first: str) -> Sheet:
    rows, extra = [], []
    for name in sorted(stored.run.scores, key=lambda name: (name != first, name)):
        values = stored.run.scores[name]
        folds = _defined(values)
        rows.append(
            {
                "metric": metric_name(name),
                "mean": as_shown(name, mean_of(values)),
                "worst": as_shown(name, min(folds)) if folds else None,
                "best": as_shown(name, max(folds)) if folds else None,
                "folds": len(folds) or None,
            }
        )
        found = {"mean": mean_of(values), "worst": min(folds, default=None), "best": max(folds, default=None)}
        extra.append({key: digits(name, value) for key, value in found.items()})
    fields = [
        Field("Metric", "name", key="metric"),
        Field("Mean", "number", key="mean", first="down", show=rounded),
        Field("Worst fold", "number", key="worst", show=rounded),
        Field("Best fold", "number", key="best", first="down", show=rounded),
        Field("Folds", "number", key="folds"),
    ]
    return Sheet("scores", fields, rows, title="Scores", extra=extra)


def _defined(values: float | Sequence[float]) -> list[float]:
    return [] if isinstance(values, float | int) else [value for value in values if not math.isnan(value)]


def _folds(stored: StoredRun, metric: str) -> Html | None:
    """Return the score of each fold of the metric that counts."""
    values = stored.run.scores.get(metric)
    if values is None or isinstance(values, float | int) or len(_defined(values)) < 2:
        return None
    shown = [as_shown(metric, value) for value in values]
    picture = folds_picture([("this run", shown)], y_label=metric_name(metric))
    return figure(f"{first_upper(metric_name(metric))} of each fold", picture)


def _environment(stored: StoredRun) -> Html:
    plan, machine, item = stored.fold_plan, stored.environment, stored.run
    known: dict[str, object] = {"Folds": f"{plan.strategy}, {plan.n_folds or '?'}", "Evaluation seed": item.seed}
    if plan.max_rows is not None:
        known["Rows used"] = f"{plan.max_rows:,}"
    if stored.session is not None:
        known["Session"] = joined(session_link(stored.session.key), f" ({stored.session.kind})")
    if machine is not None:
        known |= {
            "Host": machine.host or "–",
            "Platform": machine.platform or "–",
            "Processor": machine.processor or "–",
        }
        if machine.reference_seconds is not None:
            known["Reference task"] = f"{machine.reference_seconds:.3f} s"
        known |= dict(machine.versions)
    return facts({name: value if isinstance(value, Html) else shortened(value, 60) for name, value in known.items()})


def _again(stored: StoredRun) -> Html:
    said = "Evaluates it again on the same folds and with the same seed, and compares every score."
    compare = tag("a", "Compare it with another run", href=address("/compare", a=stored.key))
    return joined(
        paragraph(said),
        command(f"metaml reproduce {stored.key[:12]} --data FILE"),
        command(f"metaml why {stored.key[:12]}"),
        paragraph(compare),
    )
