"""Ask for the next configuration, tell its costs: Bayesian optimisation of several objectives over one space."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.acquisition.candidates import Candidate, SpaceCandidates
from metaml.acquisition.committee import Committee
from metaml.acquisition.designs import initial_design
from metaml.acquisition.epsilon_committee import EpsilonCommittee
from metaml.acquisition.front_committee import FrontCommittee
from metaml.acquisition.hypervolume_committee import HypervolumeCommittee
from metaml.acquisition.mspot_committee import MspotCommittee
from metaml.acquisition.scalarisation import draw_weights, tchebycheff, unit_costs
from metaml.acquisition.tchebycheff_committee import TchebycheffCommittee
from metaml.arrays import Flags, Floats
from metaml.encoding import Facts
from metaml.errors import BadRequest
from metaml.pareto import front_numbers, is_non_dominated
from metaml.search.optimizer import Optimizer, Proposal
from metaml.spaces import Space
from metaml.spaces.config import Config

N_CENTRES = 20
"""So many of the best runs have places near them looked at: a front has more than one good place."""


@dataclass(frozen=True)
class ParetoMethod:
    """How a search for several objectives chooses: what judges candidates, and what its designs are.

    `judge` gets the name of a surrogate and the number of objectives. Without it, everything is a design of
    `design_size` places, or random if that is 0.
    """

    judge: Callable[[str, int], Committee] | None = None
    has_design: bool = True


METHODS: dict[str, ParetoMethod] = {
    "parego": ParetoMethod(TchebycheffCommittee),
    "sms_ego": ParetoMethod(HypervolumeCommittee),
    "epsilon_ego": ParetoMethod(EpsilonCommittee),
    "mspot": ParetoMethod(MspotCommittee),
    "latin_hypercube": ParetoMethod(),
    "random": ParetoMethod(has_design=False),
}
"""How several objectives are searched, by name: four ways of mlrMBO (section 2.6) and two rivals without a model."""


class ParetoOptimizer(Optimizer):
    """Proposes configurations for the Pareto front of two or three costs, lower is better.

    The first `n_design` proposals fill the space evenly. Then each objective is modelled. `parego` draws one weight
    vector for each proposal and expects the largest gain in the weighted costs, `sms_ego` looks for the largest gain in
    dominated volume, `epsilon_ego` for what is furthest ahead of the front, and `mspot` trusts what is predicted.
    What is proposed depends on the seed and on what was told and is open, as with any optimizer. `n_total` is how
    many evaluations are planned: near the end, `sms_ego` explores less.

    A run may have several points, such as those of a classifier at different thresholds: `parego` takes the one that is
    best for its weights, and the others the first. `facts` and `inert` are as for any candidates.
    """

    def __init__(
        self,
        space: Space,
        *,
        n_objectives: int,
        method: str = "parego",
        surrogate: str = "gaussian_process_all",
        starts: Sequence[Config] = (),
        n_design: int = 10,
        n_total: int | None = None,
        search: str = "perturbed",
        seed: int = 0,
        facts: Facts | None = None,
        inert: Collection[str] = (),
    ) -> None:
        if method not in METHODS:
            raise BadRequest(f"No method is named {method!r}. Choose one of {', '.join(METHODS)}.")
        if n_objectives not in (2, 3):
            raise BadRequest(f"A front has 2 or 3 objectives, not {n_objectives}. Leave some out.")
        self.method, self.n_objectives, self.n_design, self.n_total = method, n_objectives, n_design, n_total
        judge = METHODS[method].judge
        super().__init__(
            SpaceCandidates(space, facts=facts, search=search, inert=inert, n_best=N_CENTRES),
            strategy="random" if judge is None else judge(surrogate, n_objectives),
            starts=starts,
            n_random=0,
            seed=seed,
        )
        self.name = method
        self._cube = SpaceCandidates(space).cube
        self._designs: dict[int, Floats] = {}
        self._points: list[Floats | None] = []
        self._weights: Floats | None = None

    @property
    def costs(self) -> Floats:
        """Return the costs of the runs that `tell` has received: the first point of each, NaN if it failed."""
        rows = [np.full(self.n_objectives, np.nan) if points is None else points[0] for points in self._points]
        return np.array(rows, dtype=np.float64).reshape(-1, self.n_objectives)

    @property
    def on_front(self) -> Flags:
        """Return which runs no other run dominates."""
        return is_non_dominated(self.costs)

    def observe_costs(self, config: Config, costs: Sequence[float] | None, seconds: float | None = None) -> None:
        """Learn the costs of a configuration, one for each objective; None, or one that is not finite, is a failure."""
        if costs is not None and len(costs) != self.n_objectives:
            raise BadRequest(f"{self.n_objectives} objectives have {self.n_objectives} values, not {len(costs)}.")
        self.observe_points(config, None if costs is None else np.array([costs], dtype=np.float64), seconds)

    def observe_points(self, config: Config, points: Floats | None, seconds: float | None = None) -> None:
        """Learn the points of a configuration, each a row of costs; None, or one that is not finite, is a failure."""
        worked = points is not None and bool(np.isfinite(points).all())
        self._points.append(points if worked else None)
        self.observe(config, 0.0 if worked else None, seconds)

    def _propose(self, n: int, rng: np.random.Generator) -> tuple[Proposal, Floats]:
        has_design, has_judge = METHODS[self.method].has_design, self._committee is not None
        if has_design and (n < self.n_design or not has_judge):
            return self._of_design(n, rng)
        if has_judge and np.isfinite(self.costs).any():
            self.rescore(self._scores(rng))
        return super()._propose(n, rng)

    def _of_design(self, n: int, rng: np.random.Generator) -> tuple[Proposal, Floats]:
        """Return the next place of a design; when one is used up, the next begins."""
        block, place = divmod(n, self.n_design)
        if block not in self._designs:
            rng_of_block = np.random.default_rng((self.seed, block, self.n_design))
            self._designs = {block: initial_design(self._cube, self.n_design, rng_of_block)}
        config = self._cube.config(self._designs[block][place])
        if self.is_taken(config):
            return self._proposal(self._candidates.random(self._is_taken, rng), "random")
        return self._proposal(Candidate(config, self._candidates.row(config)), "design")

    def _scores(self, rng: np.random.Generator) -> list[float | None]:
        """Return what the runs are ranked by in this proposal; with ParEGO, that needs weights."""
        costs = self.costs
        failed = np.isnan(costs[:, 0])
        if self.method == "parego":
            self._weights = draw_weights(self.n_objectives, rng)
            scores = -self._norms(self._weights)[0]
        else:
            # Which runs of the front have their neighbours looked at is left to chance.
            scores = -(front_numbers(costs) + rng.random(len(costs)))
        return [None if is_failed else float(score) for score, is_failed in zip(scores, failed, strict=True)]

    def _norms(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weighted costs of each run at its best point for these weights, and its costs there."""
        lost = np.full((1, self.n_objectives), np.nan)
        points = [lost if found is None else found for found in self._points]
        norms = tchebycheff(unit_costs(np.vstack(points)), weights)
        ends = np.cumsum([len(found) for found in points])
        parts = np.split(norms, ends[:-1])
        best = [found[int(np.argmin(norm))] for found, norm in zip(points, parts, strict=True)]
        return np.array([norm.min() for norm in parts]), np.array(best)

    def _fit(self, committee: Committee, rng: np.random.Generator) -> None:
        if not isinstance(committee, FrontCommittee):
            super()._fit(committee, rng)
            return
        costs = self.costs if self._weights is None else self._norms(self._weights)[1]
        filled = np.where(np.isnan(costs), np.nanmax(costs, axis=0), costs)
        pending = [row for _, row in self._open.values()]
        n_left = len(costs) if self.n_total is None else max(self.n_total - len(costs), 0)
        committee.fit_costs(
            np.stack(self._rows),
            filled,
            np.array(pending).reshape(len(pending), len(self._rows[0])),
            n_left=n_left,
            seed=int(rng.integers(2**31)),
            weights=self._weights,
        )
