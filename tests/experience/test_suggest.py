"""What to try first on a data set, and why, without running anything."""

import pytest

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.errors import BadRequest
from metaml.experience.suggest import request_for, suggest
from metaml.sources import builtin
from metaml_kb import open_kb
from tests.experienced import WANTED, fill


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


def test_a_request_follows_from_the_data_set(iris):
    request = request_for(iris)

    assert (request.metric, request.task, request.algorithms) == ("neg_log_loss", "multiclass", SEARCHED)
    assert request_for(iris, metric="log_loss", algorithms=["svm"]).algorithms == ("svm",)


@pytest.mark.parametrize(("asked", "says"), [({"metric": "x"}, "metric"), ({"algorithms": ["x"]}, "no algorithm x")])
def test_a_metric_or_an_algorithm_that_does_not_exist_is_refused(iris, asked, says):
    with pytest.raises(BadRequest, match=says):
        request_for(iris, **asked)


@pytest.mark.usefixtures("experience")
def test_suggestions_come_in_order_each_with_its_reasons(experienced, iris):
    found = suggest(experienced, iris, WANTED, n=3)

    assert found.is_known
    assert [row["rank"] for row in found.rows] == [1, 2, 3]
    assert all(ALGORITHMS[row["algorithm"]].space("multiclass").is_valid(row["config"]) for row in found.rows)
    assert all(row["reasons"] and row["carriers"] and row["seconds"] > 0 for row in found.rows)
    assert (found.family, found.n_datasets) == ("classification", 14)


def test_with_too_few_data_sets_nothing_is_suggested(iris):
    with open_kb(":memory:") as kb:
        fill(kb, n_datasets=2)

        found = suggest(kb, iris, WANTED)

    assert not found.is_known
    assert (found.rows, found.n_datasets) == ([], 2)
