"""Losses give boosting their gradient and a start that no constant beats."""

import numpy as np
import pytest

from metaml.algorithms.componentwise.losses import loss_of

CASES = {None: np.array([0.5, -1.0, 2.0, 0.1]), 2: np.array([0, 1, 1, 0]), 3: np.array([0, 1, 2, 1])}


@pytest.mark.parametrize("n_classes", CASES)
def test_the_gradient_is_the_slope_of_the_loss(n_classes):
    loss, target = loss_of(n_classes), loss_of(n_classes).target(CASES[n_classes])
    scores = np.random.default_rng(0).normal(size=(4, len(loss.start(target, np.ones(4)))))
    gradient, curvature = loss.gradient(target, scores)

    for output in range(scores.shape[1]):
        nearby = scores.copy()
        nearby[:, output] += 1e-6
        slope = (loss.of_rows(target, nearby) - loss.of_rows(target, scores)) / 1e-6
        assert -gradient[:, output] == pytest.approx(slope, abs=1e-4)
    assert (curvature > 0).all()


@pytest.mark.parametrize("n_classes", CASES)
def test_at_the_start_the_gradient_is_0_on_average(n_classes):
    loss, target, weight = loss_of(n_classes), loss_of(n_classes).target(CASES[n_classes]), np.array([1.0, 2, 1, 3])

    start = np.tile(loss.start(target, weight), (4, 1))

    assert np.average(loss.gradient(target, start)[0], axis=0, weights=weight) == pytest.approx(0, abs=1e-9)
