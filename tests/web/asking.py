"""Ask for a page as a test reads it."""

from metaml.web.catalogue import Catalogue
from metaml.web.page import Asked, Page
from metaml.web.site import answer
from tests.report.reading import words


def page_at(catalogue: Catalogue, path: str, **query: str) -> Page:
    return answer(catalogue, Asked(path, query))


def text_at(catalogue: Catalogue, path: str, **query: str) -> str:
    return words(page_at(catalogue, path, **query).content)
