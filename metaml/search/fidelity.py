"""How much of an evaluation is done at first: a share of the training rows, of the folds, or of the trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.spaces import Config
from metaml.spaces.parameters import Integer
from metaml.splits import FoldPlan
from metaml.splits.smaller import on_fewer_folds, on_fewer_rows

if TYPE_CHECKING:
    from metaml.data import Dataset

FIDELITIES = ("rows", "folds", "trees")
"""What there may be less of. Algorithms that do not say how many trees they grow get fewer rows instead."""
LEAST_ROWS = 500
"""A look at fewer training rows says little of what a model of all rows is like."""
LEAST_TREES = 1 / 64
LOOK_ROWS = 2000
"""Training rows of a look before all of them; where there are not twice as many, there is no look."""


def check_fidelity(name: str) -> None:
    """Raise BadRequest for a fidelity that does not exist."""
    if name not in FIDELITIES:
        raise BadRequest(f"There is no fidelity {name!r}. Choose one of {', '.join(FIDELITIES)}.")


def halved_shares(fidelity: str, plan: FoldPlan, eta: int) -> tuple[float, ...]:
    """Return the shares at which configurations compete: each `eta` times the one before, up to a whole evaluation.

    >>> from metaml.splits import given_plan
    >>> halved_shares("rows", given_plan([0, 1] * 8000), 4), halved_shares("folds", given_plan([0, 1, 2, 3, 4]), 4)
    ((0.0625, 0.25, 1.0), (0.25, 1.0))
    """
    least = {"rows": LEAST_ROWS / plan.n_trained, "folds": 1 / plan.n_folds, "trees": LEAST_TREES}[fidelity]
    shares = [1.0]
    while shares[0] / eta >= least:
        shares.insert(0, shares[0] / eta)
    return tuple(shares)


def look_shares(fidelity: str, plan: FoldPlan) -> tuple[float, ...]:
    """Return the shares of a look at 2,000 training rows, one fold or an eighth of the trees, and of the whole.

    >>> from metaml.splits import given_plan
    >>> look_shares("rows", given_plan([0, 1] * 8000)), look_shares("rows", given_plan([0, 1] * 3000))
    ((0.25, 1.0), (1.0,))
    """
    share = {"rows": LOOK_ROWS / plan.n_trained, "folds": 1 / plan.n_folds, "trees": 1 / 8}[fidelity]
    return (share, 1.0) if share <= 1 / 2 else (1.0,)


def at_share(
    share: float, fidelity: str, algorithm: str, config: Config, plan: FoldPlan, dataset: Dataset
) -> tuple[Config, FoldPlan]:
    """Return the configuration and the fold plan to evaluate where only a share of an evaluation is wanted."""
    if share >= 1.0:
        return config, plan
    if fidelity == "folds":
        return config, on_fewer_folds(plan, max(int(share * plan.n_folds), 1))
    trees = ALGORITHMS[algorithm].trees
    if fidelity == "trees" and trees in config:
        return {**config, trees: _fewer(share, algorithm, trees, config, dataset)}, plan
    n_rows = max(round(share * plan.n_trained), min(LEAST_ROWS, int(plan.n_trained)))
    return config, on_fewer_rows(plan, dataset, n_rows)


def _fewer(share: float, algorithm: str, trees: str, config: Config, dataset: Dataset) -> int:
    """Return the share of the trees of a configuration, at least as many as any has in the space."""
    allowed = next(item for item in ALGORITHMS[algorithm].space(dataset.task).parameters if item.name == trees)
    least = int(allowed.low) if isinstance(allowed, Integer) else 1
    whole = config[trees]
    return max(round(share * whole), least) if isinstance(whole, int) else least
