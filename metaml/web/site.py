"""The site: which address is which page."""

import re
from collections.abc import Callable
from urllib.parse import unquote

from metaml.report.markup import joined, tag
from metaml.web.across_datasets.algorithm import algorithm
from metaml.web.across_datasets.algorithms import algorithms
from metaml.web.across_datasets.dataset_map import dataset_map
from metaml.web.catalogue import Catalogue
from metaml.web.compare import compare
from metaml.web.dataset import dataset
from metaml.web.datasets import datasets
from metaml.web.missing import NotThere
from metaml.web.overview import overview
from metaml.web.page import Asked, Page, empty, heading
from metaml.web.run import run
from metaml.web.runs import runs
from metaml.web.session import session
from metaml.web.sessions import sessions
from metaml.web.sheet import Sheet
from metaml.web.sql import sql

Write = Callable[..., Page]
PAGES: dict[str, Write] = {
    "/": overview,
    "/datasets": datasets,
    "/datasets/{}": dataset,
    "/runs": runs,
    "/runs/{}": run,
    "/sessions": sessions,
    "/sessions/{}": session,
    "/algorithms": algorithms,
    "/algorithms/{}": algorithm,
    "/map": dataset_map,
    "/compare": compare,
    "/sql": sql,
}
"""The function that writes each page. `{}` stands for one word of the address, which it gets as an argument."""
_PATTERNS = [(re.compile(path.replace("{}", "([^/]{1,200})")), write) for path, write in PAGES.items()]


def answer(catalogue: Catalogue, asked: Asked) -> Page:
    """Return the page at an address. Raises `NotThere` if there is none."""
    for pattern, write in _PATTERNS:
        if found := pattern.fullmatch(asked.path):
            catalogue.catch_up()
            return write(catalogue, asked, *(unquote(word) for word in found.groups()))
    raise NotThere(f"There is no page {asked.path[:80]!r}.")


def precompute(catalogue: Catalogue) -> None:
    """Read all runs and compute what is kept for later, so that the first visitor does not wait for it."""
    catalogue.catch_up(None)
    for path in ("/", "/algorithms", "/map"):
        answer(catalogue, Asked(path))


def table_of(catalogue: Catalogue, asked: Asked) -> Sheet:
    """Return the table that the query `csv` names, with all its rows. Raises `NotThere` if there is none."""
    found = answer(catalogue, asked).sheets.get(asked.get("csv"))
    if found is None:
        raise NotThere(f"That page has no table {asked.get('csv')[:60]!r}.", asked.path, "The page")
    return found


def missing_page(error: NotThere) -> Page:
    """Return what is shown where there is no page."""
    way = tag("p", tag("a", error.title, href=error.path))
    return Page(title="Not found", content=joined(heading("Not found"), empty(str(error), way)))
