"""The `openml` package under control: configured for one piece of work, retried when the server fails.

openml's settings are global; they are set for the piece of work and restored after it. Reading needs no API key, so no
address contains one. Where a key is needed, it is removed from every message and log.
"""

import logging
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from metaml.errors import MetamlError, SourceError
from metaml.sources.network import NoNetwork, bounded, closed
from metaml.sources.openml_cache import Cache

T = TypeVar("T")

_one_at_a_time = threading.RLock()
_KEY_CODES = {102, 103, 104, 106, 137, 138, 169, 170, 310, 311, 350, 400}
_FINAL_CODES = {
    *(110, 111, 112, 113, 151, 152, 180, 181, 601, 602, 604),  # no such data set, task, flow or study; private
    *(271, 272, 273, 274, 275, 360, 361, 362, 363, 364),  # a data set without features or qualities
    *(372, 482, 500, 512, 542, 674),  # an empty list
    *(160, 161, 163, 201, 202, 203, 204, 205, 206, 209, 213, 216, 217, 218),  # an upload that is refused
}
"""OpenML's error numbers that a retry does not change, except those about the key; others (107: busy) may pass."""
_MOST_CHARACTERS = 200


class Damaged(Exception):
    """The data that arrived are incomplete or damaged: worth another try."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long to retry: number of tries, seconds before the second (doubled each time), seconds to wait for bytes."""

    tries: int = 4
    wait_seconds: float = 2.0
    timeout_seconds: float = 60.0


@dataclass(frozen=True)
class Client:
    """Where OpenML is and how to call it. None means what the user's openml configuration says."""

    server: str | None = None
    cache: Path | None = None
    offline: bool = False
    patience: RetryPolicy = RetryPolicy()

    def local(self) -> Cache:
        """Return the local cache of the server."""
        with self.set_up() as openml:
            root = Path(openml.config.get_config_as_dict()["cachedir"])
            return Cache(root, Path(openml.config.get_cache_directory()))

    @contextmanager
    def set_up(self, *, root: Path | None = None, key: str = "") -> Iterator[Any]:
        """Yield the openml package, configured for our server, the cache at `root` and little output."""
        with ExitStack() as stack:
            stack.enter_context(_one_at_a_time)
            stack.enter_context(_quiet(key))
            import openml

            config = openml.config
            before = config.get_config_as_dict()
            if (place := root or self.cache) is not None:
                config.set_root_cache_directory(place.expanduser().resolve())
            config.server = self.server or config.server
            config.apikey, config.show_progress = key, False
            config.set_retry_policy("human", 1)
            wait = self.patience.timeout_seconds
            stack.enter_context(closed() if self.offline else bounded(wait))
            try:
                yield openml
            finally:
                config.set_root_cache_directory(before["cachedir"])
                config.server = before["server"]
                config.apikey, config.show_progress = before["apikey"], before["show_progress"]
                config.set_retry_policy(before["retry_policy"], before["connection_n_retries"])

    def retry(self, what: str, attempt: Callable[[int], T], *, key: str = "") -> T:
        """Return the result of `attempt`, retried on errors, or raise SourceError after the last try.

        `attempt` gets the number of the try, from 0. `what` opens the error message, as in "task 31". An error that a
        retry cannot change is raised at once.
        """
        tries = 1 if self.offline else self.patience.tries
        for number in range(tries):
            if number:
                time.sleep(self.patience.wait_seconds * 2 ** (number - 1))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # the error keeps a file open that openml opened
                try:
                    return attempt(number)
                except MetamlError:
                    raise
                except Exception as error:  # openml lets through whatever its libraries raise, even a bare Exception
                    reason, advice = _sentence(error, key), _final_advice(error)
            if advice:
                raise SourceError(f"{what}: {reason}. {advice}")
        # Raised outside `except`: the server's error, which may contain a key, must not become its context.
        if self.offline:
            raise SourceError(f"{what}: its copy in the cache cannot be used ({reason}). Fetch it without --offline.")
        raise SourceError(f"{what}: {reason}, after {tries} tries. Try again later.")


def _final_advice(error: Exception) -> str | None:
    """Return what to do about an error that a retry does not change; None if it may pass."""
    from openml import exceptions

    code = error.code if isinstance(error, exceptions.OpenMLServerException) else None
    if code in _KEY_CODES or isinstance(error, exceptions.OpenMLNotAuthorizedError):
        return "Check the API key on openml.org."
    if code in _FINAL_CODES or isinstance(error, exceptions.OpenMLPrivateDatasetError | NotImplementedError):
        return "Look it up on openml.org and choose another."
    return None


def _sentence(error: Exception, key: str) -> str:
    """Return what went wrong in one line, without queries of addresses, web pages and the key."""
    from openml import exceptions
    from requests import exceptions as http
    from urllib3.exceptions import HTTPError

    text = str(error)
    status = re.search(r"Status code: (\d+)", text)
    if isinstance(error, NoNetwork):
        text = "a part of it is missing there"
    elif isinstance(error, Damaged | NotImplementedError):
        text = text.rstrip(".")
    elif isinstance(error, exceptions.OpenMLServerException):
        text = f"OpenML says {str(error.message).removesuffix(' - None')!r} (number {error.code})"
    elif isinstance(error, exceptions.OpenMLPrivateDatasetError):
        text = "the data set is private"
    elif isinstance(error, exceptions.OpenMLNotAuthorizedError):
        text = "OpenML does not accept the API key"
    elif status:
        text = f"OpenML answered with status {status[1]}"
    elif isinstance(error, exceptions.OpenMLHashException):
        text = "the data file does not have the checksum that was announced"
    elif isinstance(error, http.Timeout) or "timed out" in text:
        text = "OpenML did not answer in time"
    elif isinstance(error, http.ChunkedEncodingError | HTTPError):
        text = "the connection broke off"
    elif isinstance(error, http.ConnectionError):
        text = "OpenML cannot be reached"
    else:
        text = f"what arrived cannot be read ({type(error).__name__}: {text.strip().splitlines()[0] if text else ''})"
    return (text.replace(key, "***") if key else text)[:_MOST_CHARACTERS]


@contextmanager
def _quiet(key: str) -> Iterator[None]:
    """Stop openml from configuring the root logger, hide its warnings, and remove the key from every log.

    If logging is not configured, openml's first message would make Python print the log messages of all libraries.
    """
    silence, scrub = logging.NullHandler(), _Scrub(key)
    loggers = [logging.getLogger(name) for name in (None, "urllib3.connectionpool", "openml")]
    loggers[0].addHandler(silence)
    for logger in loggers:
        logger.addFilter(scrub)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # files it leaves open, its plans for later versions
            yield
    finally:
        loggers[0].removeHandler(silence)
        for logger in loggers:
            logger.removeFilter(scrub)


class _Scrub(logging.Filter):
    """Replaces the key in log messages; urllib3 logs whole addresses."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    def filter(self, record: logging.LogRecord) -> bool:
        if self.key and self.key in (message := record.getMessage()):
            record.msg, record.args = message.replace(self.key, "***"), ()
        return True
