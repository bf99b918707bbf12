"""The Gaussian process: gradients, interpolation, honest uncertainty, and independence of history."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from metaml.surrogates.gaussian_process import GaussianProcess, _Posterior, _worth_keeping

rng = np.random.default_rng(1)
ROWS = rng.random((30, 4))
SCORES = np.cos(4 * ROWS[:, 0]) + ROWS[:, 1]


def test_the_gradient_of_the_posterior_is_exact():
    process = GaussianProcess()
    centre = process._start(4)
    posterior = _Posterior(ROWS, SCORES - SCORES.mean(), centre, process._spread(4))

    error = check_grad(lambda t: posterior.negative(t)[0], lambda t: posterior.negative(t)[1], centre + 0.3)

    assert error < 1e-5


def test_one_row_has_the_posterior_computed_by_hand():
    process = GaussianProcess(target="raw").fit(np.array([[0.5]]), np.array([3.0]))
    signal, noise = np.exp(process.theta_[-2:])

    at_row = process.predict(np.array([[0.5]]))

    assert at_row.mean[0] == pytest.approx(0.0)
    assert at_row.std[0] ** 2 == pytest.approx(signal - signal**2 / (signal + noise + 1e-6))


def test_uncertainty_grows_away_from_the_rows():
    process = GaussianProcess().fit(ROWS[:, :1] * 0.3, SCORES)

    near, far = process.predict(np.array([[0.15], [1.0]])).std

    assert far > 2 * near


def test_a_smooth_function_is_learnt():
    others = rng.random((200, 4))

    mean = GaussianProcess().fit(ROWS, SCORES).predict(others).mean

    assert np.corrcoef(mean, np.cos(4 * others[:, 0]) + others[:, 1])[0, 1] > 0.95


def test_what_it_learnt_step_by_step_is_what_it_learns_at_once():
    steps = GaussianProcess()
    for n in range(3, 28):
        steps.fit(ROWS[:n], SCORES[:n])

    at_once = GaussianProcess().fit(ROWS[:27], SCORES[:27])

    assert np.array_equal(steps.predict(ROWS).mean, at_once.predict(ROWS).mean)


def test_columns_outside_the_unit_interval_are_scaled():
    plain = GaussianProcess().fit(np.vstack([ROWS, np.zeros(4), np.ones(4)]), np.append(SCORES, [0.5, 0.6]))
    wide = GaussianProcess().fit(100 + 1000 * np.vstack([ROWS, np.zeros(4), np.ones(4)]), np.append(SCORES, [0.5, 0.6]))

    assert np.allclose(plain.predict(ROWS).mean, wide.predict(100 + 1000 * ROWS).mean, atol=1e-6)


def test_too_many_rows_keep_the_best_and_the_latest():
    kept = _worth_keeping(np.array([5.0, 1.0, 9.0, 2.0, 3.0, 4.0]), 4)

    assert kept.tolist() == [0, 2, 4, 5]
