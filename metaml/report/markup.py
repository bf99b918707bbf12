"""HTML that is escaped unless it is marked as `Html`: text from a user always stays text."""

import re
from html import escape

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VOID = frozenset({"meta", "col", "br", "input"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def text(value: object) -> Html:
    """Return a value as escaped text, without characters that a page or a file cannot hold.

    >>> text("<b> & \\x00")
    '&lt;b&gt; &amp; \ufffd'
    """
    if isinstance(value, Html):
        return value
    whole = UNPRINTABLE.sub("\ufffd", str(value))
    return Html(escape(whole.encode("utf-8", "replace").decode("utf-8")))


def tag(name: str, /, *content: object, **attributes: object) -> Html:
    """Return an element; `class_` is the class, `text_anchor` is `text-anchor`, None and False leave one out.

    >>> tag("td", "a < b", class_="number", title=None)
    '<td class="number">a &lt; b</td>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*content)}</{name}>")


def joined(*content: object) -> Html:
    """Return pieces one after another; None is nothing."""
    return Html("".join(text(piece) for piece in content if piece is not None))


def shortened(value: object, most: int = 60) -> Html:
    """Return text cut to `most` characters; hovering over it shows the whole."""
    whole = str(value)
    if len(whole) <= most:
        return text(whole)
    return tag("span", whole[: most - 1] + "…", title=whole[:2000])
