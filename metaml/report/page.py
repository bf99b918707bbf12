"""The report as one page that needs nothing else: no script, no font, no picture from anywhere."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from metaml.report import (
    account,
    effects_section,
    evidence_section,
    found,
    front_section,
    insight,
    model_section,
    search_section,
)
from metaml.report.data import ReportData
from metaml.report.markup import Html, joined, tag

SECTIONS: dict[str, tuple[str, Callable[[ReportData], Html | None]]] = {
    "whole": ("The whole model", model_section.whole_model),
    "scorecard": ("Score card", model_section.score_card_section),
    "data": ("What was read", found.data_section),
    "progress": ("Score over time", search_section.progress),
    "model": ("The model", found.model),
    "front": ("The front", front_section.front),
    "evidence": ("What the score rests on", evidence_section.evidence),
    "leaderboard": ("Leaderboard", search_section.leaderboard),
    "allocation": ("Who got the evaluations", search_section.allocation),
    "hyperparameters": ("Settings that matter", insight.hyperparameter_shares),
    "features": ("Columns that matter", insight.features),
    "effects": ("What the columns do", effects_section.effects),
    "errors": ("Where it errs", insight.errors),
    "experience": ("What experience contributed", account.experience),
    "ledger": ("Where the time went", account.ledger),
    "usage": ("Use the model", account.usage),
    "versions": ("Versions", account.versions),
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""With this policy a browser loads nothing and runs nothing, whatever is in the page."""


def render(data: ReportData) -> str:
    """Return the report as HTML; an empty part is left out, or says in a sentence why it is empty."""
    written = {name: (title, write(data)) for name, (title, write) in SECTIONS.items()}
    shown = {name: (title, content) for name, (title, content) in written.items() if content}
    links = tag("nav", *(tag("a", title, href=f"#{name}") for name, (title, _) in shown.items()), aria_label="Sections")
    sections = [tag("section", tag("h2", title), content, id=name) for name, (title, content) in shown.items()]
    head = joined(
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{data.dataset.name[:120]} · metaml report"),
        tag("style", Html(_style_sheet())),
    )
    body = tag("body", tag("main", found.headline(data), links, *sections))
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n{body}</html>\n'


@cache
def _style_sheet() -> str:
    return files("metaml.report").joinpath("report.css").read_text(encoding="utf-8")
