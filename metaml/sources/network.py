"""Network manners that `openml` 0.15 leaves out: a time-out on every request, and no request at all when offline."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_CLOSED = 0.0
_allowed: ContextVar[float | None] = ContextVar("seconds a request of this thread may wait", default=None)


class NoNetwork(OSError):
    """A request was made while the network is closed."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Let no request of this thread wait longer than this for a connection or for the next bytes.

    Both of openml's ways out, `requests` and `minio`, go through urllib3; the first waits for ever by default and the
    second for half an hour. Other threads are not touched. Requests that have no retries of their own are made once:
    whoever waits here tries again.
    """
    with _watched(seconds):
        yield


@contextmanager
def closed() -> Iterator[None]:
    """Refuse every request of this thread before a socket is opened."""
    with _watched(_CLOSED):
        yield


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    from urllib3 import HTTPConnectionPool, Retry, Timeout

    original: Any = HTTPConnectionPool.urlopen

    def urlopen(pool: HTTPConnectionPool, method: str, url: str, *rest: Any, **options: Any) -> Any:
        allowed = _allowed.get()
        if allowed == _CLOSED:
            raise NoNetwork(f"the network is closed, but {pool.host} was asked for {url.partition('?')[0]}")
        if allowed is not None:
            options["timeout"] = Timeout(connect=allowed, read=allowed)
            if options.get("retries") is None:
                options["retries"] = Retry(0)
        return original(pool, method, url, *rest, **options)

    token = _allowed.set(seconds)
    HTTPConnectionPool.urlopen = urlopen  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        HTTPConnectionPool.urlopen = original  # type: ignore[method-assign]
        _allowed.reset(token)
