"""Curves, thresholds and coverage are those of the field's own definitions."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from metaml.report.evidence import curve_of, interval_coverage, set_coverage, threshold_rows

RNG = np.random.default_rng(0)
TRUTH = RNG.random(2000) < 0.3
CHANCES = np.clip(0.3 + 0.3 * TRUTH + 0.2 * RNG.normal(size=2000), 0, 1).round(2)
FOLDS = np.arange(2000) % 5


def test_areas_are_those_of_scikit_learn_also_with_ties():
    found = curve_of(TRUTH, CHANCES, "yes")

    assert found.auc == pytest.approx(roc_auc_score(TRUTH, CHANCES))
    assert found.average_precision == pytest.approx(average_precision_score(TRUTH, CHANCES))
    assert (found.roc[0], found.roc[-1]) == ((0.0, 0.0), (1.0, 1.0))


def test_thresholds_have_precision_and_recall_and_the_own_one_is_among_them():
    rows = {row.threshold: row for row in threshold_rows(TRUTH, CHANCES, 0.37)}

    assert rows[0.37].precision == pytest.approx(precision_score(TRUTH, CHANCES >= 0.37))
    assert rows[0.37].recall == pytest.approx(recall_score(TRUTH, CHANCES >= 0.37))
    assert 0.5 in rows


def test_intervals_hold_what_was_asked_on_rows_they_were_not_made_from():
    errors = np.abs(RNG.normal(size=2000))

    rows = interval_coverage(errors, np.ones(2000), FOLDS)

    assert [row.held for row in rows] == pytest.approx([row.asked for row in rows], abs=0.02)


def test_sets_hold_at_least_what_was_asked():
    both = np.column_stack([1 - CHANCES, CHANCES])

    rows = set_coverage(both, TRUTH.astype(int), FOLDS)

    assert all(row.held > row.asked - 0.02 for row in rows)
    assert all(1 <= row.width <= 2 for row in rows)


def test_few_rows_leave_out_what_they_cannot_promise():
    rows = interval_coverage(np.arange(10.0), np.ones(10), np.zeros(10))

    assert [row.asked for row in rows] == [0.5, 0.8]
