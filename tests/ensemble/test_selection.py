"""Greedy ensemble selection: never worse than the best, no larger than needed, blind to rows without predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.ensemble.threshold_scores import judge
from metaml.errors import BadRequest
from metaml.evaluation import METRICS

FOLDS = np.arange(300) % 5


def classes(n_classes, n_candidates=8, n=300, seed=0):
    """Truth and noisy out-of-fold probabilities of unequal quality, as float32."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    strengths = rng.uniform(0.3, 2.0, size=n_candidates)
    raw = np.exp(strengths[:, None, None] * np.eye(n_classes)[truth] + rng.gumbel(size=(n_candidates, n, n_classes)))
    return truth, list((raw / raw.sum(axis=2, keepdims=True)).astype(np.float32))


def values(n_candidates=8, n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth, [truth + rng.uniform(0.5, 2) * rng.normal(size=n) for _ in range(n_candidates)]


def problem(name, seed=0):
    if METRICS[name].tasks == ("regression",):
        return values(seed=seed)
    return classes(2 + seed % 2, seed=seed)


@pytest.mark.parametrize("folds", [None, FOLDS], ids=["pooled", "by fold"])
@pytest.mark.parametrize("name", METRICS)
def test_independent_errors_make_an_ensemble_better_than_its_best_member(name, folds):
    truth, predictions = problem(name)

    weights = select(predictions, truth, name, folds=folds)

    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    assert (weights > 0).sum() > 1
    best = max(score(prediction, truth, name, folds=folds) for prediction in predictions)
    assert score(combine(predictions, weights), truth, name, folds=folds) > best


def test_for_labels_it_is_never_worse_after_thresholds_than_the_best_candidate_after_thresholds():
    for seed in range(6):
        truth, predictions = classes(2 + seed % 2, seed=seed)
        singles = [judge(prediction, truth, FOLDS, "f1_macro") for prediction in predictions]

        weights = select(predictions, truth, "f1_macro", folds=FOLDS)

        assert judge(combine(predictions, weights), truth, FOLDS, "f1_macro") >= max(singles)


@given(st.sampled_from(sorted(METRICS)), st.integers(0, 10_000), st.integers(6, 25), st.integers(1, 6))
def test_it_is_never_worse_than_the_best_candidate(name, seed, n, n_candidates):
    make = values if METRICS[name].tasks == ("regression",) else lambda *a, **k: classes(2 + seed % 2, *a, **k)
    truth, predictions = make(n_candidates=n_candidates, n=n, seed=seed)
    singles = [score(prediction, truth, name) for prediction in predictions]
    if np.isnan(singles).all():
        return

    weights = select(predictions, truth, name)

    assert score(combine(predictions, weights), truth, name) >= np.nanmax(singles)


def test_a_score_by_fold_is_the_mean_over_folds_that_define_it():
    truth, (prediction, *_) = classes(2, n=10)
    truth[:5] = 1
    folds = np.repeat([0, 1], 5)

    found = score(prediction, truth, "roc_auc", folds=folds)

    assert found == pytest.approx(METRICS["roc_auc"].function(truth[5:], prediction[5:]))


@pytest.mark.parametrize("folds", [None, np.repeat([0, 1, -1], [5, 5, 20])], ids=["pooled", "by fold"])
def test_f1_looks_at_the_class_that_is_rarer_in_all_rows(folds):
    truth = np.repeat([0, 1, 0], [4, 6, 20])
    always_second = np.where((np.arange(30) < 10)[:, None], np.tile([0.1, 0.9], (30, 1)), np.nan)

    assert score(always_second, truth, "f1", folds=folds) > 0
    assert score(always_second[:10], truth[:10], "f1") == 0
    assert score(always_second[:10], truth[:10], "f1", y=truth) > 0


def test_equal_candidates_give_one_member():
    truth, (first, *_) = classes(3)

    weights = select([first, first.copy(), first.copy()], truth, "neg_log_loss")

    assert weights.tolist() == [1.0, 0.0, 0.0]


def test_the_best_stays_alone_where_nobody_helps():
    truth = np.array([0, 1] * 20)
    perfect = np.eye(2)[truth]

    weights = select([np.full((40, 2), 0.5), perfect, 1 - perfect], truth, "accuracy")

    assert weights.tolist() == [0.0, 1.0, 0.0]


def test_rows_that_were_not_tested_do_not_count():
    truth, predictions = classes(3)
    holes = [prediction.copy() for prediction in predictions]
    for prediction in holes:
        prediction[200:] = np.nan

    weights = select(holes, truth, "neg_log_loss", folds=FOLDS)

    expected = select([prediction[:200] for prediction in predictions], truth[:200], "neg_log_loss", folds=FOLDS[:200])
    assert weights == pytest.approx(expected)


def test_more_rows_than_are_looked_at_still_decide_in_the_end(monkeypatch):
    monkeypatch.setattr("metaml.ensemble.selection.MOST_ROWS", 40)
    truth, predictions = values()

    first, again = (select(predictions, truth, "neg_rmse", seed=3) for _ in range(2))

    assert np.array_equal(first, again)
    best = max(score(prediction, truth, "neg_rmse") for prediction in predictions)
    assert score(combine(predictions, first), truth, "neg_rmse") >= best


def test_a_start_with_several_members_is_dropped_where_it_does_not_pay():
    truth = np.array([0, 1] * 20)
    perfect = np.eye(2)[truth]

    weights = select([perfect, 1 - perfect, 1 - perfect], truth, "neg_log_loss", n_init=3)

    assert weights.tolist() == [1.0, 0.0, 0.0]


def test_candidates_without_a_common_row_are_refused():
    first, second = np.array([1.0, np.nan]), np.array([np.nan, 1.0])

    with pytest.raises(BadRequest, match="No row was predicted by every candidate"):
        select([first, second], np.array([1.0, 2.0]), "neg_rmse")
    with pytest.raises(BadRequest, match="no candidate"):
        select([], np.array([1.0, 2.0]), "neg_rmse")
