"""Tables that can be sorted in the browser and downloaded as csv, best first."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from metaml.report.markup import Html, shortened, tag
from metaml.report.tables import TableColumn
from metaml.report.wording import counted

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is a formula to a spreadsheet."""


@dataclass(frozen=True)
class Field(TableColumn):
    """A column of a sheet: `key` names it in the csv, `show` writes a value; the value itself is sorted by.

    `first` is the order that the first click gives: `down` is largest first. A hidden column is in the csv only.
    """

    key: str = ""
    show: Callable[[Any], object] = str
    first: str = "up"
    is_hidden: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table of plain values. `extra` has what to show in place of a value, by row and key.

    One that `is_long` scrolls inside itself.
    """

    name: str
    fields: Sequence[Field]
    rows: Sequence[Mapping[str, Any]]
    title: str = ""
    marked: Sequence[bool] = ()
    sorted_by: str = ""
    is_sortable: bool = True
    is_long: bool = False
    extra: Sequence[Mapping[str, object]] = field(default=())

    def html(self, csv_address: str | None = None) -> Html:
        """Return the table, with its number of rows and a link to download it."""
        head = [self._head(column) for column in self.fields if not column.is_hidden]
        body = [self._row(place, row) for place, row in enumerate(self.rows)]
        caption = tag("caption", self.title or self.name, class_="unseen")
        grid = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *body), id=f"sheet-{self.name}")
        label, kind = self.title or self.name.capitalize(), "scroll long" if self.is_long else "scroll"
        scroll = tag("div", grid, class_=kind, tabindex="0", role="region", aria_label=label)
        tools = None
        if csv_address is not None:
            download = tag("a", "Download csv", href=csv_address, download=f"{self.name}.csv", class_="quiet-link")
            tools = tag("p", tag("span", counted(len(self.rows), "row")), download, class_="tools")
        return tag("div", scroll, tools, class_="sheet")

    def _head(self, column: Field) -> Html:
        is_sorted = column.key == self.sorted_by
        order = ("descending" if column.first == "down" else "ascending") if is_sorted else None
        content: object = column.title
        if self.is_sortable and column.title and column.key:
            content = tag("button", column.title, type="button", class_="sort", data_first=column.first)
        return tag("th", content, class_=column.classes, scope="col", aria_sort=order)

    def _row(self, place: int, row: Mapping[str, Any]) -> Html:
        shown = self.extra[place] if place < len(self.extra) else {}
        cells = []
        for column in self.fields:
            if column.is_hidden:
                continue
            value = row.get(column.key)
            content = shown[column.key] if column.key in shown else written(column, value)
            sort_value = None if not column.key or not self.is_sortable or isinstance(value, str) else sortable(value)
            cells.append(tag("td", content, class_=column.classes, data_v=sort_value))
        is_marked = place < len(self.marked) and self.marked[place]
        return tag("tr", *cells, class_="marked" if is_marked else None, data_run=row.get("run"))

    def csv(self) -> str:
        """Return all rows as csv: plain values, and no text that a spreadsheet would take for a formula."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([plain(column.key) for column in self.fields if column.key])
        for row in self.rows:
            writer.writerow([plain(row.get(column.key)) for column in self.fields if column.key])
        return stream.getvalue()


def written(column: Field, value: Any) -> object:
    """Return a value as its column shows it; a dash where there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    return column.show(value)


def sortable(value: Any) -> str | None:
    """Return what a browser sorts a value by: a number, or nothing where there is none."""
    if value is None or isinstance(value, Mapping) or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(float(value)) if isinstance(value, int | float) else str(value)


def plain(value: Any) -> str:
    """Return a value as it stands in a csv file.

    >>> plain(0.5), plain(None), plain("=1+1"), plain(-3)
    ('0.5', '', "'=1+1", '-3')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, str):
        clean = value.replace("\x00", "\ufffd")
        return f"'{clean}" if clean.startswith(FORMULA) else clean
    if isinstance(value, Mapping):
        return "; ".join(f"{name}={value[name]}" for name in value)
    return str(value)


def moment(seconds: float) -> Html:
    """Return a point in time as a person reads it.

    >>> moment(0.0)
    '<time datetime="1970-01-01T00:00:00Z">1970-01-01 00:00</time>'
    """
    when = datetime.fromtimestamp(seconds, UTC)
    return tag("time", f"{when:%Y-%m-%d %H:%M}", datetime=f"{when:%Y-%m-%dT%H:%M:%SZ}")


def short(most: int) -> Callable[[Any], Html]:
    """Return a function that cuts a text."""
    return lambda value: shortened(value, most)
