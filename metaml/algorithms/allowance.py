"""The time that a fit may take, and ways to keep to it: rounds, iterations, or ever more rows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class Allowance:
    """The wall-clock seconds that a fit may take, counted from when this is made; None for any number of them.

    A learner looks at it between steps. One that stops before it would have stopped by itself says so by setting
    `ended_training`.
    """

    def __init__(self, seconds: float | None = None, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self.ended_training = False
        self._clock = clock
        self._begin = clock()

    @property
    def is_limited(self) -> bool:
        """Return whether there is a limit at all."""
        return self.seconds is not None

    @property
    def used(self) -> float:
        """Return the seconds since the fit began."""
        return self._clock() - self._begin

    @property
    def left(self) -> float:
        """Return the seconds until the allowance is used up; negative after that, infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.used


class Rounds:
    """Training that goes on round by round while there is time for one more like the last.

    >>> seconds = iter([0.0, 3.0, 3.0, 6.0, 6.0])
    >>> rounds = Rounds(Allowance(8.0, clock=lambda: next(seconds)))
    >>> rounds.may_go_on(), rounds.may_go_on()
    (True, False)
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._asked_at: float | None = None

    def may_go_on(self) -> bool:
        """Return whether there is time for another round. Ask after each round; a no ends the training."""
        now = self._allowance.used
        # What came before the first round is no measure of the second.
        last = 0.0 if self._asked_at is None else now - self._asked_at
        self._asked_at = now
        if self._allowance.left > last:
            return True
        self._allowance.ended_training = True
        return False
