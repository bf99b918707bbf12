"""The estimators among their kind: what scikit-learn asks of every estimator, and what frames and labels need."""

import pickle
import random

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from metaml import MetaMLClassifier, MetaMLRegressor, open_kb, tune
from metaml.model import load
from metaml_kb.lookup import find_run

FAST = {"algorithms": ("decision_tree",), "folds": 2, "single": True}


# There are some 150 fits.
pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(autouse=True)
def own_kb(tmp_path, monkeypatch):
    """Keep the tests out of the user's own knowledge base."""
    path = tmp_path / "own.db"
    monkeypatch.setenv("METAML_KB", str(path))
    return path


def classifier_of(**changes) -> MetaMLClassifier:
    return MetaMLClassifier(**{**FAST, "iterations": 2, "kb": ":memory:", "random_state": 0, **changes})


def regressor_of(**changes) -> MetaMLRegressor:
    return MetaMLRegressor(**{**FAST, "iterations": 2, "kb": ":memory:", "random_state": 0, **changes})


def customers(n_rows: int = 60) -> tuple[pd.DataFrame, pd.Series]:
    """Return a frame of every kind of column, and words that depend on it."""
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, n_rows).astype(float)
    plan = rng.choice(["basic", "plus"], n_rows)
    y = np.where((age > 45) & (plan == "plus"), "stays", "leaves")
    age[::7] = np.nan
    frame = pd.DataFrame(
        {
            "age": age,
            "plan": plan,
            "region": pd.Categorical(rng.choice(["north", "south", "east"], n_rows)),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D"),
        },
        index=np.arange(1000, 1000 + n_rows),
    )
    return frame, pd.Series(y, index=frame.index, name="churn")


# Some of the checks have a class with one row.
@pytest.mark.filterwarnings("ignore:.*a class with one member:UserWarning")
@parametrize_with_checks(
    [
        MetaMLClassifier(**FAST, iterations=1, kb=":memory:"),
        MetaMLRegressor(**FAST, iterations=1, kb=":memory:"),
    ],
    expected_failed_checks=lambda _: {
        # As for every estimator that cross-validates; with folds that are given, tests/tuning/test_weights.py asks it.
        "check_sample_weight_equivalence_on_dense_data": "folds are drawn of rows, whatever their weight"
    },
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator, check):
    # A check raises where it finds something.
    assert check(estimator) is None


def test_a_frame_is_taken_as_it_is():
    X, y = customers()

    classifier = classifier_of().fit(X, y)

    assert classifier.feature_names_in_.tolist() == ["age", "plan", "region", "since"]
    assert classifier.classes_.tolist() == ["leaves", "stays"]
    assert classifier.score(X, y) > 0.8
    assert any(repair.startswith("since: replaced by") for repair in classifier.repairs_)


def test_new_rows_may_hold_what_training_did_not():
    X, y = customers()
    classifier = classifier_of().fit(X, y)
    new = X.head(3).astype({"region": object}).assign(region=["west", None, "north"], age=np.nan)

    probabilities = classifier.predict_proba(new)

    assert np.allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("dtype", [bool, object])
def test_a_gap_leaves_the_other_truth_values_as_they_are(dtype):
    is_member = pd.Series(np.arange(60) % 3 == 0, dtype=dtype)
    X = pd.DataFrame({"is_member": is_member, "noise": np.arange(60) % 7})
    classifier = classifier_of().fit(X, np.where(is_member, "stays", "leaves"))
    new = X.head(3).assign(is_member=pd.Series([True, False, None], dtype=object))

    assert classifier.predict(new)[:2].tolist() == ["stays", "leaves"]


def test_rows_without_names_are_known_by_their_place():
    X, y = load_iris(return_X_y=True)

    classifier = classifier_of().fit(X, y)

    assert not hasattr(classifier, "feature_names_in_")
    assert classifier.predict(X.tolist()).tolist() == classifier.predict(X).tolist()
    assert classifier.predict(X).dtype == y.dtype


def test_columns_in_another_order_are_refused():
    X, y = customers()
    classifier = classifier_of().fit(X, y)

    with pytest.raises(ValueError, match="same order"):
        classifier.predict(X[["plan", "age", "region", "since"]])


