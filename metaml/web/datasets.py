"""The list of data sets."""

from collections.abc import Sequence

from metaml.report.markup import joined, tag
from metaml.report.tables import paragraph
from metaml.report.wording import counted, rounded
from metaml.web.catalogue import Catalogue, KnownDataset
from metaml.web.forms import choice, search_form
from metaml.web.page import Asked, Page, empty, heading, link
from metaml.web.sheet import Field, Sheet, moment, short
from metaml.web.words import algorithm_link, as_shown, count_text, dataset_link, digits, metric_name

MOST_LISTED = 500
TASKS = ("binary", "multiclass", "regression")


def datasets(catalogue: Catalogue, asked: Asked) -> Page:
    """Return all data sets, those with most runs first."""
    known = list(catalogue.datasets().values())
    task, word = asked.get("task"), asked.get("q").strip().lower()
    found = [item for item in known if (not task or item.task == task) and (not word or word in item.name.lower())]
    found.sort(key=lambda item: (-item.n_runs, item.name))
    sheet = dataset_sheet(found)
    shown = sheet if asked.is_file else dataset_sheet(found[:MOST_LISTED])
    form = search_form(
        "/datasets",
        choice("task", "Task", {"": "all tasks", **{name: name for name in TASKS}}, task),
        query=asked.get("q"),
        label="Name contains",
    )
    lead = f"{counted(len(known), 'data set')}. The best score is that of the best complete run by the usual metric."
    nothing = empty("No data set matches.", tag("p", link("Show all", "datasets")))
    content = joined(
        heading("Data sets", lead),
        None if asked.is_file else form,
        shown.html(asked.with_query(csv="datasets")) if found else nothing,
        paragraph(f"The first {MOST_LISTED:,} of {len(found):,}: search by name, or download all.", class_="note")
        if len(found) > len(shown.rows)
        else None,
    )
    return Page(title="Data sets", content=content, menu="Data sets", sheets={"datasets": sheet})


def dataset_sheet(known: Sequence[KnownDataset]) -> Sheet:
    """Return data sets as a sheet."""
    fields = [
        Field("Data set", key="name", show=short(44)),
        Field("Task", "name", key="task", extra=True),
        Field("Rows", "number", key="n_rows", first="down", show=count_text),
        Field("Columns", "number", key="n_columns", first="down", show=count_text, extra=True),
        Field("Classes", "number", key="n_classes", first="down", show=count_text, extra=True),
        Field("Runs", "number", key="n_runs", first="down", show=count_text),
        Field("Best algorithm", "name", key="winner"),
        Field("Best score", "number", key="best", first="down", show=rounded),
        Field("Metric", "name", key="metric", extra=True),
        Field("Newest run (UTC)", "name", key="newest", first="down", show=moment, extra=True),
    ]
    rows, extra = [], []
    for item in known:
        rows.append(
            {
                "name": item.name,
                "task": item.task,
                "n_rows": item.n_rows,
                "n_columns": item.n_columns,
                "n_classes": item.n_classes,
                "n_runs": item.n_runs,
                "winner": item.winner,
                "best": as_shown(item.metric, item.best),
                "metric": metric_name(item.metric) if item.metric else None,
                "newest": item.newest,
            }
        )
        extra.append(
            {
                "name": dataset_link(item.name, item.fingerprint, 44),
                "best": digits(item.metric, item.best),
                **({} if item.winner is None else {"winner": algorithm_link(item.winner)}),
            }
        )
    return Sheet("datasets", fields, rows, title="Data sets", extra=extra, sorted_by="n_runs")
