"""The loopback OpenML, and a home of its own for the openml package."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metaml.sources.base import Source
from metaml.sources.openml import Patience, sources

sys.path.append(str(Path(__file__).parent))
from openml_server import OpenMLServer

QUICK = Patience(tries=3, wait_seconds=0.01, timeout_seconds=0.3)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where openml writes when it is imported, which happens once."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("OPENML", "XDG"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("NO_PROXY", "*")
        yield home


@pytest.fixture
def server(home: Path) -> Iterator[OpenMLServer]:
    with OpenMLServer() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def task_source(server: OpenMLServer, cache: Path) -> Callable[..., Source]:
    """A function that makes the source of one task of the loopback server."""

    def make(number: int, **options: Any) -> Source:
        settings = {"server": server.address, "cache": cache, "patience": QUICK, **options}
        return sources([number], **settings)[0]

    return make
