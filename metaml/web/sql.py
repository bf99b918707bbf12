"""Free SQL, if the server allows it: one SELECT, its rows as a table, and what can be asked for."""

from typing import Any

from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.tables import paragraph
from metaml.report.wording import counted, number
from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, address, command, empty, heading, section
from metaml.web.sheet import Field, Sheet
from metaml_kb.browsing.free_sql import read_free_sql
from metaml_kb.errors import BadQuery

MENU_ENTRY = ("SQL", "/sql")
MOST_SHOWN, MOST_IN_FILE = 500, 50_000
MOST_LETTERS = 120
EXAMPLES = {
    "Runs and time by algorithm": (
        "SELECT algorithm, count(*) AS runs, round(CAST(sum(fit_seconds) AS numeric), 1) AS seconds\n"
        "FROM result WHERE metric = 'accuracy' GROUP BY algorithm ORDER BY runs DESC"
    ),
    "The best score on each data set": (
        "SELECT dataset, max(value) AS best, count(*) AS runs\n"
        "FROM result WHERE metric = 'roc_auc' AND status = 'ok' GROUP BY dataset ORDER BY best DESC"
    ),
    "Settings of the best runs": (
        "SELECT r.value AS accuracy, r.dataset, r.algorithm, s.name, s.value\n"
        "FROM result r JOIN setting s ON s.configuration_id = r.configuration_id\n"
        "WHERE r.metric = 'accuracy' AND r.algorithm = 'lightgbm' ORDER BY r.value DESC LIMIT 40"
    ),
    "What failed, and why": (
        "SELECT d.name AS dataset, a.name AS algorithm, r.status, r.error\n"
        "FROM run r JOIN dataset d ON d.id = r.dataset_id JOIN algorithm a ON a.id = r.algorithm_id\n"
        "WHERE r.status <> 'ok' ORDER BY r.id DESC LIMIT 100"
    ),
}


def sql(catalogue: Catalogue, asked: Asked) -> Page:
    """Return the rows that the query `q` asks for; without it, examples. Raises `NotThere` unless it is allowed."""
    if not catalogue.allows_sql:
        raise NotThere("SQL is off. To ask in SQL, start the server with: metaml web --sql")
    query = asked.get("q").strip()
    lead = "One SELECT at a time. It only reads, for 5 seconds at most."
    head, form, known = heading("Ask in SQL", lead), _form(query), _tables(catalogue)
    if not query:
        return Page(title="SQL", content=joined(head, form, _examples(), known), menu="SQL")
    try:
        found = read_free_sql(catalogue.kb, query, most_rows=MOST_IN_FILE if asked.get("csv") else MOST_SHOWN)
    except BadQuery as error:
        said = tag("div", empty(str(error)), role="alert")
        return Page(title="SQL", content=joined(head, form, said, known), menu="SQL", status=400)
    rows = [
        dict(zip(found.frame.columns, map(_plain, row), strict=True))
        for row in found.frame.itertuples(index=False, name=None)
    ]
    sheet = Sheet("rows", [_field(name, rows) for name in found.frame.columns], rows, title="Rows of the query")
    note = None
    if found.is_cut:
        note = paragraph(f"These are the first {MOST_SHOWN:,} rows. The csv has up to {MOST_IN_FILE:,}.", class_="note")
    shown = sheet.html(asked.with_query(csv="rows")) if rows else empty("The query has no rows.")
    title = f"The first {counted(len(rows), 'row')}" if found.is_cut else counted(len(rows), "row")
    content = joined(head, form, section("rows", title, shown, note), known)
    return Page(title="SQL", content=content, menu="SQL", sheets={"rows": sheet})


def _form(query: str) -> Html:
    field = tag(
        "textarea",
        query,
        name="q",
        rows=str(min(16, max(4, query.count("\n") + 2))),
        spellcheck="false",
        autocomplete="off",
        autocapitalize="off",
        required="required",
        placeholder="SELECT … FROM result WHERE …",
    )
    label = tag("label", tag("span", "SELECT statement"), field, class_="whole")
    button = tag("button", "Run", type="submit", class_="primary")
    return tag("form", label, button, action="/sql", method="get", class_="filter")


def _examples() -> Html:
    items = [
        joined(tag("h3", tag("a", title, href=address("/sql", q=query))), command(query))
        for title, query in EXAMPLES.items()
    ]
    return section("examples", "To begin with", *items)


def _tables(catalogue: Catalogue) -> Html:
    """Return the tables and views with their columns."""
    schema = catalogue.kept("schema", catalogue.kb.schema)
    parts = []
    for (kind, name), columns in schema.groupby(["kind", "name"], sort=False):
        listed = [
            joined(", " if place else None, tag("code", column)) for place, column in enumerate(columns["column"])
        ]
        if name != "knowledge_base":
            parts.append(tag("div", tag("dt", tag("code", name), f" {kind}"), tag("dd", *listed)))
    words = paragraph(
        tag("code", "result"), " has a row for each run and metric, with names in place of numbers; ",
        tag("code", "setting"), " has one for each hyperparameter of a configuration. Scores are higher-is-better: "
        "a loss is negative, as ", tag("code", "neg_log_loss"), "."
    )  # fmt: skip
    return section("tables", "Tables and columns", words, tag("dl", *parts, class_="story"))


def _plain(value: Any) -> Any:
    """Return a value as a table holds it: bytes as their number, a missing value as None."""
    if isinstance(value, bytes | memoryview):
        return f"({len(value):,} bytes)"
    if value is None or value != value:
        return None
    return value.item() if hasattr(value, "item") else value


def _field(name: str, rows: list[dict[str, Any]]) -> Field:
    values = [row[name] for row in rows if row[name] is not None]
    is_number = bool(values) and all(isinstance(value, int | float) and value is not True for value in values)
    return Field(name, "number" if is_number else "words", key=name, show=_shown, first="down" if is_number else "up")


def _shown(value: Any) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return number(value) if isinstance(value, float) else shortened(value, MOST_LETTERS)
