"""Look-up simulations on recorded runs: any optimizer, judged in minutes."""

from metaml.replay.pools import RecordedRuns
from metaml.replay.simulate import (
    BASELINES,
    Cell,
    Method,
    regret_curve,
    regret_over_seconds,
    simulate,
    simulate_all,
)

__all__ = [
    "BASELINES",
    "Cell",
    "Method",
    "RecordedRuns",
    "regret_curve",
    "regret_over_seconds",
    "simulate",
    "simulate_all",
]
