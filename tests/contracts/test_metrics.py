"""What every registered metric keeps to: its direction, its bounds, and that all its forms give the same score."""

import math

import numpy as np
import pytest

from metaml.data import TASKS
from metaml.metrics import DEFAULT_METRICS, METRICS, display, metric
from metaml.metrics.classification import confusion

PAIRS = [pytest.param(found, task, id=f"{found.name}-{task}") for found in METRICS.values() for task in found.tasks]
every_metric = pytest.mark.parametrize("found", METRICS.values(), ids=METRICS)
every_metric_and_task = pytest.mark.parametrize(("found", "task"), PAIRS)


def truth_of(task, n=90, seed=0):
    rng = np.random.default_rng(seed)
    if task == "regression":
        return rng.normal(size=n)
    return np.append(rng.choice(2 if task == "binary" else 3, size=n - 3), [0, 1, 1])


def predictions_of(task, truth, n=5, seed=1):
    """Predictions from poor to good, in what `all_scores` takes: probabilities whose rows sum to 1, or values."""
    rng = np.random.default_rng(seed)
    if task == "regression":
        return np.stack([truth + rng.normal(size=len(truth)) * scale for scale in np.linspace(3, 0.1, n)])
    right = np.eye(2 if task == "binary" else 3)[truth]
    noise = rng.dirichlet(np.ones(right.shape[1]), size=(n, len(truth)))
    weights = np.linspace(0.1, 0.8, n)[:, None, None]
    return weights * right + (1 - weights) * noise


def given(found, prediction):
    """What a metric is given of a prediction: its labels, or itself."""
    return prediction.argmax(axis=-1) if found.needs == "labels" else prediction


def perfect_and_bad(task, truth):
    if task == "regression":
        return truth, -truth
    n_classes = 2 if task == "binary" else 3
    return np.eye(n_classes)[truth], np.eye(n_classes)[(truth + 1) % n_classes]


def test_names_and_labels_are_unique():
    assert [found.name for found in METRICS.values()] == list(METRICS)
    assert len({found.label.casefold() for found in METRICS.values()}) == len(METRICS)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_default_that_is_a_metric_of_the_task(task):
    assert task in METRICS[DEFAULT_METRICS[task]].tasks


@every_metric
def test_a_loss_may_be_named_without_its_sign_and_is_shown_positive(found):
    assert found.name.startswith("neg_") == found.is_loss
    assert metric(found.name.removeprefix("neg_")) is found
    assert display(found.name, -0.25) == (found.label, 0.25 if found.is_loss else -0.25)


@every_metric_and_task
def test_perfect_predictions_have_the_highest_score_and_the_opposite_a_low_one(found, task):
    truth = truth_of(task)
    perfect, bad = perfect_and_bad(task, truth)

    best, worst = (found.function(truth, given(found, prediction)) for prediction in (perfect, bad))

    assert best == pytest.approx(found.highest, abs=1e-12)
    assert -math.inf < worst < best


@every_metric_and_task
def test_scores_lie_between_the_worst_and_the_best_and_better_predictions_score_higher(found, task):
    truth = truth_of(task)

    scores = [found.function(truth, given(found, prediction)) for prediction in predictions_of(task, truth)]

    assert all(type(score) is float and score <= found.highest for score in scores)
    assert scores[-1] > scores[0]


@every_metric_and_task
def test_only_a_metric_in_the_unit_of_the_target_changes_with_the_unit(found, task):
    if task != "regression":
        assert not found.is_in_target_unit
        return
    truth = truth_of(task)
    prediction = predictions_of(task, truth)[0]

    factor = 1000.0 if found.is_in_target_unit else 1.0

    assert found.function(1000 * truth, 1000 * prediction) == pytest.approx(factor * found.function(truth, prediction))


@every_metric_and_task
def test_only_a_metric_about_probabilities_changes_when_a_model_is_more_sure(found, task):
    if task != "binary":
        assert task != "regression" or not found.is_about_probabilities
        return
    truth = truth_of(task)
    prediction = predictions_of(task, truth)[0]
    surer = prediction**3 / (prediction**3).sum(axis=1, keepdims=True)

    before, after = (found.function(truth, given(found, item)) for item in (prediction, surer))

    assert (before != pytest.approx(after)) == found.is_about_probabilities


@every_metric
def test_accuracy_stands_in_only_for_other_metrics_that_have_its_tasks(found):
    accuracy = METRICS["accuracy"]

    assert not found.accuracy_stands_in or (found is not accuracy and found.tasks == accuracy.tasks)


