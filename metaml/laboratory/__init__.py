"""Look-up simulations on recorded runs: any optimizer, judged in minutes."""

from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import (
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
