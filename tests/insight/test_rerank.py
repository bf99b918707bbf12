"""Scores from many predictions at once equal those of the metric itself."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.insight.rerank import Costs, rescored, scores_of_each
from metaml.metrics import METRICS

RNG = np.random.default_rng(0)


def predictions(task: str, n: int = 5, n_rows: int = 90) -> tuple[np.ndarray, np.ndarray]:
    if task == "regression":
        truth = RNG.normal(size=n_rows)
        return truth, (truth + RNG.normal(size=(n, n_rows)))[:, :, np.newaxis].astype(np.float32)
    n_classes = 2 if task == "binary" else 3
    truth = RNG.integers(n_classes, size=n_rows)
    raw = RNG.random((n, n_rows, n_classes)) + np.eye(n_classes)[truth]
    return truth, (raw / raw.sum(axis=2, keepdims=True)).astype(np.float32)


def one(found, truth, prediction):
    given = {
        "labels": prediction.argmax(axis=1),
        "values": prediction[:, 0].astype(float),
        "probabilities": prediction.astype(float),
    }
    return found.function(truth, given[found.needs])


@pytest.mark.parametrize(("name", "task"), [(found.name, task) for found in METRICS.values() for task in found.tasks])
def test_every_metric_is_the_same_for_many_as_for_one(name, task):
    truth, batch = predictions(task)
    found = METRICS[name].on(truth) if task != "regression" else METRICS[name]

    scores = scores_of_each(found, truth, batch)

    assert scores == pytest.approx([one(found, truth, prediction) for prediction in batch], abs=1e-6)


def test_the_mean_over_folds_leaves_out_rows_that_were_not_tested():
    truth, batch = predictions("binary")
    folds = np.arange(90) % 3 - 1  # a third of the rows is in no fold

    scores = rescored(METRICS["accuracy"], truth, folds, batch)

    each = [[(batch[k].argmax(axis=1) == truth)[folds == fold].mean() for fold in (0, 1)] for k in range(5)]
    assert scores == pytest.approx(np.mean(each, axis=1))


def test_a_run_without_all_rows_is_scored_on_those_it_has():
    truth, batch = predictions("binary")
    batch[0, :45] = np.nan

    scores = rescored(METRICS["accuracy"], truth, None, batch)

    assert scores[0] == pytest.approx((batch[0, 45:].argmax(axis=1) == truth[45:]).mean())
    assert scores[1] == pytest.approx((batch[1].argmax(axis=1) == truth).mean())


def test_costs_decide_by_the_least_expected_cost():
    costs = Costs.of({("sick", "healthy"): 10.0}, ["healthy", "sick"])
    batch = np.array([[[0.8, 0.2], [0.95, 0.05]]])

    # 20 % of 10 is more than 80 % of 1, so the first row is treated as sick; 5 % of 10 is less than 95 % of 1.
    assert costs.scores(np.array([1, 0]), batch).tolist() == [0.0]
    assert costs.scores(np.array([0, 1]), batch).tolist() == [-5.5]


def test_costs_of_an_unknown_class_are_refused():
    with pytest.raises(BadRequest, match="Choose among: a, b"):
        Costs.of({("a", "c"): 1.0}, ["a", "b"])
