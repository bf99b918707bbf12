"""What experience would try first on a data set, from what was learnt before: nothing is learnt for a page."""

from typing import cast

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.data import Task
from metaml.evaluation import default_metric
from metaml.evaluation.environment import environment
from metaml.experience.lesson_files import LessonRequest, portfolio_at_hand
from metaml.metalearning.initial_design import InitialDesign
from metaml.report.markup import Html, joined, tag
from metaml.report.tables import paragraph, settings
from metaml.report.wording import duration
from metaml.web.catalogue import Catalogue, KnownDataset
from metaml.web.page import Asked, command, empty
from metaml.web.sheet import Field, Sheet
from metaml.web.words import algorithm_link

N_SUGGESTED = 8


def later(catalogue: Catalogue, asked: Asked, item: KnownDataset) -> Html:
    """Return the suggestions if they are at hand, else a place that asks for them when the page is there."""
    if catalogue.has_kept(_name(item)) or asked.is_file:
        return suggestions(catalogue, asked, item)
    waiting = tag("p", "Asking experience …", class_="quiet")
    return tag(
        "div",
        waiting,
        hx_get=asked.with_query(part="suggestions", csv=None),
        hx_trigger="load",
        hx_swap="outerHTML",
        aria_live="polite",
    )


def _name(item: KnownDataset) -> str:
    return f"suggestions-{item.number}"


def suggestions(catalogue: Catalogue, asked: Asked, item: KnownDataset) -> Html:
    """Return the configurations that experience would try first."""
    sheet = suggestion_sheet(catalogue, item)
    if sheet is None:
        return empty(
            "Nothing was learnt from past runs yet for such data sets. Lessons come from runs on at least ten data "
            "sets.",
            command("metaml learn"),
        )
    said = (
        "The start of the portfolio: configurations that did well on past data sets, similar ones counting more. Runs "
        "on this data set may be among what was learnt from."
    )
    return joined(paragraph(said), sheet.html(asked.with_query(csv=sheet.name, part=None)))


def suggestion_sheet(catalogue: Catalogue, item: KnownDataset) -> Sheet | None:
    """Return what experience would try first as a sheet; None if nothing was learnt."""
    return catalogue.kept(_name(item), lambda: _suggestions(catalogue, item))


def _suggestions(catalogue: Catalogue, item: KnownDataset) -> Sheet | None:
    if item.task not in ("binary", "multiclass", "regression"):
        return None
    task = cast(Task, item.task)
    table = catalogue.metafeatures()
    known = table.loc[item.fingerprint].to_dict() if item.fingerprint in table.index else {}
    portfolio = portfolio_at_hand(catalogue.kb, LessonRequest(default_metric(task), task))
    if portfolio is None or not known:
        return None
    design = InitialDesign(
        portfolio,
        {str(name): float(value) for name, value in known.items()},
        algorithms=SEARCHED,
        is_valid=lambda name, config: ALGORITHMS[name].space(task).is_valid(config),
        n_rows=item.n_rows or 1000,
        reference_seconds=environment()["reference_seconds"],
    )
    found = design.first(N_SUGGESTED, is_filled=True)
    if not found:
        return None
    fields = [
        Field("", "number", key="place"),
        Field("Algorithm", "name", key="algorithm"),
        Field("Expected cost", "number", key="seconds", show=duration),
        Field("Settings", "wide", key="settings"),
    ]
    rows = [
        {"place": place, "algorithm": one.algorithm, "seconds": one.seconds, "settings": dict(one.config)}
        for place, one in enumerate(found, start=1)
    ]
    extra = [{"algorithm": algorithm_link(one.algorithm), "settings": settings(one.config)} for one in found]
    return Sheet("suggestions", fields, rows, title="Suggestions", extra=extra, sorted_by="place")
