"""Show progress: one line that updates itself in a terminal, a plain line every half minute in a pipe."""

import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from metaml_cli.render import say, unheard

PIPE_SECONDS = 30.0
GAP = "   "
"""Separates the parts of a live line."""
ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a program to end: at shutdown, and when a terminal closes."""


class LiveLine:
    """The state of a long job on standard error."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = float("-inf")
        self._is_open = False

    def update(self, text: str) -> None:
        """Show the current state; in a pipe only every half minute."""
        if self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            with unheard():
                sys.stderr.write("\r" + fitted(text, width).ljust(width))
                sys.stderr.flush()
            self._is_open = True
        elif time.monotonic() - self._last >= PIPE_SECONDS:
            self._last = time.monotonic()
            say(text)

    def say(self, text: str) -> None:
        """Print a separate line above the live one."""
        if self._is_open:
            width = shutil.get_terminal_size().columns - 1
            with unheard():
                sys.stderr.write("\r" + " " * width + "\r")
            self._is_open = False
        say(text)

    def close(self, text: str) -> None:
        """Show the last state and leave the line."""
        self.say(text)


def fitted(text: str, width: int) -> str:
    """Return the parts of a line that fit into `width` characters. A first part that is too long is cut.

    >>> fitted("12 s of 5 min   3 runs   best ROC AUC 0.9 (svm)", 30)
    '12 s of 5 min   3 runs'
    """
    shown, *others = text.split(GAP)
    for part in others:
        if len(shown) + len(GAP) + len(part) <= width:
            shown += GAP + part
    return shown[:width]


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
def counted_interrupts(line: LiveLine, what_follows: str) -> Iterator[Interrupts]:
    """Count requests to stop. The first Ctrl-C prints `what_follows`; the second raises KeyboardInterrupt.

    SIGTERM and SIGHUP are requests too, but never raise: `timeout` and a closing terminal send them twice.
    """
    interrupts = Interrupts()

    def count(number: int, _frame: FrameType | None) -> None:
        if interrupts.first is None:
            interrupts.first = number
            line.say(f"{what_follows}; press Ctrl-C {'again ' if number == signal.SIGINT else ''}to stop at once.")
        elif number == signal.SIGINT:
            raise KeyboardInterrupt

    # Signals that nohup ignores stay ignored.
    requests = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, count) for number in (signal.SIGINT, *requests)}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
