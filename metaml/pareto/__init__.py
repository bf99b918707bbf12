"""Pareto fronts: who dominates whom, and how good a front is. Every value is a cost: lower is better."""

from metaml.pareto.dominance import front_numbers, is_non_dominated
from metaml.pareto.hypervolume import hypervolume, hypervolume_gains
from metaml.pareto.indicators import epsilon_indicator, knee
from metaml.pareto.resources import RESOURCES, log_amounts

__all__ = [
    "RESOURCES",
    "epsilon_indicator",
    "front_numbers",
    "hypervolume",
    "hypervolume_gains",
    "is_non_dominated",
    "knee",
    "log_amounts",
]
