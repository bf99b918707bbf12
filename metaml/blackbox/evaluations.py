"""What an optimisation gives back: all evaluations, the best one, and the front of several objectives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from metaml.errors import BadRequest
from metaml.pareto import is_non_dominated, knee
from metaml.spaces.config import Config

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Evaluation:
    """A configuration, its value for each objective (lower is better), or why it has none, and its seconds."""

    config: Config
    values: tuple[float, ...] | None
    error: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class OptimizeResult:
    """What an optimisation found.

    - `evaluations`: all of them, in their order.
    - `objectives`: the names of what was minimised.

    >>> tried = (Evaluation({"x": 1}, (1.0, 4.0)), Evaluation({"x": 2}, (4.0, 1.0)), Evaluation({"x": 3}, (5.0, 5.0)))
    >>> result = OptimizeResult(tried, ("loss", "seconds"))
    >>> [evaluation.config["x"] for evaluation in result.front], result.best in tried[:2]
    ([1, 2], True)
    >>> result.frame()["on_front"].tolist()
    [True, True, False]
    """

    evaluations: tuple[Evaluation, ...]
    objectives: tuple[str, ...]

    @property
    def front(self) -> tuple[Evaluation, ...]:
        """Return the evaluations that no other one dominates, by the first objective."""
        worked = [evaluation for evaluation in self.evaluations if evaluation.values is not None]
        costs = np.array([evaluation.values for evaluation in worked], dtype=np.float64)
        costs = costs.reshape(len(worked), len(self.objectives))
        kept = [one for one, flag in zip(worked, is_non_dominated(costs), strict=True) if flag]
        return tuple(sorted(kept, key=lambda evaluation: evaluation.values or ()))

    @property
    def best(self) -> Evaluation:
        """Return the best evaluation; of several objectives, the compromise nearest to the best of each.

        Raises `BadRequest` if no evaluation worked.
        """
        front = self.front
        if not front:
            raise BadRequest("No evaluation worked, so none is best. The field error of each says why.")
        return front[knee(np.array([evaluation.values for evaluation in front], dtype=np.float64))]

    def frame(self) -> "pd.DataFrame":
        """Return the evaluations as a table: parameters, objectives, whether they are on the front."""
        import pandas as pd

        front = {id(evaluation) for evaluation in self.front}
        rows: list[Mapping[str, object]] = [
            {
                **evaluation.config,
                **dict(zip(self.objectives, evaluation.values or (np.nan,) * len(self.objectives), strict=True)),
                "on_front": id(evaluation) in front,
            }
            for evaluation in self.evaluations
        ]
        return pd.DataFrame(rows)
