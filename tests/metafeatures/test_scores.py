import numpy as np
import pytest

from metaml.metafeatures.scores import error_rate, kappa, weighted_auc


def test_auc_agrees_with_scikit_learn_for_three_classes():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(3), size=90).round(1)
    y = rng.integers(0, 3, 90)
    sizes = np.bincount(y)
    areas = [roc_auc_score(y == k, probabilities[:, k]) for k in range(3)]

    area = weighted_auc(probabilities, y)

    assert area == pytest.approx(np.average(areas, weights=sizes))


def test_kappa_of_always_guessing_the_majority_is_zero():
    probabilities = np.tile([0.9, 0.1], (10, 1))
    y = np.array([0] * 9 + [1])

    assert kappa(probabilities, y) == pytest.approx(0.0)
    assert error_rate(probabilities, y) == pytest.approx(0.1)


def test_auc_of_a_single_class_is_undefined():
    assert np.isnan(weighted_auc(np.ones((3, 1)), np.zeros(3, dtype=np.int64)))
