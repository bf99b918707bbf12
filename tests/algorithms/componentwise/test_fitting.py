"""Boosting moves one effect at a time, and stops for a shadow."""

import numpy as np

from metaml.algorithms.componentwise.fitting import Ensemble


def ensemble(Z, **settings):
    return Ensemble(Z, np.zeros(Z.shape[1], dtype=bool), np.ones(len(Z)), np.zeros(1), **settings)


def test_the_scores_are_the_sum_of_the_effects():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(100, 3))
    growing = ensemble(Z)
    for _ in range(20):
        step = growing.best(Z[:, [0]] ** 2 - growing.scores)
        growing.take(0.3 * step.values, growing.term_of(step))

    total = sum(effect.values[effect.term.codes(Z)] for effect in growing.effects(growing.totals))

    assert np.allclose(total, growing.scores)


def test_a_shadow_that_fits_better_ends_the_search():
    rng = np.random.default_rng(0)
    Z, noise = rng.normal(size=(100, 20)), rng.normal(size=(100, 1))
    growing = ensemble(Z, shadows=np.random.default_rng(1))

    n_steps = 0
    while not growing.is_shadow(step := growing.best(noise - growing.scores)) and n_steps < 500:
        growing.take(0.1 * step.values, growing.term_of(step))
        n_steps += 1

    assert n_steps < 100


def test_pairs_compete_once_they_are_added():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 4))
    y = np.sign(Z[:, [0]] * Z[:, [1]]) + 0.1 * Z[:, [0]] + 0.1 * Z[:, [1]]
    growing = ensemble(Z)
    for _ in range(30):
        step = growing.best(y - growing.scores)
        growing.take(0.1 * step.values, growing.term_of(step))

    growing.add_pairs(y - growing.scores, 1)
    step = growing.best(y - growing.scores)

    assert growing.terms[growing.term_of(step)].columns == (0, 1)
