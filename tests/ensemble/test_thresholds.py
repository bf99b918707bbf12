"""Class thresholds: better where the metric asks for it, left alone where it does not or where nothing is to gain."""

import numpy as np
import pytest

from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.ensemble.thresholds import decide, tune_multipliers
from metaml.evaluation import METRICS


def rare_positives(seed, n, share=0.05):
    """Truth and honest probabilities of a rare class."""
    rng = np.random.default_rng(seed)
    logits = 1.8 * rng.normal(size=n) + np.log(share / (1 - share)) - 1.0
    chance = 1 / (1 + np.exp(-logits))
    return (rng.random(n) < chance).astype(np.int64), np.column_stack([1 - chance, chance])


def rare_classes(seed, n):
    """Truth and honest probabilities of four classes, each rarer than the one before."""
    rng = np.random.default_rng(seed)
    raw = np.exp(1.5 * rng.normal(size=(n, 4)) - np.arange(4.0))
    chances = raw / raw.sum(axis=1, keepdims=True)
    truth = (rng.random(n)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    return np.minimum(truth, 3), chances


def gain(make, metric, seed, n=1500):
    """What tuning on n rows is worth on 20,000 others."""
    truth, chances = make(seed, n)
    new_truth, new_chances = make(seed + 1000, 20_000)
    multipliers = tune_multipliers(chances, truth, metric, seed=seed)
    function = METRICS[metric].function
    return function(new_truth, decide(new_chances, multipliers)) - function(new_truth, decide(new_chances))


def test_rare_positives_get_a_threshold_that_pays_on_new_rows():
    gains = [gain(rare_positives, "f1_macro", seed) for seed in range(5)]

    assert np.mean(gains) >= 0.05
    assert min(gains) >= 0


@pytest.mark.parametrize("metric", ["balanced_accuracy", "kappa"])
def test_other_metrics_of_labels_gain_too(metric):
    assert np.mean([gain(rare_positives, metric, seed) for seed in range(3)]) > 0.05


@pytest.mark.parametrize(("metric", "least"), [("balanced_accuracy", 0.05), ("f1_macro", 0.005)])
def test_many_classes_gain_on_new_rows(metric, least):
    assert gain(rare_classes, metric, seed=1, n=2000) > least


@pytest.mark.parametrize("make", [rare_positives, rare_classes])
def test_accuracy_of_honest_probabilities_is_left_alone(make):
    gains = [gain(make, "accuracy", seed, n=300) for seed in range(2)]

    assert min(gains) > -0.005


def test_annealed_factors_must_beat_what_was_accepted_before_them():
    truth, chances = rare_classes(11, 160)

    # The line by frequencies is refused here; annealed factors beat it, but not equal ones.
    assert tune_multipliers(chances, truth, "f1_macro", seed=11).tolist() == [1.0] * 4


def test_probabilities_without_information_move_the_line_little():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet([1, 1], size=200)

    multipliers = tune_multipliers(chances, rng.integers(2, size=200), "f1_macro")

    assert multipliers.min() > 0.7


@pytest.mark.parametrize("make", [rare_positives, rare_classes])
def test_a_line_that_is_right_already_stays_where_it_is(make):
    truth, chances = make(0, 400)
    certain = 0.9 * np.eye(chances.shape[1])[truth] + 0.1 / chances.shape[1]

    multipliers = tune_multipliers(certain, truth, "f1_macro")

    assert multipliers.tolist() == [1.0] * chances.shape[1]


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss", "neg_brier"])
def test_metrics_of_probabilities_have_no_thresholds(metric):
    truth, chances = rare_positives(0, 500)

    assert not depends_on_thresholds(metric)
    assert tune_multipliers(chances, truth, metric).tolist() == [1.0, 1.0]


def test_few_rows_and_single_classes_are_left_alone():
    truth, chances = rare_positives(0, 500)

    assert tune_multipliers(chances[:20], truth[:20], "f1_macro").tolist() == [1.0, 1.0]
    assert tune_multipliers(chances, np.zeros(500, dtype=int), "f1_macro").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("positive", [0, 1])
def test_f1_moves_the_line_for_the_class_that_is_rarer_in_all_rows(positive):
    rng = np.random.default_rng(0)
    truth = np.append(np.repeat([0, 1], 500), np.full(10, 1 - positive))
    chances = np.vstack([rng.dirichlet([9, 9], size=1000), np.full((10, 2), np.nan)])

    multipliers = tune_multipliers(chances, truth, "f1")

    assert multipliers[positive] == 1.0 > multipliers[1 - positive]


def test_rows_that_were_not_tested_do_not_count():
    truth, chances = rare_positives(1, 1500)
    holes = np.vstack([chances, np.full((50, 2), np.nan)]).astype(np.float32)

    multipliers = tune_multipliers(holes, np.append(truth, np.ones(50, dtype=int)), "f1_macro")

    assert multipliers.tolist() == tune_multipliers(chances.astype(np.float32), truth, "f1_macro").tolist()


@pytest.mark.parametrize("make", [rare_positives, rare_classes])
def test_the_seed_decides(make):
    truth, chances = make(2, 200)
    state = np.random.get_state()[1].tolist()

    first, again = (tune_multipliers(chances, truth, "balanced_accuracy", seed=7) for _ in range(2))

    assert np.array_equal(first, again)
    assert first.max() == 1.0
    assert np.random.get_state()[1].tolist() == state
