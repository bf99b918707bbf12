"""What an evaluation is worth: its score after thresholds, which other rows than those it is taken on decide."""

import numpy as np
import pytest

from metaml.ensemble.threshold_scores import best_line, judge, lines_between, scores_of, threshold_score
from metaml.ensemble.thresholds import decide
from metaml.evaluation import METRICS, Outcome
from tests.ensemble.test_thresholds import rare_classes, rare_positives

OF_LABELS = [name for name, metric in METRICS.items() if metric.needs == "labels"]
MAKERS = {2: rare_positives, 4: rare_classes}
CASES = [(name, n) for name in OF_LABELS for n in MAKERS if (name, n) != ("f1", 4)]


def problem(n_classes, seed=0, n=1000):
    truth, chances = MAKERS[n_classes](seed, n)
    return truth, chances, np.arange(n) % 5


def plain_score(chances, truth, folds, name):
    return np.mean([METRICS[name].function(truth[folds == k], decide(chances[folds == k])) for k in range(5)])


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_a_table_has_the_score_of_the_labels_that_it_counts(name, n_classes):
    truth, chances, folds = problem(n_classes)
    lines = lines_between(chances, truth, folds)

    for line in range(0, len(lines.logs), 7):
        inside = folds == line % 5
        labels = decide(chances[inside], np.exp(lines.logs[line]))
        expected = METRICS[name].function(truth[inside], labels)
        assert scores_of(name, lines.tables[line, line % 5]) == pytest.approx(expected, nan_ok=True)


def test_a_metric_that_a_table_does_not_define_is_nan():
    empty = np.zeros((2, 2))
    one_class = np.array([[5.0, 0.0], [0.0, 0.0]])

    assert all(np.isnan(scores_of(name, empty)) for name in OF_LABELS)
    assert np.isnan(scores_of("f1", one_class))
    assert np.isnan(scores_of("kappa", one_class))


@pytest.mark.parametrize("n_classes", MAKERS)
def test_it_counts_what_a_better_line_gains(n_classes):
    truth, chances, folds = problem(n_classes, n=2000)

    judged = judge(chances, truth, folds, "balanced_accuracy")

    assert judged > plain_score(chances, truth, folds, "balanced_accuracy") + 0.05


def test_it_hardly_depends_on_a_warped_scale():
    truth, chances, folds = problem(2, n=2000)
    warped = np.column_stack([1 - chances[:, 1] ** 0.5, chances[:, 1] ** 0.5])

    first, second = (judge(values, truth, folds, "f1") for values in (chances, warped))

    assert first == pytest.approx(second, abs=0.03)
    assert plain_score(warped, truth, folds, "f1") > plain_score(chances, truth, folds, "f1") + 0.1


def test_it_promises_what_new_rows_hold():
    gaps = []
    for seed in range(12):
        truth, chances, folds = problem(2, seed, n=600)
        new_truth, new_chances = rare_positives(seed + 100, 20_000)
        lines = lines_between(chances, truth)
        line = lines.logs[best_line(lines.logs, lines.tables[:, 0], "kappa")]
        held = METRICS["kappa"].function(new_truth, decide(new_chances, np.exp(line)))
        gaps.append(judge(chances, truth, folds, "kappa") - held)

    assert np.mean(gaps) < 0.02


def test_the_rows_of_a_fold_do_not_draw_their_own_line():
    truth, chances, folds = problem(2)
    first = folds == 0
    turned = chances.copy()
    turned[first] = turned[first][:, ::-1]
    lines = lines_between(turned, truth, folds)
    others = lines.tables[:, 1:].sum(axis=1)

    chosen = best_line(lines.logs, lines.tables.sum(axis=1) - lines.tables[:, 0], "f1")

    assert chosen == best_line(lines.logs, others, "f1")


@pytest.mark.parametrize("n_classes", MAKERS)
def test_rows_that_were_not_tested_do_not_count(n_classes):
    truth, chances, folds = problem(n_classes)
    holes = np.vstack([chances, np.full((50, n_classes), np.nan)])

    judged = judge(holes, np.append(truth, [1] * 50), np.append(folds, [-1] * 50), "f1_macro")

    assert judged == judge(chances, truth, folds, "f1_macro")


def test_only_complete_evaluations_by_metrics_of_labels_are_judged():
    truth, chances, folds = problem(2)
    scores = {"f1": (0.1,) * 5, "roc_auc": (0.2,) * 5}
    known = Outcome("ok", 1.0, scores, folds=tuple(range(5)), predictions=chances.astype(np.float32))
    partial = Outcome("partial", 1.0, {"f1": (0.1, 0.1)}, folds=(0, 1), predictions=chances)
    unknown = Outcome("ok", 1.0, scores, folds=tuple(range(5)))

    assert threshold_score(known, truth, folds, "f1") == judge(known.predictions, truth, folds, "f1") > 0.1
    assert threshold_score(known, truth, folds, "roc_auc") == 0.2
    assert threshold_score(partial, truth, folds, "f1") == 0.1
    assert threshold_score(unknown, truth, folds, "f1") == 0.1
    assert np.isnan(threshold_score(Outcome("failed", 1.0), truth, folds, "f1"))


@pytest.mark.parametrize("n_times", [1, 20])
def test_f1_looks_at_the_same_class_in_every_fold(n_times):
    truth = np.repeat(np.tile([0, 1, 0, 1], n_times), np.tile([4, 6, 8, 5], n_times))
    folds = np.repeat(np.tile([0, 1], n_times), np.tile([10, 13], n_times))
    always_second = np.tile([0.1, 0.9], (len(truth), 1))

    judged = judge(always_second, truth, folds, "f1")

    assert judged == pytest.approx(np.mean([2 * 6 / (6 + 10), 2 * 5 / (5 + 13)]))


def test_rows_that_were_not_tested_have_a_say_in_which_class_f1_looks_at():
    truth = np.append(np.tile([0, 0, 1, 1, 1], 2), np.zeros(20, dtype=int))
    folds = np.repeat([0, 1, -1], [5, 5, 20])
    always_second = np.where((folds < 0)[:, None], np.nan, np.tile([0.1, 0.9], (30, 1)))

    assert judge(always_second, truth, folds, "f1") > 0


def test_few_rows_of_a_class_count_as_they_are():
    rng = np.random.default_rng(0)
    truth = (np.arange(1000) % 20 == 0).astype(int)
    second = np.clip(0.1 + 0.3 * truth + 0.05 * rng.normal(size=1000), 0.0, 1.0)
    chances, folds = np.column_stack([1 - second, second]), np.arange(1000) // 200

    assert truth.sum() == 50
    assert judge(chances, truth, folds, "f1") == 0.0
    assert judge(np.tile(chances, (3, 1)), np.tile(truth, 3), np.tile(folds, 3), "f1") > 0.9


def test_rows_that_were_held_out_together_are_judged_in_parts():
    rng = np.random.default_rng(0)
    truth = (rng.random(2000) < 0.1).astype(int)
    second = np.clip(0.1 + 0.3 * truth + 0.05 * rng.normal(size=2000), 0.0, 1.0)
    chances = np.column_stack([1 - second, second])

    assert judge(chances, truth, np.zeros(2000), "f1") > 0.9
