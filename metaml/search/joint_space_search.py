"""What searches over a joint space share: the initial design comes first, and each algorithm keeps its own space."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from metaml.search.joint_space import JointSpace
from metaml.search.optimizer import Observed, Proposal
from metaml.spaces.config import Config
from metaml.system.threads import at_most_threads


class JointOptimizer(Protocol):
    """What a search over a joint space asks of its optimizer."""

    def ask(self) -> Proposal:
        """Return what to evaluate next; it stays open until `tell` or `drop`."""
        ...

    def ask_for(self, config: Config) -> Proposal:
        """Return a configuration as a proposal."""
        ...

    def is_taken(self, config: Config) -> bool:
        """Return whether a configuration is open, or was evaluated."""
        ...

    def drop(self, config: Config) -> None:
        """Forget an open configuration."""
        ...


class JointSpaceSearch(ABC):
    """A search with one optimizer over the spaces of several algorithms, which begins with an initial design."""

    def __init__(
        self, joint: JointSpace, optimizer: JointOptimizer, initial_design: Sequence[tuple[str, Config]]
    ) -> None:
        self.joint = joint
        self._asked: JointOptimizer = optimizer
        self._initial_design = [joint.joined(name, config) for name, config in initial_design]

    def _next_proposal(self) -> Proposal:
        """Return the next of the initial design or, after that, what the optimizer proposes."""
        with at_most_threads(1):
            left = (config for config in self._initial_design if not self._asked.is_taken(config))
            first = next(left, None)
            return self._asked.ask() if first is None else self._asked.ask_for(first)

    @abstractmethod
    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation."""

    @property
    def is_in_initial_design(self) -> bool:
        """Return whether the next choice is one of the initial design."""
        return not all(self._asked.is_taken(config) for config in self._initial_design)

    def end_initial_design(self) -> None:
        """Leave the rest of the initial design to the optimizer."""
        self._initial_design = []

    def resume(self, algorithm: str, config: Config, outcome: Observed, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Learn an evaluation that was asked for and finished before; the search goes on as if asked here."""
        self.tell(algorithm, config, outcome)

    def reopen(self, algorithm: str, config: Config, *, share: float = 1.0) -> None:  # noqa: ARG002
        """Take over an evaluation that was asked for elsewhere and is still under way."""
        self._asked.ask_for(self.joint.joined(algorithm, config))

    def drop(self, algorithm: str, config: Config) -> None:
        """Forget an evaluation that was asked for and will not come."""
        self._asked.drop(self.joint.joined(algorithm, config))
