"""Who is evaluated next: a bandit over one optimizer per algorithm, decided by what has finished and nothing else.

The search knows no clock and no workers. Asked with the same seed after the same events in the same order it
proposes the same configurations, so that a stored event log can be replayed.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from metaml.bandits import POLICIES, Policy
from metaml.bandits.curve_thompson import CurveThompson
from metaml.errors import BadRequest
from metaml.search.optimizer import Observed, Optimizer, Option, Proposal
from metaml.spaces.config import Config
from metaml.system.threads import at_most_threads

LEAST_COST = 0.25
"""An evaluation counts at least this part of the usual one's seconds: what is quick and poor would get all of them."""
FEW_EACH, OPEN_EVERY = 10, 6
"""If there is time for fewer than ten more evaluations per algorithm, only the better half of the algorithms gets them,
except for every sixth evaluation."""


@dataclass(frozen=True)
class NextTrial:
    """What to evaluate next: the algorithm that the policy chose and the proposal of its optimizer.

    `share` is how much of an evaluation is wanted: below 1, it is a look at a low fidelity.
    """

    algorithm: str
    proposal: Proposal
    share: float = 1.0


@dataclass
class Arm:
    """An algorithm under way: its optimizer, and what its finished evaluations gave, in order."""

    optimizer: Optimizer
    rewards: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    n_open: int = 0


