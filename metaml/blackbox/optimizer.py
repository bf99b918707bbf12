"""Ask for a configuration, evaluate it yourself, tell its value or values: lower is better."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metaml.acquisition.starts import DESIGN, STARTS
from metaml.blackbox.evaluations import Evaluation, OptimizeResult
from metaml.blackbox.spaces import as_space
from metaml.errors import BadRequest
from metaml.search.optimizer import Optimizer as ScoreOptimizer
from metaml.search.pareto_optimizer import METHODS, ParetoOptimizer
from metaml.search.starts import design_starts
from metaml.search.strategy import STRATEGIES, strategy_without
from metaml.spaces.config import Config

Values = float | Sequence[float] | Mapping[str, float] | None
MOST_OBJECTIVES = 3
WITHOUT_A_FUNCTION = ("experience", "cost", *STARTS)
"""Choices that need other data sets or known seconds, which a function does not have."""


class Optimizer:
    """Bayesian optimisation by ask and tell, of one to three objectives over any space.

    `space` is whatever `as_space` reads. `objectives` is their number or their names. `method` is `parego`, `sms_ego`,
    `epsilon_ego`, `mspot`, `latin_hypercube` or `random`. For one objective it is the name of a surrogate or `random`;
    choices may follow, as in `gaussian_process+design+focus+augmented_improvement`. The first `n_design` proposals do
    not depend on values: four for each parameter, at least eight, unless `n` evaluations in all are planned and a third
    of them is less. `starts` are configurations to propose first. The same `seed` and the same values give the same
    proposals.

    >>> optimizer = Optimizer({"x": (-2.0, 2.0)}, seed=0)
    >>> for _ in range(20):
    ...     config = optimizer.ask()
    ...     optimizer.tell(config, (config["x"] - 1.0) ** 2)
    >>> abs(optimizer.result.best.config["x"] - 1.0) < 0.1
    True
    """

    def __init__(
        self,
        space: Any,
        *,
        objectives: int | Sequence[str] = 1,
        method: str = "auto",
        n: int | None = None,
        n_design: int | None = None,
        starts: Sequence[Config] = (),
        seed: int = 0,
    ) -> None:
        self.space = as_space(space)
        self.objectives = _names(objectives)
        for config in starts:
            self.space.check(config)
        if n_design is None:
            n_design = max(4 * len(self.space.parameters), 8)
            n_design = n_design if n is None else max(min(n_design, n // 3), 2)
        if len(self.objectives) == 1:
            known = ("auto", *STRATEGIES)
            if method.partition("+")[0] not in known:
                raise BadRequest(f"No method for one objective is named {method!r}. Choose one of {', '.join(known)}.")
            strategy = strategy_without("default" if method == "auto" else method, *WITHOUT_A_FUNCTION)
            is_even = strategy.start_rule[0] == DESIGN
            even = design_starts(self.space, None, n_design, has_default=False) if is_even else ()
            self._search: ScoreOptimizer = ScoreOptimizer(
                self.space,
                strategy=strategy.text,
                starts=(*starts, *even),
                n_random=n_design,
                seed=seed,
            )
        else:
            known = ("auto", *METHODS)
            if method not in known:
                raise BadRequest(f"No method for a front is named {method!r}. Choose one of {', '.join(known)}.")
            self._search = ParetoOptimizer(
                self.space,
                n_objectives=len(self.objectives),
                method="sms_ego" if method == "auto" else method,
                starts=starts,
                n_design=max(n or n_design, 1) if method == "latin_hypercube" else n_design,
                n_total=n,
                seed=seed,
            )
        self._evaluations: list[Evaluation] = []

    def ask(self) -> Config:
        """Return the next configuration; ask again before telling, and you get another one to evaluate beside it."""
        return dict(self._search.ask().config)

    def tell(self, config: Config, values: Values, *, error: str | None = None, seconds: float | None = None) -> None:
        """Learn the `values` of a configuration (`config`): a number, or one for each objective; lower is better.

        None is a failure, as is a value that is not finite. `error` says why; `seconds` is what the evaluation took.
        """
        self.space.check(config)
        numbers = self._numbers(values)
        if isinstance(self._search, ParetoOptimizer):
            self._search.observe_costs(config, numbers, seconds)
        else:
            self._search.observe(config, None if numbers is None else -numbers[0], seconds)
        self._evaluations.append(Evaluation(dict(config), numbers, error, seconds))

    @property
    def result(self) -> OptimizeResult:
        """Return what was told so far."""
        return OptimizeResult(tuple(self._evaluations), self.objectives)

    def _numbers(self, values: Values) -> tuple[float, ...] | None:
        """Return one value for each objective, None if one is missing or not finite."""
        if values is None:
            return None
        if isinstance(values, Mapping):
            missing = [name for name in self.objectives if name not in values]
            if missing:
                raise BadRequest(
                    f"There is no value for {', '.join(map(repr, missing))}, only for {', '.join(map(str, values))}. "
                    "Give one for each objective, and name them in `objectives`."
                )
            values = [values[name] for name in self.objectives]
        found = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if found.shape != (len(self.objectives),):
            raise BadRequest(
                f"{len(self.objectives)} values are needed ({', '.join(self.objectives)}), not {values!r}."
            )
        return tuple(found.tolist()) if np.isfinite(found).all() else None


def _names(objectives: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(objectives, str):
        raise BadRequest(f"The objectives are {objectives!r}. Give a list of names, or how many there are.")
    if isinstance(objectives, int):
        names = ("value",) if objectives == 1 else tuple(f"value {k + 1}" for k in range(objectives))
    else:
        names = tuple(objectives)
    if not 1 <= len(names) <= MOST_OBJECTIVES or len(set(names)) < len(names):
        raise BadRequest(f"There can be 1 to {MOST_OBJECTIVES} objectives with different names, not {objectives!r}.")
    return names
