"""What every objective of a search keeps to: higher is better, and a failed evaluation has no value."""

import math

import numpy as np
import pytest

from metaml.evaluation import METRICS, Outcome
from metaml.pareto import RESOURCES
from metaml.search.objectives import MetricObjective, ResourceObjective

TRUTH = np.tile([0, 1], 150)
FOLDS = np.arange(300) % 3
OBJECTIVES = {
    name: MetricObjective(name, TRUTH, FOLDS) for name, found in METRICS.items() if "binary" in found.tasks
} | {name: MetricObjective(name, TRUTH * 1.0, FOLDS) for name, found in METRICS.items() if "regression" in found.tasks}
every_objective = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)


def outcome_of(objective, error):
    """Return the outcome of predictions that miss the truth by a share."""
    chances = np.column_stack([np.abs(TRUTH - 1 + error), np.abs(TRUTH - error)])
    flipped = np.random.default_rng(0).random(300) < error
    values = np.where(flipped, 1 - TRUTH, TRUTH) + error
    score = 1 - error
    is_numeric = objective.truth.dtype.kind == "f"
    chances[flipped] = chances[flipped][:, ::-1]
    return Outcome(
        "ok", 1.0, {objective.name: (score,) * 3}, folds=(0, 1, 2), predictions=values if is_numeric else chances
    )


@every_objective
def test_a_better_outcome_has_a_higher_value(objective):
    good, poor = outcome_of(objective, 0.1), outcome_of(objective, 0.4)

    assert objective.value(good) > objective.value(poor)


@every_objective
def test_a_failed_evaluation_has_no_value(objective):
    assert math.isnan(objective.value(Outcome("failed", 1.0, error="it failed")))


@every_objective
def test_the_same_outcome_has_the_same_value(objective):
    outcome = outcome_of(objective, 0.2)

    assert objective.value(outcome) == objective.value(outcome)


def test_names_tell_objectives_apart():
    assert all(objective.name == name for name, objective in OBJECTIVES.items())


@pytest.mark.parametrize("name", RESOURCES)
def test_what_takes_less_is_worth_more(name):
    quick = Outcome("ok", 1.0, folds=(0, 1), fit_seconds=1.0, row_seconds=0.001, model_bytes=1000, n_columns_read=2)
    slow = Outcome("ok", 1.0, folds=(0, 1), fit_seconds=2.0, row_seconds=0.002, model_bytes=2000, n_columns_read=3)
    objective = ResourceObjective(name)

    assert objective.value(quick) > objective.value(slow)
    assert math.isnan(objective.value(Outcome("failed", 1.0, error="it failed")))
