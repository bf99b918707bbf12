"""A page as a person reads it: its sections, its words, the labels of its pictures."""

import re
from html.parser import HTMLParser

VOID = {"meta", "col", "br", "input", "link"}


class Reader(HTMLParser):
    """Collects the text of a page, its elements and its attributes, and checks that elements nest."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(page: str) -> Reader:
    """Return a page that was read to its end."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def sections(page: str) -> set[str]:
    """Return the names of the sections of a page."""
    return set(re.findall(r'<section id="(\w+)"', page))


def section(name: str, page: str) -> str:
    """Return one section of a page."""
    begun = page.index(f'<section id="{name}"')
    return page[begun : page.index("</section>", begun) + len("</section>")]


def words(page: str) -> str:
    """Return the text of a page, with single spaces."""
    return re.sub(r"\s+", " ", "".join(read(page).texts))


def ticks_of(picture: str) -> list[str]:
    """Return the labels along the upright axis of a picture, from below."""
    return re.findall(r'<text [^>]*text-anchor="end">([^<]*)</text>', picture)
