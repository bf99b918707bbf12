"""The guard: experience that misleads is switched off."""

import numpy as np
import pytest

from metaml.metalearning.guard import Guard


def test_guard_waits_for_five_evaluations():
    guard = Guard()

    assert guard.judge(np.arange(4.0), -np.arange(4.0))
    assert not guard.judge(np.arange(5.0), -np.arange(5.0))


def test_guard_is_lenient_with_five_evaluations():
    guard = Guard()

    # Five concordant and five discordant pairs.
    trusted = guard.judge(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([3.0, 1.0, 5.0, 2.0, 2.5]))

    assert guard.tau == pytest.approx(0.0)
    assert trusted


def test_guard_wants_more_than_chance_from_ten_evaluations_on():
    guard = Guard()
    # Twelve values, each half falling: 30 of 66 pairs are discordant within, 36 concordant between; then reversed.
    predicted = np.arange(12.0)
    observed = np.array([5.0, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6])

    assert guard.judge(predicted, observed)
    assert guard.tau == pytest.approx(6 / 66)
    assert not guard.judge(predicted, -observed)


def test_guard_trusts_again_when_the_correlation_returns():
    guard = Guard()
    guard.judge(np.arange(5.0), -np.arange(5.0))

    guard.judge(np.arange(6.0), np.arange(6.0))

    assert [verdict.is_trusted for verdict in guard.verdicts] == [False, True]
    assert [verdict.n_evaluations for verdict in guard.verdicts] == [5, 6]


def test_equal_scores_are_no_evidence_against_the_prior():
    assert Guard().judge(np.arange(6.0), np.ones(6))


def test_failed_evaluations_are_no_evidence():
    observed = np.array([1.0, 2.0, np.nan, np.nan, np.nan])

    assert Guard().judge(-np.arange(5.0), observed)
