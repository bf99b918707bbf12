"""Forms that ask for another view of a page: each view has an address, and no script is needed."""

from collections.abc import Mapping

from metaml.report.markup import Html, tag


def choice(name: str, label: str, options: Mapping[str, str], chosen: str) -> Html:
    """Return a list to choose from; `options` has the words to show by value."""
    listed = [
        tag("option", words, value=value, selected="selected" if value == chosen else None)
        for value, words in options.items()
    ]
    return tag("label", tag("span", label), tag("select", *listed, name=name))


def text_field(name: str, label: str, value: str, *, kind: str = "text", list_id: str | None = None) -> Html:
    """Return a field for a word."""
    return tag(
        "label",
        tag("span", label),
        tag("input", type=kind, name=name, value=value, list=list_id, autocomplete="off", spellcheck="false"),
    )


def search_form(path: str, *fields: Html, query: str, label: str) -> Html:
    """Return a form with a field to search by, and others."""
    return filter_form(path, text_field("q", label, query, kind="search"), *fields)


def filter_form(path: str, *fields: Html, kind: str = "filter") -> Html:
    """Return a form whose fields become the query of a page."""
    button = tag("button", "Show", type="submit", class_="primary")
    return tag("form", *fields, button, action=path, method="get", class_=kind, role="search")


def chosen_link(content: object, address: str, *, is_chosen: bool) -> Html:
    """Return one of several links of which one is chosen."""
    return tag("a", content, href=address, aria_current="true" if is_chosen else None)
