"""Time budgets: how to write a duration, and how much time is left."""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from metaml.errors import BadRequest

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as 90, 90s, 10m, 1h30m or 2d.

    >>> seconds_of("1h30m"), seconds_of("90")
    (5400.0, 90.0)
    """
    word = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", word):
        seconds = float(word)
    elif re.fullmatch(r"(\d+(\.\d+)?[smhd])+", word):
        seconds = sum(float(n) * UNITS[unit] for n, _, unit in re.findall(r"(\d+(\.\d+)?)([smhd])", word))
    else:
        raise BadRequest(f"{text!r} is not a duration. Write it as 90s, 10m, 2h or 1h30m.")
    if seconds <= 0:
        raise BadRequest(f"A duration of {text!r} leaves no time. Give more than 0 seconds.")
    return seconds


def in_words(seconds: float) -> str:
    """Return a duration in words, with its two largest units.

    >>> in_words(5400), in_words(75.4), in_words(2.34), in_words(200_000)
    ('1 h 30 min', '1 min 15 s', '2.3 s', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def seconds_alive() -> float:
    """Return how many seconds ago this process was started.

    Linux gives the start of a process in hundredths of a second since boot. psutil adds the time of the boot, which is
    only known in whole seconds.
    """
    try:
        # The program name can contain any character and ends with the last bracket; the start time is field 22.
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError):
        import psutil

        return time.time() - float(psutil.Process().create_time())


@dataclass
class Drag:
    """How much slower this process is because other processes use the machine.

    The factor is wall-clock time divided by processor time. Both start at one second, so that short work changes the
    factor only a little.

    >>> drag = Drag()
    >>> drag.note(6.0, 1.5)
    >>> drag.factor
    2.8
    """

    wall: float = 1.0
    busy: float = 1.0

    @property
    def factor(self) -> float:
        """Return the factor, at least 1."""
        return max(1.0, self.wall / self.busy)

    def note(self, wall: float, busy: float) -> None:
        """Add the time of some work: wall-clock seconds and processor seconds."""
        self.wall += wall
        self.busy += busy

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Add the time of a block; the block must not wait for other threads or processes."""
        wall, busy = time.perf_counter(), time.process_time()
        yield
        self.note(time.perf_counter() - wall, time.process_time() - busy)


@dataclass
class Budget:
    """A wall-clock budget that starts now, or `used_before` seconds earlier; with `seconds` = None it never ends."""

    seconds: float | None
    clock: Callable[[], float] = time.monotonic
    used_before: float = 0.0
    drag: Drag = field(default_factory=Drag)
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self.clock() - self.used_before

    def ending_in(self, seconds: float) -> "Budget":
        """Return the same budget, but ending at most this many seconds from now.

        >>> Budget(None, used_before=60.0).ending_in(3.0).seconds > 60.0
        True
        """
        used = self.used
        return replace(self, seconds=used + min(seconds, self.left), used_before=used)

    def with_at_least(self, seconds: float) -> "Budget":
        """Return a budget that begins now: what is left of this one, but at least this many seconds.

        >>> Budget(5.0, used_before=60.0).with_at_least(3.0).seconds
        3.0
        """
        return self if self.seconds is None else Budget(max(self.left, seconds), drag=self.drag)

    @property
    def used(self) -> float:
        """Return the seconds since the start."""
        return self.clock() - self._start

    @property
    def left(self) -> float:
        """Return the seconds that remain; infinite without an end."""
        return float("inf") if self.seconds is None else self.seconds - self.used

    @property
    def is_used_up(self) -> bool:
        """Return whether no time remains."""
        return self.left <= 0
