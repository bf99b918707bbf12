"""The registry names every algorithm and costs nothing to read."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from metaml.algorithms import ALGORITHMS, check_known
from metaml.errors import BadRequest


def test_every_algorithm_is_registered_under_its_own_name():
    assert all(name == algorithm.name for name, algorithm in ALGORITHMS.items())
    assert {"lightgbm", "random_forest", "svm", "additive"} <= set(ALGORITHMS)


def test_listing_names_and_spaces_imports_no_learning_library():
    code = (
        "import sys; from metaml.algorithms import ALGORITHMS; "
        "[a.space(t).default() for a in ALGORITHMS.values() for t in ('binary', 'multiclass', 'regression')]; "
        "print(*{'sklearn', 'lightgbm', 'xgboost', 'catboost', 'ConfigSpace'} & set(sys.modules))"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == ""


def test_an_algorithm_whose_library_is_missing_names_the_extra_that_brings_it(monkeypatch):
    monkeypatch.delitem(ALGORITHMS, "catboost", raising=False)

    with pytest.raises(BadRequest, match=r"catboost is not installed. Run: pip install 'metaml\[catboost\]'"):
        check_known(["svm", "catboost"])


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("lightgbm", {"objective": "regression", "lambda_l1": 1.0}),
        ("lightgbm", {"objective": "huber", "lambda_l1": 1.0}),
        ("lightgbm", {"objective": "regression_l1", "lambda_l1": 1.0}),
        ("xgboost", {"objective": "reg:squarederror", "gamma": 0.5, "alpha": 1.0}),
        ("xgboost", {"objective": "reg:pseudohubererror", "gamma": 0.5, "alpha": 1.0}),
        ("decision_tree", {"ccp_alpha": 0.01}),
    ],
)
def test_the_unit_of_the_target_does_not_change_what_a_plain_learner_predicts(name, choices):
    X, y = load_diabetes(return_X_y=True)
    config = ALGORITHMS[name].space("regression").default() | choices
    plain = ALGORITHMS[name].plain(config, "regression", X.shape[1])

    def predicted(unit):
        learner = plain.for_target(float(np.std(unit * y)))
        estimator = getattr(import_module(learner.module), learner.kind)(**learner.settings)
        return estimator.fit(X, unit * y).predict(X) / unit

    standardised = predicted(1.0 / float(np.std(y)))
    assert predicted(1e4) == pytest.approx(standardised, rel=0.02)
    assert predicted(1e-3) == pytest.approx(standardised, rel=0.02)
