"""The list of sessions."""

from collections.abc import Sequence

from metaml.report.markup import Html, joined, tag
from metaml.report.tables import paragraph
from metaml.report.wording import counted
from metaml.web.catalogue import Catalogue, KnownSession
from metaml.web.forms import chosen_link
from metaml.web.page import Asked, Page, empty, heading
from metaml.web.sheet import Field, Sheet, moment, short
from metaml.web.words import (
    as_shown,
    count_text,
    dataset_link,
    digits,
    first_upper,
    metric_name,
    seconds_text,
    session_link,
)

MOST_LISTED = 500
WORDS = ("project", "user")
"""What a session is found by."""


def sessions(catalogue: Catalogue, asked: Asked) -> Page:
    """Return all sessions, newest first."""
    known = list(catalogue.sessions().values())
    kind = asked.get("kind")
    kinds = sorted({item.kind for item in known})
    shown = [item for item in known if not kind or item.kind == kind]
    sheet = session_sheet(catalogue, shown[:MOST_LISTED])
    choices = [chosen_link("all", "/sessions", is_chosen=not kind)]
    choices += [chosen_link(name, asked.with_query(kind=name, csv=None), is_chosen=kind == name) for name in kinds]
    lead = f"{counted(len(known), 'call')} of tune, bot or import, each with the runs that it made."
    cut = paragraph(f"The newest {MOST_LISTED:,} are shown.", class_="note") if len(shown) > MOST_LISTED else None
    table = sheet.html(asked.with_query(csv="sessions")) if shown else empty("There is no session yet.")
    content = joined(heading("Sessions", lead), tag("p", *choices, class_="choices"), table, cut)
    return Page(title="Sessions", content=content, menu="Sessions", sheets={"sessions": sheet})


def session_sheet(catalogue: Catalogue, known: Sequence[KnownSession]) -> Sheet:
    """Return sessions as a sheet."""
    datasets = {item.fingerprint: item for item in catalogue.datasets().values()}

    def has(name: str) -> bool:
        return any(item.word(name) for item in known)

    fields = [
        Field("Session", "name", key="session"),
        Field("Kind", "name", key="kind"),
        Field("Data set", key="dataset"),
        *(Field(first_upper(name), key=name, show=short(24), extra=True) for name in WORDS if has(name)),
        *([Field("Final model", "number", key="final", extra=True)] if any(item.final for item in known) else []),
        Field("Runs", "number", key="runs", first="down", show=count_text),
        Field("Started (UTC)", "name", key="started_at", first="down", show=moment),
        Field("Took", "number", key="seconds", first="down", show=seconds_text, extra=True),
    ]
    rows, extra = [], []
    for item in known:
        dataset = datasets.get(str(item.settings.get("dataset")))
        rows.append(
            {
                "session": item.key,
                "kind": item.kind,
                "dataset": None if dataset is None else dataset.name,
                **{name: item.word(name) for name in WORDS},
                "final": None if item.final is None else as_shown(*item.final),
                "runs": item.span.n_runs,
                "started_at": item.started_at,
                "seconds": None if item.finished_at is None else item.finished_at - item.started_at,
            }
        )
        extra.append(
            {
                "session": session_link(item.key),
                **({} if item.final is None else {"final": final_text(item.final)}),
                **({} if dataset is None else {"dataset": dataset_link(dataset.name, dataset.fingerprint)}),
                **({"seconds": tag("span", "open", class_="status open")} if item.finished_at is None else {}),
            }
        )
    return Sheet("sessions", fields, rows, title="Sessions", extra=extra, sorted_by="started_at")


def final_text(final: tuple[str, float]) -> Html:
    """Return the score of a final model with its metric."""
    return joined(tag("span", metric_name(final[0]), class_="quiet"), " ", digits(*final))
