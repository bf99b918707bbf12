"""Where the seconds of a session go, by purpose."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

PURPOSES = ("metafeatures", "memory", "evaluations", "killed", "optimiser")


class Ledger:
    """Seconds by purpose.

    >>> ledger = Ledger()
    >>> ledger.add("evaluations", 2.5)
    >>> ledger.seconds["evaluations"]
    2.5
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PURPOSES, 0.0)

    def add(self, purpose: str, seconds: float) -> None:
        """Count some seconds."""
        self.seconds[purpose] += seconds

    @contextmanager
    def entry(self, purpose: str) -> Iterator[None]:
        """Count the seconds of a block."""
        begun = time.perf_counter()
        yield
        self.add(purpose, time.perf_counter() - begun)
