"""The search for a front: a joint space of algorithms, an initial design, and proposals that replay."""

import numpy as np
import pytest

from metaml.encoding import Facts
from metaml.errors import BadRequest
from metaml.evaluation import Outcome
from metaml.search.front_search import FrontSearch
from metaml.search.pareto_optimizer import METHODS
from metaml.spaces import Choice, Float, Space

SPACES = {
    "svm": Space(
        [
            Choice("kernel", ("rbf", "linear"), default="rbf"),
            Float("gamma", 0.01, 10.0, default=1.0, log=True, when=("kernel", ("rbf",))),
        ]
    ),
    "tree": Space([Float("depth", 1.0, 10.0, default=3.0)]),
}


def search_of(**changes):
    options = {"method": "parego", "facts": Facts(100, 5, 2), "seed": 3, **changes}
    return FrontSearch(SPACES, ("roc_auc", "predict_seconds"), **options)


def outcome_of(algorithm, config):
    """Return an outcome: trees are quick, and depth or gamma buys a score for time."""
    size = config.get("depth", 10 * config.get("gamma", 1.0))
    seconds = (1.0 if algorithm == "tree" else 10.0) * size
    return Outcome("ok", 1.0, {"roc_auc": (1 - 1 / (1 + seconds),), "predict_seconds": (-seconds,)})


def run(search, n):
    asked = []
    for left in range(n, 0, -1):
        choice = search.ask(left)
        config = choice.proposal.config
        asked.append((choice.algorithm, config))
        search.tell(choice.algorithm, config, outcome_of(choice.algorithm, config))
    return asked


def test_the_initial_design_and_all_defaults_come_first():
    search = search_of(initial_design=[("tree", {"depth": 7.0})])

    asked = run(search, 3)

    assert asked == [("tree", {"depth": 7.0}), ("svm", SPACES["svm"].default()), ("tree", SPACES["tree"].default())]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_what_was_told_alone_decides_what_is_proposed(method):
    whole = run(search_of(method=method), 14)

    resumed = search_of(method=method)
    for algorithm, config in whole[:9]:
        resumed.resume(algorithm, config, outcome_of(algorithm, config))

    assert run(resumed, 5) == whole[9:]
    assert all(SPACES[algorithm].is_valid(config) for algorithm, config in whole)


def test_an_open_evaluation_is_not_proposed_again_and_can_be_dropped():
    search = search_of()
    first = search.ask()

    second = search.ask()
    search.drop(first.algorithm, first.proposal.config)

    assert (first.algorithm, second.algorithm) == ("svm", "tree")
    assert search.ask().algorithm == "svm"


def test_of_several_operating_points_the_best_for_the_weights_counts():
    search = FrontSearch(SPACES, ("fnr", "fpr"), method="parego", facts=Facts(100, 5, 2))
    curve = {"fnr": (-0.5, -0.1, -0.9), "fpr": (-0.5, -0.9, -0.1)}
    search.tell("tree", {"depth": 2.0}, Outcome("ok", 1.0, curve))
    search.tell("tree", {"depth": 3.0}, Outcome("ok", 1.0, {"fnr": (-0.4,), "fpr": (-0.9,)}))

    few_false_negatives = search.optimizer._norms(np.array([1.0, 0.0]))[0]

    assert few_false_negatives[0] < few_false_negatives[1]
    assert search.optimizer.costs.tolist() == [[0.5, 0.5], [0.4, 0.9]]


def test_a_failed_evaluation_is_no_end():
    search = search_of()

    search.tell("svm", SPACES["svm"].default(), Outcome("failed", 1.0, error="it failed"))

    assert search.ask().algorithm == "tree"
    assert np.isnan(search.optimizer.costs).all()


def test_batches_are_refused():
    with pytest.raises(BadRequest, match="Leave out --schedule"):
        search_of().options(4)
