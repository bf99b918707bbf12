"""Show progress: one line that updates itself in a terminal, a plain line every half minute in a pipe."""

import shutil
import signal
import sys
import time
from contextlib import AbstractContextManager

from metaml.system.interrupts import ENDING, Interrupts, interrupts_of
from metaml_cli.render import say, unheard

PIPE_SECONDS = 30.0
GAP = "   "
"""Separates the parts of a live line."""


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


def counted_interrupts(line: LiveLine, what_follows: str) -> AbstractContextManager[Interrupts]:
    """Count requests to stop. The first Ctrl-C prints `what_follows`; the second raises KeyboardInterrupt."""

    def tell(number: int) -> None:
        line.say(f"{what_follows}; press Ctrl-C {'again ' if number == signal.SIGINT else ''}to stop at once.")

    # Signals that nohup ignores stay ignored.
    requests = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    return interrupts_of((signal.SIGINT, *requests), tell)