@pytest.mark.parametrize("labels", [["NA", "EU"], [" a", "a"], [True, False], [-1, 7]], ids=str)
def test_labels_come_back_as_they_were(labels):
    X = np.arange(40.0).reshape(20, 2)
    y = np.repeat(np.array(labels), 10)

    classifier = classifier_of().fit(X, y)

    assert classifier.classes_.tolist() == sorted(set(y.tolist()))
    assert classifier.predict(X).tolist() == y.tolist()
    assert classifier.model_.labels.tolist() == classifier.classes_.tolist()


@pytest.mark.parametrize("dtype", ["datetime64[D]", "datetime64[us]", "datetime64[ns]", "timedelta64[h]"])
def test_labels_that_are_moments_or_durations_can_be_saved(dtype, tmp_path):
    X = np.arange(40.0).reshape(20, 2)
    y = np.repeat(np.array([1, 2]).astype(dtype), 10)

    classifier = classifier_of(output=tmp_path).fit(X, y)

    assert (classifier.predict(X) == y).all()
    assert (load(tmp_path).predict(pd.DataFrame(X, columns=["x0", "x1"])) == y).all()


def test_truth_values_are_numbers_to_a_regressor():
    X = np.arange(40.0).reshape(20, 2)
    y = np.repeat([False, True], 10)

    regressor = regressor_of().fit(X, y)

    assert ((regressor.predict(X) > 0.5) == y).all()


def test_a_class_with_one_row_keeps_its_column_of_probabilities():
    X, y = load_iris(return_X_y=True)
    y = np.array(["b", "c", "d"])[y].astype(object)
    y[0] = "a"

    with pytest.warns(UserWarning, match="a class with one member cannot be cross-validated: 'a'"):
        classifier = classifier_of().fit(X, y)

    assert classifier.classes_.tolist() == ["a", "b", "c", "d"]
    assert classifier.predict_proba(X)[:, 0].max() == 0.0
    assert set(classifier.predict(X)) == {"b", "c", "d"}


def test_what_was_found_can_be_looked_at():
    X, y = load_iris(return_X_y=True)

    classifier = classifier_of(iterations=3).fit(X, y)

    assert classifier.leaderboard_["rank"].tolist() == [1, 2, 3]
    assert classifier.leaderboard_["score"].is_monotonic_decreasing
    assert classifier.best_algorithm_ == "decision_tree"
    assert classifier.best_config_ == classifier.leaderboard_["config"][0]
    assert (classifier.metric_, classifier.report_) == ("neg_log_loss", None)
    assert classifier.best_score_ == pytest.approx(classifier.leaderboard_["score"][0])


def test_an_output_folder_holds_model_and_report(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)

    regressor = regressor_of(output=tmp_path / "result").fit(X, y)

    assert regressor.report_.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert load(tmp_path / "result").predict(X).tolist() == regressor.predict(X).tolist()


def test_the_random_state_decides_the_runs():
    X, y = load_diabetes(return_X_y=True)

    boards = [
        regressor_of(random_state=state, iterations=3).fit(X, y).leaderboard_["config"].tolist()
        for state in (1, 1, np.random.RandomState(5), np.random.RandomState(5), 2)
    ]

    assert boards[0] == boards[1]
    assert boards[2] == boards[3]
    assert boards[0] != boards[4]


@pytest.mark.parametrize("state", [None, 0])
def test_fitting_leaves_the_global_generators_alone(state):
    X, y = load_iris(return_X_y=True)
    np.random.seed(7)
    random.seed(7)
    before, plain = np.random.get_state(), random.getstate()

    classifier_of(metric="f1_macro", iterations=3, single=False, random_state=state).fit(X, y).predict(X)

    assert random.getstate() == plain
    assert all(np.array_equal(now, then) for now, then in zip(np.random.get_state(), before, strict=True))


def test_a_fitted_estimator_survives_a_file(tmp_path):
    X, y = customers()
    classifier = classifier_of().fit(X, y)

    joblib.dump(classifier, tmp_path / "classifier.joblib")
    copies = [joblib.load(tmp_path / "classifier.joblib"), pickle.loads(pickle.dumps(classifier))]

    for copy in copies:
        assert np.array_equal(copy.predict_proba(X), classifier.predict_proba(X))
        assert copy.leaderboard_.equals(classifier.leaderboard_)


