"""Requests to stop: Ctrl-C, SIGTERM and SIGHUP end a search in order, with what it has found so far."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a program to end: at shutdown, and when a terminal closes."""


class Interrupts:
    """Remembers the first request to stop: Ctrl-C, SIGTERM or SIGHUP. It decides the exit code."""

    def __init__(self) -> None:
        self.first: int | None = None

    def __call__(self) -> bool:
        """Return whether the user or the system asked to stop."""
        return self.first is not None

    @property
    def exit_code(self) -> int:
        """Return the usual exit code: 130 after Ctrl-C, 143 after SIGTERM, 0 if nobody asked to stop."""
        return 0 if self.first is None else 128 + self.first


@contextmanager
def interrupts_of(signals: tuple[int, ...], on_first: Callable[[int], None]) -> Iterator[Interrupts]:
    """Count requests to stop. The first calls `on_first` with its signal; a second Ctrl-C raises KeyboardInterrupt.

    SIGTERM and SIGHUP are requests too, but never raise: `timeout` and a closing terminal send them twice.
    """
    interrupts = Interrupts()

    def count(number: int, _frame: FrameType | None) -> None:
        if interrupts.first is None:
            interrupts.first = number
            on_first(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, count) for number in signals}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_of_caller(on_first: Callable[[int], None]) -> Iterator[Interrupts]:
    """Count Ctrl-C in a notebook or a script that leaves it to Python; elsewhere, nothing is counted or changed.

    >>> with interrupts_of_caller(lambda _: None) as interrupts:
    ...     interrupts()
    False
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if is_ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with interrupts_of((signal.SIGINT,), on_first) as interrupts:
            yield interrupts
    else:
        yield Interrupts()
