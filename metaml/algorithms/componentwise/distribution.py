"""The distribution of a number: mean and spread as sums of effects of columns, boosted one parameter at a time.

Thomas (2019), ch. 7: noncyclical component-wise boosting of location and scale. The model predicts the mean and, by
`predict_quantiles`, any quantile.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from metaml.algorithms.base import Algorithm
from metaml.algorithms.boosting import REFIT, stopping_parameters
from metaml.algorithms.componentwise.additive import make_model
from metaml.algorithms.componentwise.effects import SAVED
from metaml.algorithms.componentwise.families import FAMILIES
from metaml.algorithms.preprocessing import Head
from metaml.algorithms.trusted_classes import ESTIMATOR, State, TrustedClass, filled
from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from metaml.algorithms.componentwise.additive import AdditiveModel
    from metaml.algorithms.componentwise.distribution_regressor import DistributionRegressor
    from metaml.data import Task


@cache
def space(task: Task) -> Space:  # noqa: ARG001 - it serves one task only
    """Return the space of distributions. A family that does not allow for the target is replaced by the Gaussian."""
    return Space(
        [
            Choice("family", FAMILIES, default="gaussian"),
            Float("learning_rate", 0.02, 0.5, default=0.1, log=True),
            Choice("effects", ("lines", "curves"), default="curves"),
            Choice("columns", ("all", "probing", "stability"), default="all"),
            *stopping_parameters(patience=(5, 200, 100)),
        ]
    )


def build(
    config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None
) -> DistributionRegressor:
    """Return an unfitted distribution for `config`."""
    from metaml.algorithms.componentwise.distribution_regressor import DistributionModel, DistributionRegressor

    if task != "regression":
        raise BadRequest(f"The algorithm distribution is for numbers, but the target is {task}. Leave it out.")
    space(task).check(config)
    values: dict[str, Any] = config
    head = Head(encoding="native", precision="float64", seed=seed)
    model = DistributionModel(config, seed=seed, n_threads=n_threads)
    return DistributionRegressor(
        head,
        model,
        holdout=values["validation_fraction"],
        refit=values[REFIT],
        seed=seed,
        n_threads=n_threads,
        seconds=seconds,
    )


def _make_regressor(kind: type, state: State) -> DistributionRegressor:
    """Return a regressor of a file whose family is known."""
    if state["family_"] not in FAMILIES:
        raise ValueError("a distribution is of no known family")
    item: DistributionRegressor = filled(kind, state)
    return item


def _make_distribution(kind: type, state: State) -> AdditiveModel:
    """Return a model of a file with two scores and a family that is known."""
    if state["family_"] not in FAMILIES or state["intercept_"].shape != (2,):
        raise ValueError("a distribution has other parameters than it says")
    return make_model(kind, state)


ALGORITHM = Algorithm(
    "distribution",
    space,
    build,
    modules=("sklearn.preprocessing", "scipy.stats"),
    saves=(
        *SAVED,
        ESTIMATOR(
            "DistributionRegressor",
            "metaml.algorithms.componentwise.distribution_regressor:DistributionRegressor",
            make=_make_regressor,
        ),
        TrustedClass(
            "distribution",
            "metaml.algorithms.componentwise.distribution_regressor:DistributionModel",
            make=_make_distribution,
        ),
    ),
    stacks=False,
    least_budget=None,
    tasks=("regression",),
)
