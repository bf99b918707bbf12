"""The exact contributions of boosted trees: to the unit of the prediction, by the columns of the table."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.categories import Columns
from metaml.data import from_frame
from metaml.explanation.trees import exact_contributions, is_exact
from metaml.model import fit_member
from tests.model.conftest import table

BOOSTERS = [name for name in ("lightgbm", "xgboost", "catboost") if name in ALGORITHMS]


def fitted(name, task, **changes):
    dataset = from_frame(table(task, n=200), target="y")
    config = {**ALGORITHMS[name].space(task).default(), **changes}
    if config.get("encoding") != "native":
        config.pop("cat_smooth", None)
    return dataset, fit_member(dataset, ALGORITHMS[name], config, seed=0).estimators[0]


def explained(dataset, estimator):
    names = list(dataset.X.columns)
    n_labels = 0 if dataset.labels is None else len(dataset.labels)
    return exact_contributions(estimator, Columns(dataset.X), np.arange(len(names)), names, n_labels)


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_contributions_sum_to_the_prediction(name, task):
    dataset, estimator = fitted(name, task)

    found = explained(dataset, estimator)

    expected = estimator.predict(dataset.X)[:, None] if task == "regression" else estimator.predict_proba(dataset.X)
    assert found.total == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("encoding", ["native", "integer", "one_hot", "impact"])
def test_the_columns_that_decide_get_the_credit_whatever_the_encoding(name, encoding):
    dataset, estimator = fitted(
        name, "regression", encoding=encoding, **({"max_levels": 16} if encoding == "one_hot" else {})
    )

    sizes = np.abs(explained(dataset, estimator).values[:, :, 0]).mean(axis=0)

    assert dataset.X.columns[int(np.argmax(sizes))] == "size"
    assert len(estimator.head_.sources()) == estimator.head_.transform(dataset.X).shape[1]


@pytest.mark.parametrize("name", BOOSTERS)
def test_margins_of_the_library_need_no_correction(name):
    dataset, estimator = fitted(name, "regression")

    parts = estimator.model_.contributions(estimator.head_.transform(dataset.X))

    raw = parts.sum(axis=1)[:, 0] * estimator.std_ + estimator.mean_
    assert raw == pytest.approx(estimator.predict(dataset.X), rel=1e-3)


def test_other_learners_do_not_claim_to_be_exact():
    assert not is_exact(fitted("decision_tree", "binary")[1])
    assert is_exact(fitted("lightgbm", "binary")[1])
