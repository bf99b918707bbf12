"""One optimizer over the joint space of all algorithms, in place of a bandit over one for each (CASH).

It has the `ask` and `tell` of `Search`, so a session can use either.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from metaml.acquisition.candidates import SpaceCandidates
from metaml.encoding import Facts
from metaml.search.bandit_search import NextTrial
from metaml.search.joint_space import ALGORITHM, JointSpace
from metaml.search.joint_space_search import JointSpaceSearch
from metaml.search.optimizer import Observed, Optimizer, Option, Proposal
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml.system.threads import at_most_threads


class JointSearch(JointSpaceSearch):
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
        joint = JointSpace(spaces)
        candidates = SpaceCandidates(joint.space, facts=facts, search=search, inert=joint.inert(inert))
        self.optimizer = Optimizer(
            candidates,
            strategy=strategy,
            starts=[joint.joined(name, space.default()) for name, space in spaces.items()],
            metric=metric,
            seed=seed,
        )
        super().__init__(joint, self.optimizer, initial_design)

    def ask(self, rounds_left: int | None = None) -> NextTrial:  # noqa: ARG002 - one signature for all searches
        """Return what to evaluate next; it stays open until `tell` or `drop`."""
        return self._parted(self._next_proposal())

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
        """Return an option as a choice that stays open until `tell` or `drop`."""
        return self._parted(self.optimizer.take(option))

    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation."""
        self.optimizer.tell(self.joint.joined(algorithm, config), outcome)

    def _parted(self, proposal: Proposal) -> NextTrial:
        algorithm, config = self.joint.parted(proposal.config)
        return NextTrial(algorithm, replace(proposal, config=config))
