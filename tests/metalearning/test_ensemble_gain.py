"""What a set of configurations is worth for an ensemble."""

import numpy as np

from metaml.metalearning.ensemble_gain import EnsembleGain, families_of


def test_another_family_adds_more_than_a_slightly_better_sibling():
    families = families_of(["lightgbm", "xgboost", "svm"])
    gain = EnsembleGain(np.array([[0.9, 0.95, 0.7], [0.9, 0.92, 0.6]]), families)

    found = gain.gains([0], np.ones(2))

    assert found[2] > found[1] > 0
    assert found[0] == 0


def test_gains_add_up_to_the_worth_of_the_whole_set():
    levels = np.random.default_rng(0).random((4, 5))
    gain = EnsembleGain(levels, np.array([0, 1, 1, 2, 3]))
    chosen, total = [], 0.0
    for place in range(5):
        total += gain.gains(chosen, np.ones(4))[place]
        chosen.append(place)

    best = np.stack([levels[:, 0], levels[:, 1:3].max(axis=1), levels[:, 3], levels[:, 4]], axis=1)
    top = -np.sort(-best, axis=1)[:, :3]
    assert np.isclose(total, (top @ [0.6, 0.25, 0.15]).mean())


def test_levels_of_similar_data_sets_count_more():
    gain = EnsembleGain(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1]))

    assert gain.gains([], np.array([3.0, 1.0])).argmax() == 0
