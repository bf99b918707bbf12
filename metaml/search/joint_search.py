"""One optimizer over the joint space of all algorithms, in place of a bandit over one for each (CASH).

It is asked and told as `Search` is, so the session does not need to know which of the two it has.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from metaml.acquisition.candidates import SpaceCandidates
from metaml.encoding import Facts
from metaml.search.bandit_search import NextTrial
from metaml.search.joint_space import ALGORITHM, JointSpace
from metaml.search.optimizer import Observed, Optimizer, Option, Proposal
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml.system.threads import at_most_threads


class JointSearch:
    """Searches the spaces of several algorithms with one surrogate; which algorithm is one of its parameters.

    First comes the `initial_design`, then the defaults of the other algorithms in the order of `spaces`. Experience has
    no vote after that: meta-learners are learnt for each algorithm alone.
    """

    def __init__(
        self,
        spaces: Mapping[str, Space],
        strategy: str,
        *,
        facts: Facts,
        metric: str,
        search: str = "neighbours",
        initial_design: Sequence[tuple[str, Config]] = (),
        inert: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        self.joint = JointSpace(spaces)
        candidates = SpaceCandidates(self.joint.space, facts=facts, search=search, inert=self.joint.inert(inert))
        self.optimizer = Optimizer(
            candidates,
            strategy=strategy,
            starts=[self.joint.joined(name, space.default()) for name, space in spaces.items()],
            metric=metric,
            seed=seed,
        )
        self._initial_design = [self.joint.joined(name, config) for name, config in initial_design]

    def ask(self, rounds_left: int | None = None) -> NextTrial:  # noqa: ARG002 - one signature for all searches
        """Return what to evaluate next; it stays open until it is told or dropped."""
        with at_most_threads(1):
            left = (config for config in self._initial_design if not self.optimizer.is_taken(config))
            first = next(left, None)
            proposal = self.optimizer.ask() if first is None else self.optimizer.ask_for(first)
        return self._parted(proposal)

    @property
    def is_in_initial_design(self) -> bool:
        """Return whether the next choice is one of the initial design."""
        return not all(self.optimizer.is_taken(config) for config in self._initial_design)

    def end_initial_design(self) -> None:
        """Leave the rest of the initial design to the optimizer."""
        self._initial_design = []

    def options(
        self,
        n: int,
        rounds_left: int | None = None,  # noqa: ARG002
        *,
        most_seconds: float = math.inf,
    ) -> list[Option]:
        """Return up to `n` different proposals; none is open until it is taken."""
        with at_most_threads(1):
            found = self.optimizer.options(n, most_seconds=most_seconds)
        return [replace(option, algorithm=str(option.proposal.config[ALGORITHM])) for option in found]

    def take(self, option: Option) -> NextTrial:
        """Return an option as a choice that stays open until it is told or dropped."""
        return self._parted(self.optimizer.take(option))

    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn what came of an evaluation."""
        self.optimizer.tell(self.joint.joined(algorithm, config), outcome)

    def resume(self, algorithm: str, config: Config, outcome: Observed, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Learn an evaluation that was asked for and finished before; the search goes on as if asked here."""
        self.tell(algorithm, config, outcome)

    def reopen(self, algorithm: str, config: Config, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Take over an evaluation that was asked for elsewhere and is still under way."""
        self.optimizer.ask_for(self.joint.joined(algorithm, config))

    def drop(self, algorithm: str, config: Config) -> None:
        """Forget an evaluation that was asked for and will not come."""
        self.optimizer.drop(self.joint.joined(algorithm, config))

    def _parted(self, proposal: Proposal) -> NextTrial:
        algorithm, config = self.joint.parted(proposal.config)
        return NextTrial(algorithm, replace(proposal, config=config))
