"""Progress for people: one line that renews itself in a terminal, plain lines now and then in a pipe."""

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
"""What is between the parts of a live line."""
ENDING = (signal.SIGTERM, signal.SIGHUP)
"""What a system sends to a program that is to end: when it shuts down, and when a terminal closes."""


class LiveLine:
    """The state of a long job on standard error."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = float("-inf")
        self._is_open = False

    def update(self, text: str) -> None:
        """Show the newest state; in a pipe only every half minute."""
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
        """Print a line of its own above the live one."""
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
    """Return the parts of a line that fit, the earlier ones first; of a first part that does not fit its beginning.

    >>> fitted("12 s of 5 min   3 runs   best ROC AUC 0.9 (svm)", 30)
    '12 s of 5 min   3 runs'
    """
    shown, *others = text.split(GAP)
    for part in others:
        if len(shown) + len(GAP) + len(part) <= width:
            shown += GAP + part
    return shown[:width]


class Interrupts:
    """Counts wishes to stop, by Ctrl-C or by a signal that ends programs; the first one decides the exit code."""

    def __init__(self) -> None:
        self.first: int | None = None

    def __call__(self) -> bool:
        """Return whether the person, or the system, wants to stop."""
        return self.first is not None

    @property
    def exit_code(self) -> int:
        """Return the code that shells know: 130 after Ctrl-C, 143 after SIGTERM; 0 if nobody wanted to stop."""
        return 0 if self.first is None else 128 + self.first


@contextmanager
def counted_interrupts(line: LiveLine, what_follows: str) -> Iterator[Interrupts]:
    """Let the first Ctrl-C be a wish, after which `what_follows` is said, and the second a KeyboardInterrupt.

    SIGTERM and SIGHUP are wishes too, however often they come: `timeout` and a terminal that closes send them twice.
    """
    interrupts = Interrupts()

    def count(number: int, _frame: FrameType | None) -> None:
        if interrupts.first is None:
            interrupts.first = number
            line.say(f"{what_follows}; press Ctrl-C {'again ' if number == signal.SIGINT else ''}to stop at once.")
        elif number == signal.SIGINT:
            raise KeyboardInterrupt

    # What nohup has turned off stays off.
    wishes = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, count) for number in (signal.SIGINT, *wishes)}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