def test_a_clone_asks_for_the_same_and_knows_nothing():
    classifier = classifier_of(exclude=("svm",)).fit(*load_iris(return_X_y=True))

    copy = clone(classifier)

    assert copy.get_params() == classifier.get_params()
    assert not hasattr(copy, "model_")


def test_a_fit_that_fails_leaves_no_older_model():
    X, y = load_iris(return_X_y=True)
    classifier = classifier_of(iterations=1).fit(X, y)

    with pytest.raises(ValueError, match="only one class"):
        classifier.fit(X, np.zeros(150))

    with pytest.raises(NotFittedError):
        classifier.predict(X)


def test_it_works_in_a_pipeline_that_is_cross_validated():
    X, y = load_iris(return_X_y=True)

    scores = cross_val_score(make_pipeline(StandardScaler(), classifier_of()), X, y, cv=3)

    assert scores.min() > 0.8


def test_runs_go_to_the_users_own_knowledge_base_unless_told_otherwise(own_kb):
    X, y = customers()

    classifier_of(kb=None).fit(X, y)
    tune(X.assign(churn=y), **FAST, iterations=2)

    with open_kb(own_kb) as kb:
        assert kb.datasets()["n_runs"].tolist() == [2]


def test_too_little_time_is_a_warning_and_a_fallback():
    X, y = load_diabetes(return_X_y=True)

    with pytest.warns(ConvergenceWarning, match="give more time"):
        regressor = regressor_of(iterations=None, time_budget=0.05).fit(X, y)

    assert np.isfinite(regressor.predict(X)).all()
    assert (regressor.best_config_, regressor.best_score_) == (None, None)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"algorithms": "forest"}, "no algorithm forest"),
        ({"exclude": ["tree"]}, "no algorithm tree to exclude"),
        ({"metric": "beauty"}, "beauty"),
        ({"metric": "rmse"}, "does not fit"),
        ({"time_budget": "soon"}, "not a duration"),
        ({"time_budget": -1}, "not a duration"),
        ({"iterations": 0}, "0 iterations"),
    ],
)
def test_what_cannot_be_asked_for_is_a_value_error(asked, said):
    with pytest.raises(ValueError, match=said):
        classifier_of(**asked).fit(*load_iris(return_X_y=True))


def test_groups_are_kept_together_and_routed():
    X, y = customers()
    groups = np.arange(len(y)) % 12

    classifier = classifier_of().fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = classifier_of(folds=3).set_fit_request(groups=True)
        scores = cross_validate(routed, X, y, cv=2, params={"groups": groups}, error_score="raise")

    assert set(classifier.model_.schema.columns) == set(classifier_of().fit(X, y).model_.schema.columns)
    assert classifier.report_ is None
    assert len(scores["test_score"]) == 2


def test_a_splitter_and_a_time_column_decide_the_folds(own_kb):
    X, y = customers()

    classifier_of(cv=KFold(3), kb=str(own_kb)).fit(X, y)
    classifier_of(time="since", kb=str(own_kb)).fit(X, y)

    with open_kb(own_kb) as kb:
        strategies = {find_run(kb, key).fold_plan.strategy for key in kb.runs()["run"]}
    assert strategies == {"given", "forward"}


def test_weights_and_groups_are_routed_by_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:60], y[:60]
    groups, weight = np.arange(60) % 6, 1.0 + np.arange(60) % 3
    with config_context(enable_metadata_routing=True):
        regressor = (
            regressor_of().set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        )

        found = cross_validate(
            regressor,
            X,
            y,
            cv=KFold(2),
            params={"sample_weight": weight, "groups": groups},
            return_estimator=True,
        )
    direct = regressor_of().fit(X[30:], y[30:], groups=groups[30:], sample_weight=weight[30:])

    assert found["estimator"][0].best_score_ == direct.best_score_
    assert direct.best_score_ != regressor_of().fit(X[30:], y[30:], groups=groups[30:]).best_score_
