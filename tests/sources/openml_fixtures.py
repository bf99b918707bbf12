"""Fixtures: the loopback OpenML, and a separate home folder for the openml package."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openml_server import OpenMLServer

from metaml.sources.base import Source
from metaml.sources.openml import Client, RetryPolicy, sources

QUICK = RetryPolicy(tries=3, wait_seconds=0.01, timeout_seconds=0.8)
_homes: list[Path] = []


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that openml writes to when it is imported, which happens once per test process."""
    if _homes:
        return _homes[0]
    home = tmp_path_factory.mktemp("home")
    _homes.append(home)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("OPENML", "XDG"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        with Client(cache=home).set_up():
            pass
    return home


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenMLServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with OpenMLServer() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def client(server: OpenMLServer, cache: Path) -> Client:
    return Client(server.address, cache, patience=QUICK)


@pytest.fixture
def task_source(server: OpenMLServer, cache: Path) -> Callable[..., Source]:
    """A function that makes the source of one task of the loopback server."""

    def make(number: int, **options: Any) -> Source:
        settings = {"server": server.address, "cache": cache, "patience": QUICK, **options}
        return sources([number], **settings)[0]

    return make
