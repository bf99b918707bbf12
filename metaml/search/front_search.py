"""The search for a front: one optimizer of several objectives over the joint space of all algorithms.

It has the `ask` and `tell` of a search for one objective. It knows neither clocks nor workers, so it can be replayed.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle

import numpy as np

from metaml.algorithms.base import BEST_COLUMNS
from metaml.arrays import Floats
from metaml.encoding import Facts
from metaml.errors import BadRequest
from metaml.pareto import RESOURCES, log_amounts
from metaml.search.bandit_search import NextTrial
from metaml.search.joint_space import JointSpace
from metaml.search.joint_space_search import JointSpaceSearch
from metaml.search.optimizer import Observed, Option, Proposal
from metaml.search.pareto_optimizer import METHODS, ParetoOptimizer
from metaml.spaces import Integer, Space
from metaml.spaces.config import Config

SURROGATE = "forest"
"""What models a joint space: most of its parameters are inactive at any place, which trees cope with."""
N_PLACES = 32
"""Places of each design, for a method that has nothing but designs."""


class FrontSearch(JointSpaceSearch):
    """Searches the front of some objectives over the spaces of several algorithms.

    First comes the `initial_design`, then the defaults of the other algorithms, in the order of `spaces`: one that is
    not among the most accurate may be the quickest. Then the `method` decides (see `METHODS`). An outcome that is told
    has, in `scores`, the values of each objective at its operating points.

    With `n_sources`, the number of raw columns, each evaluation may read only the best of them; after the defaults come
    some of them with half of the columns, a quarter, and so on.
    """

    def __init__(
        self,
        spaces: Mapping[str, Space],
        objectives: Sequence[str],
        *,
        method: str,
        facts: Facts,
        initial_design: Sequence[tuple[str, Config]] = (),
        inert: Sequence[str] = (),
        n_sources: int = 0,
        seed: int = 0,
    ) -> None:
        self.objectives = tuple(objectives)
        fewer = fewer_columns(n_sources)
        of_columns = [Integer(BEST_COLUMNS, 1, n_sources, default=n_sources, log=True)] if fewer else ()
        joint = JointSpace(spaces, of_columns)
        defaults = [joint.joined(name, space.default()) for name, space in spaces.items()]
        with_fewer = [{**default, BEST_COLUMNS: n} for default, n in zip(cycle(defaults), fewer, strict=False)]
        self.optimizer = ParetoOptimizer(
            joint.space,
            n_objectives=len(self.objectives),
            method=method,
            surrogate=SURROGATE,
            starts=[*defaults, *with_fewer],
            n_design=N_PLACES if method in METHODS and METHODS[method].judge is None else 0,
            seed=seed,
            facts=facts,
            inert=joint.inert(inert),
        )
        super().__init__(joint, self.optimizer, initial_design)

    def ask(self, rounds_left: int | None = None) -> NextTrial:
        """Return what to evaluate next; it stays open until `tell` or `drop`."""
        n_known = len(self.optimizer.seen)
        self.optimizer.n_total = None if rounds_left is None else n_known + rounds_left
        proposal = self._next_proposal()
        algorithm, config = self.joint.parted(proposal.config)
        # What the optimizer expects is in the unit of weighted objectives, and no score.
        return NextTrial(algorithm, Proposal(config, proposal.proposer, value=proposal.value))

    def options(
        self,
        n: int,  # noqa: ARG002
        rounds_left: int | None = None,  # noqa: ARG002
        *,
        most_seconds: float = math.inf,  # noqa: ARG002
    ) -> list[Option]:
        """Refuse to propose batches: what is packed is chosen by one objective."""
        raise BadRequest("Batches are packed for one objective, and a front has several. Leave out --schedule.")

    def take(self, option: Option) -> NextTrial:
        """Return an option as a choice that stays open until `tell` or `drop`."""
        return NextTrial(option.algorithm, self.optimizer.take(option))

    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation."""
        values = [outcome.scores.get(name, ()) for name in self.objectives]
        is_known = outcome.status == "ok" and all(values)
        costs = [_cost(name, column) for name, column in zip(self.objectives, values, strict=True)]
        self.optimizer.observe_points(
            self.joint.joined(algorithm, config), np.column_stack(costs) if is_known else None, outcome.seconds
        )


def fewer_columns(n_sources: int) -> list[int]:
    """Return the numbers of columns to try first, each half of the one before.

    >>> fewer_columns(10)
    [5, 2, 1]
    """
    return [n_sources >> times for times in range(1, n_sources.bit_length())]


def _cost(name: str, scores: Sequence[float]) -> Floats:
    """Return scores as costs: lower is better, and what a model takes on a logarithmic scale."""
    costs = -np.asarray(scores, dtype=np.float64)
    return log_amounts(name, costs) if name in RESOURCES else costs
