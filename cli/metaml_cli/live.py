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
                sys.stderr.write("\r" + text[:width].ljust(width))
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


class Interrupts:
    """Counts Ctrl-C: once asks to finish, twice to stop at once."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> bool:
        """Return whether the person wants to stop."""
        return self.n > 0


@contextmanager
def counted_interrupts(line: LiveLine, what_follows: str) -> Iterator[Interrupts]:
    """Let the first Ctrl-C be a wish, after which `what_follows` is said, and the second a KeyboardInterrupt."""
    interrupts = Interrupts()

    def count(_signal: int, _frame: FrameType | None) -> None:
        interrupts.n += 1
        if interrupts.n > 1:
            raise KeyboardInterrupt
        line.say(f"{what_follows}; press Ctrl-C again to stop at once.")

    before = signal.signal(signal.SIGINT, count)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
