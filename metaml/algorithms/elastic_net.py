"""Linear models with ridge, lasso or elastic-net penalty: logistic for classes, least squares for numbers."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.base import Algorithm, Matrix, Vector
from metaml.algorithms.fewer_steps import fit_iterations
from metaml.algorithms.preprocessing import encoding_parameters, head_from, imputation_parameter, scaling_parameter
from metaml.algorithms.trusted_classes import TrustedClass
from metaml.spaces import Choice, Float, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of the linear models.

    `alpha` weighs the penalty against the mean loss of a row, as glmnet's lambda does (the random bot's range
    is 2^-10 to 2^10; beyond 10 every coefficient is practically zero on standardised columns).
    """
    parameters: list[Parameter] = [
        Choice("penalty", ("l2", "l1", "elastic_net"), default="l2"),
        Float("l1_ratio", 0.01, 0.99, default=0.5, when=("penalty", ("elastic_net",))),
        Float("alpha", 1e-6, 10.0, default=1e-3, log=True),
    ]
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space([*parameters, imputation_parameter(), scaling_parameter(), *encoding_parameters("one_hot")])


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted linear model for `config`; lasso penalties need the slower solvers."""
    from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge

    from metaml.algorithms.tabular import TabularClassifier, TabularRegressor

    space(task).check(config)
    values: dict[str, Any] = config
    head = head_from(config, seed=seed, precision="float64")
    ratio = {"l2": 0.0, "l1": 1.0}.get(str(config["penalty"]), config.get("l1_ratio"))
    common: dict[str, Any] = {"seed": seed, "n_threads": n_threads, "seconds": seconds}
    if task == "regression":
        if config["penalty"] == "l2":
            # Solved at once, without iterations.
            return TabularRegressor(head, Ridge(), settle=partial(ridge_settings, alpha=values["alpha"]), **common)
        model = ElasticNet(alpha=config["alpha"], l1_ratio=ratio, max_iter=2000, tol=1e-3)
        return TabularRegressor(head, model, train=fit_iterations, **common)
    if config["penalty"] == "l2":
        model = LogisticRegression(max_iter=500)
    else:
        model = LogisticRegression(l1_ratio=ratio, solver="saga", tol=1e-3, max_iter=200, random_state=seed)
    return TabularClassifier(
        head,
        model,
        settle=partial(logistic_settings, alpha=values["alpha"]),
        train=fit_iterations,
        class_weight=config["class_weight"],
        **common,
    )


def ridge_settings(Z: Matrix, y: Vector, total: float, *, alpha: float) -> dict[str, Any]:  # noqa: ARG001
    """Return ridge's own penalty, which weighs against the sum over rows."""
    return {"alpha": alpha * total}


def logistic_settings(Z: Matrix, y: Vector, total: float, *, alpha: float) -> dict[str, Any]:  # noqa: ARG001
    """Return the inverse penalty of logistic regression, which weighs the sum over rows."""
    return {"C": 1.0 / (alpha * total)}


ALGORITHM = Algorithm(
    "elastic_net",
    space,
    build,
    modules=("sklearn.linear_model",),
    first_turn=6,
    first_turn_if_wide=2,
    first_turn_if_slow=3,
    saves=(
        TrustedClass("ElasticNet", "sklearn.linear_model:ElasticNet"),
        TrustedClass("LogisticRegression", "sklearn.linear_model:LogisticRegression"),
        TrustedClass("Ridge", "sklearn.linear_model:Ridge"),
    ),
    is_readable=True,
    reads=lambda model: (np.atleast_2d(model.coef_) != 0).any(axis=0),
)
