"""A page of the site: what was asked for, the frame around its content, and its sections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from metaml.report.markup import Html, joined, tag
from metaml.web.sheet import Sheet

MENU = {
    "Overview": "/",
    "Data sets": "/datasets",
    "Runs": "/runs",
    "Algorithms": "/algorithms",
    "Map": "/map",
    "Sessions": "/sessions",
}
HTMX = (
    '{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"allowScriptTags":false,'
    '"historyCacheSize":0,"globalViewTransitions":false,"defaultSettleDelay":0}'
)
"""With these settings htmx needs no inline style and evaluates nothing."""


@dataclass(frozen=True)
class Asked:
    """What was asked for: a path of the site, and the query by name. A page in a file has no forms."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    is_file: bool = False

    def get(self, name: str) -> str:
        """Return a word of the query; empty if there is none."""
        return self.query.get(name, "")

    def with_query(self, **changes: str | int | None) -> str:
        """Return the address of this page with another query; None leaves a word out."""
        words = {**self.query, **{name: None if value is None else str(value) for name, value in changes.items()}}
        return address(self.path, **words)


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page: its title, content and tables. `part` is a piece of a page, answered without the frame.

    `status` is that of the answer: 400 for what cannot be asked.
    """

    title: str
    content: Html
    menu: str = ""
    trail: Sequence[tuple[str, str]] = ()
    sheets: Mapping[str, Sheet] = field(default_factory=dict)
    is_part: bool = False
    is_unchanged: bool = False
    status: int = 200


def address(path: str, **query: str | int | None) -> str:
    """Return the address of a page.

    >>> address("/runs", dataset="a b", status=None)
    '/runs?dataset=a+b'
    """
    words = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(words)}" if words else path


def link(content: object, *path: str, **query: str | int | None) -> Html:
    """Return a link to a page; the pieces of its path are quoted.

    >>> link("iris", "datasets", "a/b")
    '<a href="/datasets/a%2Fb">iris</a>'
    """
    return tag("a", content, href=address("/" + "/".join(quote(piece, safe="") for piece in path), **query))


def section(name: str, title: str, *content: object) -> Html:
    """Return a part of a page with its heading."""
    return tag("section", tag("h2", title), *content, id=name)


def heading(title: object, lead: object = None, kicker: object = None) -> Html:
    """Return the head of a page: what it is about, and what it says in a sentence."""
    above = None if kicker is None else tag("p", kicker, class_="kicker")
    return tag("header", above, tag("h1", title), None if lead is None else tag("p", lead, class_="lead"))


def empty(sentence: object, *further: object) -> Html:
    """Return what is shown in place of something that is not there yet, and what to do about it."""
    return tag("div", tag("p", sentence), *further, class_="empty")


def beside(*content: object) -> Html:
    """Return parts next to one another where there is room."""
    return tag("div", *content, class_="pair")


def command(line: str) -> Html:
    """Return a command to type."""
    return tag("pre", tag("code", line))


def whole(page: Page, *, where: str, policy: str | None = None, more: Sequence[tuple[str, str]] = ()) -> str:
    """Return a page as an HTML document.

    `where` names the knowledge base, `policy` is a content security policy, `more` has further entries of the menu.
    """
    head = joined(
        tag("meta", charset="utf-8"),
        None if policy is None else tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="htmx-config", content=HTMX),
        tag("title", f"{page.title[:120]} · metaml"),
        Html('<link rel="stylesheet" href="/static/report.css"><link rel="stylesheet" href="/static/web.css">'),
        Html('<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'),
        Html('<script src="/static/htmx.min.js" defer></script><script src="/static/web.js" defer></script>'),
    )
    entries = [
        tag("a", name, href=path, aria_current="page" if name == page.menu else None)
        for name, path in (*MENU.items(), *more)
    ]
    bar = tag(
        "div",
        tag("a", Html("<b>metaml</b>"), href="/", class_="brand", aria_label="metaml, overview"),
        tag("nav", *entries, aria_label="Pages"),
        class_="bar-inner",
    )
    steps = [tag("li", tag("a", title, href=path)) for title, path in page.trail]
    trail = tag("nav", tag("ol", *steps), class_="trail", aria_label="Where you are") if steps else None
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("div", bar, class_="bar-top"),
        tag("main", trail, page.content, id="content", tabindex="-1"),
        tag("footer", "Knowledge base ", tag("code", where), ". This page only reads it."),
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n{body}</html>\n'
