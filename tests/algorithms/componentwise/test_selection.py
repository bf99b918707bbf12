"""Probing and stability selection find the columns that matter among many that do not."""

import numpy as np
import pytest

from metaml.algorithms.componentwise.losses import loss_of
from metaml.algorithms.componentwise.selection import Rows, error_bound, most_per_sample, probe, stability

RELEVANT = {0, 1, 2}


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(150, 200))
    y = 2 * Z[:, 0] - 2 * Z[:, 1] + 2 * Z[:, 2] ** 2 + rng.normal(size=150)
    return Rows(Z, np.zeros(200, dtype=bool), np.ones(150), y[:, None])


def test_probing_finds_lines_and_curves_among_more_columns_than_rows(wide):
    probed = probe(wide, loss_of(None), np.random.default_rng(1))

    selected = set(np.flatnonzero(probed.first))

    assert selected >= RELEVANT
    assert len(selected) <= 8
    assert probed.gain[list(RELEVANT)].min() > max(probed.gain[list(selected - RELEVANT)], default=0.0)


def test_curves_gain_what_lines_cannot(wide):
    lines = probe(wide, loss_of(None), np.random.default_rng(1), curves=False)
    curves = probe(wide, loss_of(None), np.random.default_rng(1))

    assert curves.gain[2] > 10 * lines.gain[2]


def test_stability_selection_keeps_to_its_bound(wide):
    found = stability(wide, loss_of(None), np.random.default_rng(1), n_pairs=10)

    assert set(np.flatnonzero(found.chosen)) == RELEVANT
    assert found.expected_errors <= 1.0


def test_stability_selection_finds_what_separates_classes(wide):
    target = (wide.Z[:, [0]] > 0).astype(float)
    rows = Rows(wide.Z, wide.is_category, wide.weight, target)

    found = stability(rows, loss_of(2), np.random.default_rng(1), n_pairs=5)

    assert np.flatnonzero(found.chosen).tolist() == [0]


def test_it_ends_with_fewer_pairs_when_told_to(wide):
    found = stability(wide, loss_of(None), np.random.default_rng(1), may_go_on=lambda: False)

    assert found.n_pairs == 1


def test_without_a_relevant_column_nothing_is_stable(wide):
    noise = np.random.default_rng(2).normal(size=(150, 1))
    rows = Rows(wide.Z, wide.is_category, wide.weight, noise)

    found = stability(rows, loss_of(None), np.random.default_rng(1), n_pairs=10)

    assert not found.chosen.any()


@pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9, 1.0])
def test_the_bound_grows_with_what_each_half_sample_selects_and_shrinks_with_the_threshold(threshold):
    bounds = [error_bound(n, 100, threshold) for n in range(1, 40)]

    assert bounds == sorted(bounds)
    assert error_bound(10, 100, threshold) <= error_bound(10, 100, 0.55)
    assert error_bound(most_per_sample(100, threshold, 2.0), 100, threshold) <= 2.0
