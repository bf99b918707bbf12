"""Simulations on recorded runs: an optimizer looks scores up instead of evaluating, which takes minutes."""

from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import (
    BASELINES,
    Cell,
    OptimizerVariant,
    regret_curve,
    regret_over_seconds,
    simulate,
    simulate_all,
)

__all__ = [
    "BASELINES",
    "Cell",
    "OptimizerVariant",
    "RecordedRuns",
    "regret_curve",
    "regret_over_seconds",
    "simulate",
    "simulate_all",
]