class Search:
    """A policy that shares evaluations between optimizers.

    `optimizers` are in the order in which the algorithms are to be tried first. An evaluation that is still open
    counts as a pull that gave the arm's mean so far, so that parallel workers do not all crowd one arm. Where
    evaluations are counted and not timed, `is_timed` is False: what is chosen then does not depend on the clock.

    The `initial_design` lists the configurations to evaluate first, before the policy chooses. An algorithm in
    `joins` is not considered before this many evaluations were asked for. `curves` say how the algorithms improved on
    similar data sets, as levels: they are the prior of the policy `curve_thompson`.
    """

    def __init__(
        self,
        optimizers: Mapping[str, Optimizer],
        policy: str | Policy,
        *,
        initial_design: Sequence[tuple[str, Config]] = (),
        joins: Mapping[str, int] | None = None,
        curves: Mapping[str, Sequence[Sequence[float]]] | None = None,
        seed: int = 0,
        is_timed: bool = True,
    ) -> None:
        if isinstance(policy, str) and policy not in POLICIES:
            raise BadRequest(f"A search has no bandit {policy!r}. Choose among: {', '.join(POLICIES)}.")
        self.arms = {name: Arm(optimizer) for name, optimizer in optimizers.items()}
        self._policy = POLICIES[policy]() if isinstance(policy, str) else policy
        self._curves = dict(curves or {})
        self._initial_design = list(initial_design)
        self._joins = dict(joins or {})
        self._seed = seed
        self._is_timed = is_timed
        self._n_asked = 0

    def ask(self, rounds_left: int | None = None) -> NextTrial:
        """Return what to evaluate next; it stays open until `tell` or `drop`."""
        with at_most_threads(1):
            choice = self._next_of_initial_design() or self._next_of_policy(rounds_left)
        self.arms[choice.algorithm].n_open += 1
        self._n_asked += 1
        return choice

    @property
    def is_in_initial_design(self) -> bool:
        """Return whether the next choice is one of the initial design."""
        return any(not self.arms[name].optimizer.is_taken(config) for name, config in self._initial_design)

    def end_initial_design(self) -> None:
        """Leave the rest of the initial design to the policy."""
        self._initial_design = []

    def _next_of_initial_design(self) -> NextTrial | None:
        for name, config in self._initial_design:
            if not self.arms[name].optimizer.is_taken(config):
                return NextTrial(name, self.arms[name].optimizer.ask_for(config))
        return None

    def options(self, n: int, rounds_left: int | None = None, *, most_seconds: float = math.inf) -> list[Option]:
        """Return about `n` proposals, shared between the algorithms as the policy would share this many pulls.

        None is open until it is taken. Those that are expected to take longer than `most_seconds` are left out.
        """
        with at_most_threads(1):
            shares: Counter[str] = Counter()
            for _ in range(n):
                shares[self._chosen_arm(rounds_left, shares)] += 1
            return [
                option
                for name, share in shares.items()
                for option in self.arms[name].optimizer.options(share, algorithm=name, most_seconds=most_seconds)
            ]

    def take(self, option: Option) -> NextTrial:
        """Return an option as a choice that stays open until `tell` or `drop`."""
        proposal = self.arms[option.algorithm].optimizer.take(option)
        self.arms[option.algorithm].n_open += 1
        self._n_asked += 1
        return NextTrial(option.algorithm, proposal)

    def _next_of_policy(self, rounds_left: int | None) -> NextTrial:
        name = self._chosen_arm(rounds_left, {})
        return NextTrial(name, self.arms[name].optimizer.ask())

    def _chosen_arm(self, rounds_left: int | None, more: Mapping[str, int]) -> str:
        """Return the algorithm that the policy chooses, if `more` pulls of these algorithms were open, too."""
        n_asked = self._n_asked + sum(more.values())
        arms = {
            name: arm
            for name, arm in self.arms.items()
            if arm.rewards or arm.n_open or name in more or self._joins.get(name, 0) <= n_asked
        } or self.arms
        is_short = self._is_timed and rounds_left is not None and rounds_left < FEW_EACH * len(arms)
        if is_short and n_asked % OPEN_EVERY:
            arms = _better_half(arms)
        rng = np.random.default_rng((self._seed, n_asked))
        rewards, spent = zip(*(self._history(arm, more.get(name, 0)) for name, arm in arms.items()), strict=True)
        seconds = _floored(spent)
        policy = self._policy
        if self._curves and isinstance(policy, CurveThompson):
            policy = CurveThompson([self._curves.get(name, ()) for name in arms], are_levels=True)
        place = policy.choose(rewards, rng, seconds=seconds if self._is_timed else None, rounds_left=rounds_left)
        return list(arms)[place]

    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation."""
        arm = self.arms[algorithm]
        arm.optimizer.tell(config, outcome)
        seen = arm.optimizer.seen[-1]
        # A partial run has no score that compares with complete ones: to the bandit it is a pull that gave nothing.
        arm.rewards.append(np.nan if seen.score is None or seen.is_partial else seen.score)
        arm.seconds.append(outcome.seconds)
        arm.n_open -= 1

    def resume(self, algorithm: str, config: Config, outcome: Observed, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Learn an evaluation that was asked for and finished before; the search goes on as if asked here."""
        self.arms[algorithm].n_open += 1
        self._n_asked += 1
        self.tell(algorithm, config, outcome)

    def reopen(self, algorithm: str, config: Config, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Take over an evaluation that was asked for elsewhere and is still under way."""
        self.arms[algorithm].optimizer.ask_for(config)
        self.arms[algorithm].n_open += 1
        self._n_asked += 1

    def drop(self, algorithm: str, config: Config) -> None:
        """Forget an evaluation that was asked for and will not come."""
        self.arms[algorithm].optimizer.drop(config)
        self.arms[algorithm].n_open -= 1

    def _history(self, arm: Arm, n_more: int = 0) -> tuple[Sequence[float], Sequence[float]]:
        finite = [reward for reward in arm.rewards if np.isfinite(reward)]
        believed = float(np.mean(finite)) if finite else np.nan
        typical = float(np.mean(arm.seconds)) if arm.seconds else 1.0
        n_open = arm.n_open + n_more
        return [*arm.rewards, *[believed] * n_open], [*arm.seconds, *[typical] * n_open]


def _better_half(arms: Mapping[str, Arm]) -> dict[str, Arm]:
    """Return the algorithms whose best score is not below the median of these, and those without an evaluation."""
    best = {
        name: max(filter(np.isfinite, arm.rewards), default=-np.inf if arm.rewards else np.inf)
        for name, arm in arms.items()
    }
    # The higher one of the two in the middle: their mean may not be a number.
    middle = sorted(best.values())[len(best) // 2]
    return {name: arm for name, arm in arms.items() if best[name] >= middle}


def _floored(spent: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return seconds of which none is below a part of the usual: to ask, send and store takes time as well.

    >>> _floored([[0.0, 4.0], [4.0]])
    [[1.0, 4.0], [4.0]]
    """
    every = [seconds for arm in spent for seconds in arm]
    least = LEAST_COST * float(np.median(every)) if every else 0.0
    return [[max(seconds, least) for seconds in arm] for arm in spent]
