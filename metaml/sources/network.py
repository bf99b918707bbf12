"""Network limits that `openml` 0.15 lacks: a time-out on every request, and no request when offline."""

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
    """Limit how long a request of this thread waits for a connection or for the next bytes.

    openml makes requests with `requests` and `minio`, which both use urllib3. By default the first waits without limit,
    the second half an hour. Other threads are not affected. A request without its own retry policy is made once,
    because the caller retries.
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
