"""What is tried first without experience."""

from metaml.algorithms import searched
from metaml.encoding import Facts
from metaml.search.defaults import starts_for_long_searches

MEDIUM, LARGE = Facts(10_000, 20, 2), Facts(100_000, 20, 2)


def names_of(facts, seconds):
    starts = starts_for_long_searches("binary", searched(seconds), facts, seconds=seconds)
    return [name for name, _ in starts]


def test_an_expensive_learner_comes_early_where_there_are_minutes():
    assert names_of(MEDIUM, 300.0) == ["neural_network"]


def test_a_short_search_does_not_try_it_at_all():
    assert "neural_network" not in searched(60.0)
    assert names_of(MEDIUM, 60.0) == []


def test_it_does_not_come_early_where_its_share_of_the_time_is_too_short_for_the_rows():
    assert names_of(LARGE, 300.0) == []


def test_a_search_that_counts_evaluations_makes_the_same_runs_as_before():
    assert names_of(MEDIUM, None) == []
    assert "neural_network" not in searched()
