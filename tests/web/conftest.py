"""A filled knowledge base in a file and in PostgreSQL, as pages see it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metaml.web.catalogue import Catalogue
from metaml_kb import open_kb
from metaml_kb.browsing.read_only import open_read_only
from tests.web.samples import fill


@pytest.fixture(scope="session")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a filled knowledge base; nobody changes it."""
    path = tmp_path_factory.mktemp("web") / "kb.db"
    with open_kb(path) as kb:
        fill(kb)
    return path


@pytest.fixture(scope="session")
def filled_server(postgres_url) -> str:
    """The URL of a filled knowledge base in PostgreSQL."""
    url = postgres_url("web")
    with open_kb(url) as kb:
        fill(kb)
    return url


@pytest.fixture(params=["file", "postgresql"])
def catalogue(request: pytest.FixtureRequest) -> Iterator[Catalogue]:
    """A filled knowledge base of each kind in turn, read-only, with every page."""
    place = request.getfixturevalue("filled_file" if request.param == "file" else "filled_server")
    with open_read_only(place) as kb:
        yield Catalogue(kb, allows_sql=True)


@pytest.fixture
def in_file(filled_file: Path) -> Iterator[Catalogue]:
    """A filled knowledge base in a file, read-only, for what does not depend on the database."""
    with open_read_only(filled_file) as kb:
        yield Catalogue(kb)
