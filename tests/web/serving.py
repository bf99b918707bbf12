"""A real server for tests, in a thread, on a free port of this machine."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from metaml.web.catalogue import Catalogue
from metaml.web.server import listen, make_app, settings_for


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        found = connection.getresponse()
        answer = Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read().decode())
        connection.close()
        return answer


@contextmanager
def served(catalogue: Catalogue, token: str | None = None) -> Iterator[Served]:
    with listen("127.0.0.1", 0) as opened:
        server = uvicorn.Server(settings_for(make_app(catalogue, token=token)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
        thread.start()
        try:
            yield Served(opened.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(10)
