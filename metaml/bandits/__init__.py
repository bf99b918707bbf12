"""Policies that share a budget between algorithms: each is a name in `POLICIES`."""

from collections.abc import Callable
from functools import partial

from metaml.bandits.always import Always
from metaml.bandits.base import HistoryPolicy, Policy
from metaml.bandits.best_first import BestFirst
from metaml.bandits.cost_of_improvement import CostOfImprovement
from metaml.bandits.curve_thompson import CurveThompson
from metaml.bandits.decreasing_epsilon import DecreasingEpsilon
from metaml.bandits.epsilon_greedy import EpsilonGreedy
from metaml.bandits.histories import Histories, with_pending
from metaml.bandits.increasing_effort import IncreasingEffort
from metaml.bandits.max_ucb import MaxUCB
from metaml.bandits.rising import Rising
from metaml.bandits.round_robin import RoundRobin
from metaml.bandits.successive_halving import SuccessiveHalving
from metaml.bandits.thompson import Thompson
from metaml.bandits.threshold_ascent import ThresholdAscent
from metaml.bandits.top_two_thompson import TopTwoThompson
from metaml.bandits.ucb1 import UCB1
from metaml.bandits.ucb1_tuned import UCB1Tuned
from metaml.bandits.uniform import Uniform

POLICIES: dict[str, Callable[..., Policy]] = {
    "always": Always,
    "best_first": BestFirst,
    "cost_of_improvement": CostOfImprovement,
    "curve_thompson": CurveThompson,
    "decreasing_epsilon": DecreasingEpsilon,
    "decreasing_epsilon_max": partial(DecreasingEpsilon, by="best"),
    "epsilon_greedy": EpsilonGreedy,
    "epsilon_greedy_max": partial(EpsilonGreedy, by="best"),
    "increasing_effort": IncreasingEffort,
    "max_ucb": MaxUCB,
    "rising": Rising,
    "round_robin": RoundRobin,
    "successive_halving": SuccessiveHalving,
    "thompson": Thompson,
    "threshold_ascent": ThresholdAscent,
    "top_two_thompson": TopTwoThompson,
    "ucb1": UCB1,
    "ucb1_tuned": UCB1Tuned,
    "uniform": Uniform,
}

DEFAULT_POLICY = "cost_of_improvement"
"""The policy without a knowledge base: the best of `benchmarks/bandits.py`, in rounds and in seconds."""

__all__ = ["DEFAULT_POLICY", "POLICIES", "Histories", "HistoryPolicy", "Policy", "with_pending"]
