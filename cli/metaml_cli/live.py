"""Show progress: one line that updates itself in a terminal, a plain line now and then in a pipe."""

import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from metaml.system.interrupts import ENDING, Interrupts, interrupts_of
from metaml_cli.render import say, unheard

PIPE_SECONDS = 30.0
PIPE_PHASE_SECONDS = 5.0
"""Seconds after which a pipe gets one line with the name of the current phase."""
TICK_SECONDS = 0.5
"""Seconds between updates of the line in a terminal."""
GAP = "   "
"""Separates the parts of a live line."""


class LiveLine:
    """The state of a long job on standard error: its phase, the elapsed time, and what it found.

    A thread may call `tick` while another one works, and a signal may arrive at any time.
    """

    def __init__(self, *, used_before: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._clock = clock
        self._last = float("-inf")
        self._is_open = False
        self._phase, self._phase_begun, self._phase_was_said = "", clock(), True
        self._text: Callable[[float], str] = lambda passed: _in_words(used_before + passed)
        self._text_begun = clock()
        # A signal handler prints in the thread that it interrupts: that thread may hold the lock already.
        self._lock = threading.RLock()

    def phase(self, name: str) -> None:
        """Begin a phase. A terminal shows its name at once; a pipe gets a line only if the phase takes long."""
        with self._lock:
            self._phase, self._phase_begun, self._phase_was_said = name, self._clock(), False
            self._draw()

    def update(self, text: str) -> None:
        """Show the current state; in a pipe only every half minute."""
        self.follow(lambda _: text)

    def follow(self, text: Callable[[float], str]) -> None:
        """Show the current state, a function of the seconds since this call; in a pipe only every half minute."""
        with self._lock:
            self._text, self._text_begun = text, self._clock()
            self._draw()
            if not self._is_terminal and self._clock() - self._last >= PIPE_SECONDS:
                self._last = self._clock()
                say(text(0.0))

    def tick(self) -> None:
        """Update the elapsed time in a terminal. In a pipe, print the name of a phase that takes long."""
        with self._lock:
            self._draw()
            is_long = self._clock() - self._phase_begun >= PIPE_PHASE_SECONDS
            if not self._is_terminal and is_long and not self._phase_was_said:
                self._phase_was_said = True
                say(self._state())

    def say(self, text: str) -> None:
        """Print a separate line above the live one."""
        with self._lock:
            self.clear()
            say(text)

    def clear(self) -> None:
        """Remove the live line, so that something else can be printed there."""
        with self._lock:
            if self._is_open:
                width = shutil.get_terminal_size().columns - 1
                with unheard():
                    sys.stderr.write("\r" + " " * width + "\r")
                self._is_open = False

    def close(self, text: str) -> None:
        """Show the last state and leave the line."""
        self.say(text)

    def _state(self) -> str:
        """Return the current line: the elapsed time, then the phase."""
        first, *others = self._text(self._clock() - self._text_begun).split(GAP)
        return GAP.join([first, *([self._phase] if self._phase else []), *others])

    def _draw(self) -> None:
        if not self._is_terminal:
            return
        width = shutil.get_terminal_size().columns - 1
        with unheard():
            sys.stderr.write("\r" + fitted(self._state(), width).ljust(width))
            sys.stderr.flush()
        self._is_open = True


@contextmanager
def ticking(line: LiveLine, *, seconds: float = TICK_SECONDS) -> Iterator[None]:
    """Update a line in the background during the `with` block; remove it at the end."""
    is_done = threading.Event()

    def tick() -> None:
        while not is_done.wait(seconds):
            line.tick()

    thread = threading.Thread(target=tick, name="live line", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
        line.clear()


def _in_words(seconds: float) -> str:
    from metaml.budget import in_words

    return in_words(seconds)


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
