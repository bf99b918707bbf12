"""How a search is going, in words: for a terminal, a pipe and a notebook."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from html import escape
from importlib import import_module
from typing import Any, Self

from metaml.budget import in_words
from metaml.report.wording import counted, metric_label, number, score_text
from metaml.tuning.stopping.forecast import Forecast
from metaml.tuning.trials import TuneProgress

GAP = "   "
"""Separates the parts of a line of progress."""
NOTEBOOK_SECONDS = 1.0
"""How often a notebook shows that work goes on."""


def progress_text(progress: TuneProgress, passed: float = 0.0) -> str:
    """Return how far a search is: time, runs, the best score and who has it, and what the time left should gain.

    `passed` are the seconds since the search reported it.
    """
    progress = replace(progress, seconds=progress.seconds + passed)
    settings = progress.settings
    of = f" of {in_words(settings.seconds)}" if settings.seconds else ""
    most, runs = settings.n_iterations, counted(progress.n_done, "run")
    parts = [f"{in_words(progress.seconds)}{of}", f"{progress.n_done}/{counted(most, 'run')}" if most else runs]
    if progress.best is not None:
        best = f"{metric_label(progress.metric)} {score_text(progress.metric, progress.best.score)}"
        parts.append(f"best {best} ({progress.best.run.algorithm})")
    if (left := seconds_left(progress)) is not None:
        parts.append(f"until {time.strftime('%H:%M:%S', time.localtime(time.time() + left))}")
    if progress.forecast is not None:
        parts.append(_expected(progress.forecast))
    return GAP.join(parts)


def seconds_left(progress: TuneProgress) -> float | None:
    """Return the seconds until the search should end: by its budget, or by the speed of its evaluations so far."""
    settings = progress.settings
    by_time = None if settings.seconds is None else settings.seconds - progress.seconds
    if not settings.n_iterations or not progress.n_done:
        return by_time
    by_count = progress.seconds * (settings.n_iterations / progress.n_done - 1)
    return by_count if by_time is None else min(by_count, by_time)


def _expected(found: Forecast) -> str:
    return f"rest: about {_gain(found)}" if found.is_worth_it else "rest: hardly any gain"


def _gain(found: Forecast) -> str:
    return f"{number(found.gain)} better"


def advice(found: Forecast | None) -> str:
    """Return whether as much time again is worth it, in a sentence; empty if that cannot be said.

    >>> advice(Forecast(gain=0.0001, error=0.004, n_more=50))
    'More time is hardly worth it: 50 more evaluations should gain 0.0001, less than the standard error of 0.0040.'
    """
    if found is None:
        return ""
    more = counted(found.n_more, "more evaluation")
    if found.is_worth_it:
        known = f" (standard error {number(found.error)})" if found.error == found.error else ""
        return f"More time may help: {more} should gain about {number(found.gain)}{known}."
    what = f"{more} should gain {number(found.gain)}, less than the standard error of {number(found.error)}"
    return f"More time is hardly worth it: {what}."


def is_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, which can show a line that changes."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    found = shell.get_ipython()
    return found is not None and hasattr(found, "kernel")


class NotebookLine:
    """A line below a cell of a notebook that always shows the newest state."""

    def __init__(self) -> None:
        self._shown: Any = None

    def __call__(self, text: str) -> None:
        """Show a text in place of the one before."""
        shown: Any = import_module("IPython.display")
        content = shown.HTML(f"<pre>{escape(text)}</pre>")
        if self._shown is None:
            self._shown = shown.display(content, display_id=True)
        else:
            self._shown.update(content)


class SearchDisplay:
    """Shows how a search goes; use it in a `with` block.

    `show` gets a line for each finished evaluation, `say` a note. With `tick_seconds` the line also has the phase and
    is shown again so often, as a notebook can replace it.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        say: Callable[[str], None],
        *,
        used: Callable[[], float],
        tick_seconds: float | None = None,
    ) -> None:
        self._show, self.say, self._used, self._tick_seconds = show, say, used, tick_seconds
        self._phase, self._told = "", 0.0
        self._progress: TuneProgress | None = None
        # A signal handler may interrupt the thread that holds the lock.
        self._lock = threading.RLock()
        self._is_done = threading.Event()

    def __enter__(self) -> Self:
        self._ticking = threading.Thread(target=self._tick, name="search display", daemon=True)
        if self._tick_seconds is not None:
            self._ticking.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._tick_seconds is not None:
            self._is_done.set()
            self._ticking.join()
            self.phase("")

    def phase(self, name: str) -> None:
        """Tell what begins now."""
        with self._lock:
            self._phase = name
            if self._tick_seconds is not None:
                self._show(self._state())

    def progress(self, progress: TuneProgress) -> None:
        """Tell how far the search is."""
        with self._lock:
            self._progress, self._told = progress, self._used()
            self._show(self._state())

    def _tick(self) -> None:
        while not self._is_done.wait(self._tick_seconds):
            with self._lock:
                self._show(self._state())

    def _state(self) -> str:
        """Return the line as of now, with the phase behind the time."""
        text = in_words(self._used())
        if self._progress is not None:
            text = progress_text(self._progress, self._used() - self._told)
        first, *others = text.split(GAP)
        phase = [self._phase] if self._phase and self._tick_seconds is not None else []
        return GAP.join([first, *phase, *others])


def display_of(verbose: int | None, used: Callable[[], float]) -> SearchDisplay:
    """Return what shows a search: a line in a notebook, lines on standard error, or nothing.

    With None, a notebook shows a line and a script is silent. `used` returns the seconds since the search began.
    """
    if verbose == 0 or (verbose is None and not is_notebook()):
        return SearchDisplay(lambda _: None, lambda _: None, used=used)
    if is_notebook():
        return SearchDisplay(NotebookLine(), _print, used=used, tick_seconds=NOTEBOOK_SECONDS)
    return SearchDisplay(_print, _print, used=used)


def _print(text: str) -> None:
    print(text, file=sys.stderr)
