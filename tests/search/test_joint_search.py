"""One surrogate over the spaces of several algorithms."""

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.encoding import Facts
from metaml.search.joint_search import JointSearch
from tests.search.told import Told

SPACES = {name: ALGORITHMS[name].space("binary") for name in ("decision_tree", "k_neighbors")}


def search_of(strategy="forest", **options):
    return JointSearch(SPACES, strategy, facts=Facts(100, 5, 2), metric="accuracy", **options)


def outcome_of(algorithm):
    return Told(scores={"accuracy": (0.9,) if algorithm == "k_neighbors" else (0.5,)})


def test_the_initial_design_and_the_defaults_come_first():
    design = [("k_neighbors", {**SPACES["k_neighbors"].default(), "n_neighbors": 7})]
    search = search_of(initial_design=design)

    first = [search.ask() for _ in range(3)]

    assert [choice.algorithm for choice in first] == ["k_neighbors", "decision_tree", "k_neighbors"]
    assert first[0].proposal.config["n_neighbors"] == 7
    assert not search.is_in_initial_design


@pytest.mark.parametrize("strategy", ["forest", "gbqr+constant_liar", "default"])
def test_the_better_algorithm_gets_more_evaluations_without_a_bandit(strategy):
    search = search_of(strategy)

    chosen = []
    for _ in range(14):
        choice = search.ask()
        assert SPACES[choice.algorithm].is_valid(choice.proposal.config)
        search.tell(choice.algorithm, choice.proposal.config, outcome_of(choice.algorithm))
        chosen.append(choice.algorithm)

    assert chosen[5:].count("k_neighbors") > chosen[5:].count("decision_tree")


def test_a_batch_names_the_algorithm_of_each_option():
    search = search_of()
    for _ in range(5):
        choice = search.ask()
        search.tell(choice.algorithm, choice.proposal.config, outcome_of(choice.algorithm))

    options = search.options(3)
    taken = search.take(options[0])

    assert {option.algorithm for option in options} <= set(SPACES)
    assert taken.algorithm == options[0].algorithm


def test_what_was_asked_elsewhere_is_not_proposed_again():
    search = search_of()
    default = SPACES["decision_tree"].default()
    search.reopen("decision_tree", default)

    assert search.ask().algorithm == "k_neighbors"
    search.drop("decision_tree", default)
    assert search.ask().proposal.config == default
