"""Families have the likelihood, the slopes and the quantiles of the distributions that scipy knows."""

import numpy as np
import pytest
from scipy import stats

from metaml.algorithms.componentwise.families import FAMILIES, family_for, family_named

Y = np.array([1.0, 4.0, 2.0, 7.0, 3.0])
SCORES = np.column_stack([np.array([0.5, 1.0, 1.5, 1.2, 0.1]), np.array([0.2, -0.5, 0.0, 0.4, -1.0])])


def known(name):
    first, second = SCORES.T
    if name == "gamma":
        return stats.gamma(np.exp(second), scale=np.exp(first - second))
    if name == "negative_binomial":
        size = np.exp(-second)
        return stats.nbinom(size, size / (size + np.exp(first)))
    return stats.norm(first, np.exp(second))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_loss_is_the_negative_log_likelihood_up_to_a_constant(name):
    family, found = family_named(name), known(name)
    likelihood = found.logpmf(Y) if name == "negative_binomial" else found.logpdf(Y)

    apart = family.of_rows(Y[:, None], SCORES) + likelihood

    assert apart == pytest.approx(np.full(5, apart[0]))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_gradient_is_the_slope_of_the_likelihood(name):
    family = family_named(name)
    gradient, curvature = family.gradient(Y[:, None], SCORES)

    for output in (0, 1):
        nearby = SCORES.copy()
        nearby[:, output] += 1e-6
        slope = (family.of_rows(Y[:, None], nearby) - family.of_rows(Y[:, None], SCORES)) / 1e-6
        assert -gradient[:, output] == pytest.approx(slope, abs=1e-4)
    assert (curvature > 0).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_means_and_quantiles_are_those_of_the_distribution(name):
    family, found = family_named(name), known(name)

    assert family.mean(SCORES) == pytest.approx(found.mean())
    for level in (0.05, 0.5, 0.95):
        assert family.quantile(SCORES, level) == pytest.approx(found.ppf(level))


@pytest.mark.parametrize(
    ("name", "y", "used"),
    [
        ("gamma", [1.0, 2.0], "gamma"),
        ("gamma", [0.0, 2.0], "gaussian"),
        ("log_normal", [-1.0, 2.0], "gaussian"),
        ("negative_binomial", [0.0, 2.0], "negative_binomial"),
        ("negative_binomial", [0.5, 2.0], "gaussian"),
    ],
)
def test_a_family_that_does_not_allow_for_the_target_is_replaced(name, y, used):
    assert family_for(name, np.array(y)) == used