@every_metric
def test_a_measure_of_openml_has_a_name_of_its_own_and_tasks_of_the_metric(found):
    others = {other.openml_name for other in METRICS.values() if other is not found}

    assert set(found.openml_tasks) <= set(found.tasks)
    assert bool(found.openml_tasks) == bool(found.openml_name)
    assert not found.openml_name or found.openml_name not in others


@every_metric_and_task
def test_a_metric_of_labels_follows_from_counts(found, task):
    assert (found.from_counts is not None) == (found.needs == "labels")
    if found.from_counts is None:
        return
    truth = truth_of(task)
    labels = [prediction.argmax(axis=1) for prediction in predictions_of(task, truth)]
    tables = np.stack([confusion(truth, item) for item in labels])

    scores = found.from_counts(tables)

    assert scores == pytest.approx([found.function(truth, item) for item in labels])


@every_metric_and_task
@pytest.mark.parametrize("has_ties", [False, True])
def test_scores_in_batches_are_the_scores_one_by_one(found, task, has_ties):
    if found.batched is None:
        return
    truth = truth_of(task)
    batch = predictions_of(task, truth)
    if has_ties:
        batch = batch.round(1) + 1e-3
        batch /= batch.sum(axis=-1, keepdims=True)

    scores = found.batched(truth, batch)

    assert scores == pytest.approx([found.function(truth, item) for item in batch])


@every_metric_and_task
def test_a_metric_with_a_positive_class_looks_at_the_rarer_one_of_all_rows(found, task):
    whole = np.repeat([0, 1], [70, 20])
    part = np.repeat([0, 1], [5, 10])
    labels = np.append(part[3:], [0, 1, 1])
    if not found.has_positive_class:
        assert found.on(whole) is found is found.of_class(1)
        return
    assert task == "binary"

    fixed = found.on(whole)

    assert fixed.positive == 1
    assert fixed.on(part) is fixed
    assert fixed.function(part, labels) == found.function(part, labels, positive=1) != found.function(part, labels)
    assert fixed.from_counts(confusion(part, labels)) == pytest.approx(fixed.function(part, labels))


def weights_of(truth, seed=2):
    return np.random.default_rng(seed).integers(1, 4, size=len(truth)).astype(float)


@every_metric_and_task
@pytest.mark.parametrize("has_ties", [False, True])
def test_a_row_of_weight_two_counts_as_two_rows(found, task, has_ties):
    truth = truth_of(task)
    weight = weights_of(truth)
    again = np.repeat(np.arange(len(truth)), weight.astype(int))
    fixed = found.on(truth)
    batch = predictions_of(task, truth)
    batch = batch.round(1) + 1e-3 if has_ties else batch

    for prediction in batch:
        weighted = fixed.function(truth, given(found, prediction), weight)

        assert type(weighted) is float
        assert weighted == pytest.approx(fixed.function(truth[again], given(found, prediction)[again]))


@every_metric_and_task
def test_neither_the_order_of_rows_nor_the_unit_of_weights_matters_nor_do_rows_of_weight_zero(found, task):
    truth, fixed = truth_of(task), found.on(truth_of(task))
    weight = weights_of(truth)
    weight[::7] = 0.0
    used, order = weight > 0, np.random.default_rng(3).permutation(len(truth))
    prediction = given(found, predictions_of(task, truth)[1])
    expected = fixed.function(truth, prediction, weight)

    assert fixed.function(truth[order], prediction[order], weight[order]) == pytest.approx(expected)
    assert fixed.function(truth, prediction, weight / 20) == pytest.approx(expected)
    assert fixed.function(truth[used], prediction[used], weight[used]) == pytest.approx(expected)
    assert fixed.function(truth, prediction, np.ones(len(truth))) == pytest.approx(fixed.function(truth, prediction))


@every_metric_and_task
def test_all_forms_of_a_metric_give_the_same_weighted_score(found, task):
    truth = truth_of(task)
    weight, batch, fixed = weights_of(truth), predictions_of(task, truth), found.on(truth)
    expected = [fixed.function(truth, given(found, item), weight) for item in batch]

    if found.batched is not None:
        assert found.batched(truth, batch, weight) == pytest.approx(expected)
    if fixed.from_counts is not None:
        tables = np.stack([confusion(truth, item.argmax(axis=1), weight) for item in batch])
        assert fixed.from_counts(tables) == pytest.approx(expected)
