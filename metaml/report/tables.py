"""Tables and bars of a report: numbers to the right, long names cut, wide tables scrolling inside themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.wording import counted


@dataclass(frozen=True)
class TableColumn:
    """A column: `kind` is `number`, `words`, `name` (never wrapped) or `wide`; phones do not show an `extra` one."""

    title: str
    kind: str = "words"
    extra: bool = False

    @property
    def classes(self) -> str | None:
        """Return the classes of its cells."""
        return " ".join(name for name in (self.kind, "extra" if self.extra else "") if name and name != "words") or None


@dataclass(frozen=True)
class Bar:
    """A named length between 0 and 1, and the text beside it; `spread` is drawn around its end."""

    name: str
    length: float
    text: str
    spread: float = 0.0


def table(columns: Sequence[TableColumn], rows: Sequence[Sequence[object]], *, marked: Sequence[bool] = ()) -> Html:
    """Return a table; the rows where `marked` holds stand out."""
    head = tag("tr", *(tag("th", column.title, class_=column.classes, scope="col") for column in columns))
    body = [
        tag(
            "tr",
            *(tag("td", cell, class_=column.classes) for column, cell in zip(columns, row, strict=True)),
            class_="marked" if place < len(marked) and marked[place] else None,
        )
        for place, row in enumerate(rows)
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll", tabindex="0")


def bars(items: Sequence[Bar], *, label: str) -> Html:
    """Return named bars, one below the other."""
    return tag("div", *(_bar(item) for item in items), class_="bars", role="list", aria_label=label)


def _bar(item: Bar) -> Html:
    return tag(
        "div",
        tag("span", shortened(item.name, 34), class_="name"),
        track(item.length, item.spread),
        tag("span", item.text, class_="told"),
        class_="bar",
        role="listitem",
    )


def track(length: float, spread: float = 0.0) -> Html:
    """Return a length between 0 and 1 as a bar on its track.

    It is drawn as a picture: a page that allows no inline styles can show it, too.
    """
    length = min(max(length, 0.0), 1.0)
    pieces = [tag("rect", class_="fill", width=f"{100 * length:.1f}%", height="10", rx="3")]
    if spread > 0:
        low, high = max(0.0, length - spread), min(1.0, length + spread)
        pieces.append(
            tag("rect", class_="spread", x=f"{100 * low:.1f}%", y="4", width=f"{100 * (high - low):.1f}%", height="2")
        )
    return tag("svg", *pieces, class_="track uncertain" if spread > 0 else "track", height="10", aria_hidden="true")


def facts(items: Mapping[str, object]) -> Html:
    """Return names and values as a list of definitions."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in items.items()), class_="facts")


def tiles(items: Sequence[tuple[str, object, object]]) -> Html:
    """Return a few numbers that stand out: title, value, and a remark below."""
    return tag(
        "div",
        *(
            tag(
                "div",
                tag("div", title, class_="tile-title"),
                tag("div", value, class_="tile-value"),
                tag("div", remark, class_="tile-remark"),
                class_="tile",
            )
            for title, value, remark in items
        ),
        class_="tiles",
    )


def settings(config: Mapping[str, object]) -> Html:
    """Return a configuration folded up to the number of its settings."""
    if not config:
        return tag("span", "defaults", class_="quiet")
    listed = [
        tag("div", tag("span", name, class_="quiet"), " ", tag("code", _value(value))) for name, value in config.items()
    ]
    return tag("details", tag("summary", counted(len(config), "setting")), tag("div", *listed, class_="settings"))


def paragraph(*content: object, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return tag("p", *content, class_=class_)


def side_by_side(*pictures: object) -> Html:
    """Return figures next to one another where there is room."""
    return tag("div", *pictures, class_="pair")


def figure(title: object, *content: object, note: object = None) -> Html:
    """Return something to look at, with its title above and a remark below."""
    below = None if note is None else tag("p", note, class_="note")
    return tag("figure", joined(None if title is None else tag("figcaption", title), *content, below))


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
