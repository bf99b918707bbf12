"""What is computed for a report is right where it can be computed by hand."""

import numpy as np
import pandas as pd

from metaml.budget import Budget
from metaml.report import (
    TrialRow,
    calibration_bins,
    confusion_of,
    feature_importance,
    hyperparameter_importance,
    residual_sample,
)


def accuracy(truth, predicted):
    return float(np.mean(truth == predicted))


def runs(n: int, score) -> list[TrialRow]:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(n):
        config = {"strong": float(rng.random()), "weak": float(rng.random()), "word": str(rng.choice(["a", "b"]))}
        rows.append(
            TrialRow(
                number=number,
                algorithm="svm",
                status="ok",
                origin="random",
                score=score(config),
                seconds=1.0,
                at=float(number),
                config=config,
            )
        )
    return rows


def test_confusion_keeps_classes_that_nobody_predicted():
    found = confusion_of(np.array([0, 0, 1]), np.array([0, 1, -1]), ["a", "b", "c"])

    assert found.labels == ["a", "b", "c"]
    assert found.counts == [[1, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_confusion_of_nothing_is_nothing():
    assert confusion_of(np.array([0]), np.array([-1]), ["a"]) is None


def test_calibration_of_several_classes_is_about_the_predicted_one():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [np.nan] * 3])

    (found,) = calibration_bins(np.array([0, 2, 1]), probabilities)

    assert (round(found.predicted, 6), found.observed, found.n_rows) == (0.7, 0.5, 2)


def test_a_certain_prediction_is_in_the_last_bin():
    found = calibration_bins(np.array([1]), np.array([[0.0, 1.0]]))

    assert [item.n_rows for item in found] == [1]


def test_residuals_are_sampled_and_unpredicted_rows_left_out():
    truth, predicted = np.arange(100.0), np.arange(100.0) + 1
    predicted[:50] = np.nan

    found = residual_sample(truth, predicted, np.random.default_rng(0), most=10)

    assert len(set(found)) == 10
    assert all(pair[1] == pair[0] + 1 and pair[0] >= 50 for pair in found)


def test_the_column_that_the_model_uses_matters_and_the_other_does_not():
    X = pd.DataFrame({"noise": np.tile([0.0, 1.0, 2.0], 40), "word": pd.Categorical(list("ab") * 60)})
    truth = (X["word"] == "b").to_numpy().astype(int)

    def predict(rows):
        assert rows["word"].dtype == X["word"].dtype
        return (rows["word"] == "b").to_numpy().astype(int)

    found = feature_importance(
        [(predict, np.arange(0, 60)), (predict, np.arange(60, 120))],
        X,
        truth,
        accuracy,
        rng=np.random.default_rng(0),
        budget=Budget(None),
    )

    assert [item.column for item in found] == ["word", "noise"]
    assert 0.3 < found[0].mean < 0.7
    assert (found[1].mean, found[1].std) == (0.0, 0.0)


def test_a_budget_too_short_for_all_columns_gives_no_importance():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]})

    found = feature_importance(
        [(lambda rows: np.zeros(len(rows)), np.arange(3))],
        X,
        np.zeros(3),
        accuracy,
        rng=np.random.default_rng(0),
        budget=Budget(0.0),
    )

    assert found == []


def test_the_setting_that_decides_has_the_largest_share():
    found = hyperparameter_importance(runs(60, lambda c: c["strong"] + 0.1 * c["weak"]))

    shares = dict(found["svm"])
    assert next(iter(shares)) == "strong"
    assert shares["strong"] > 0.7
    assert sum(shares.values()) <= 1 + 1e-9


def test_a_word_can_decide_too():
    found = hyperparameter_importance(runs(60, lambda c: float(c["word"] == "a") + 0.01 * c["weak"]))

    assert found["svm"][0][0] == "word"


def test_too_few_runs_or_equal_scores_tell_nothing():
    assert hyperparameter_importance(runs(9, lambda c: c["strong"])) == {}
    assert hyperparameter_importance(runs(30, lambda c: 0.5)) == {}


def test_a_budget_that_is_used_up_gives_no_shares():
    assert hyperparameter_importance(runs(60, lambda c: c["strong"]), budget=Budget(0.0)) == {}


def test_scores_that_settings_do_not_explain_tell_nothing():
    noise = np.random.default_rng(5)

    assert hyperparameter_importance(runs(40, lambda c: float(noise.random()))) == {}
