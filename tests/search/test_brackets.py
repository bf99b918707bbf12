"""Which configuration is promoted, and where new ones begin."""

import math

import pytest

from metaml.search.brackets import Entrant, bracket_sizes, next_start, promoted


def entrants(*scores: float, start: int = 0) -> list[Entrant]:
    return [Entrant(start, (score,)) for score in scores]


def test_the_best_quarter_of_a_rung_is_promoted_the_best_first():
    field = entrants(0.1, 0.4, 0.3, 0.2, 0.9, 0.5, 0.6, 0.7)

    first = promoted(field, 2, 4)
    field[first] = Entrant(0, (0.9,), is_open=True)
    second = promoted(field, 2, 4)
    field[second] = Entrant(0, (0.7, 0.8))

    assert (first, second, promoted(field, 2, 4)) == (4, 7, None)


def test_nobody_is_promoted_beyond_the_last_rung():
    assert promoted(entrants(0.1, 0.2, 0.3, 0.4), 1, 4) is None


def test_a_failure_counts_in_its_rung_and_is_never_promoted():
    assert promoted(entrants(math.nan, math.nan, math.nan, 0.1), 2, 4) == 3
    assert promoted(entrants(*[math.nan] * 4), 2, 4) is None


def test_the_highest_rung_is_promoted_first():
    low = entrants(*[0.9] * 4)
    high = [Entrant(0, (0.5, score)) for score in (0.1, 0.2, 0.3, 0.4)]

    assert promoted([*low, *high], 3, 4) == 7


def test_configurations_compete_only_with_those_that_began_where_they_did():
    field = [*entrants(0.9, 0.8, 0.7), *entrants(0.1, 0.2, 0.3, 0.4, start=1)]

    assert promoted(field, 3, 4) == 6


def test_hyperband_begins_most_configurations_at_the_lowest_rung():
    field: list[Entrant] = []
    for _ in range(25):
        field.append(Entrant(next_start(field, 3, 4)))

    assert bracket_sizes(3, 4) == (16, 6, 3)
    assert [sum(entrant.start == rung for entrant in field) for rung in range(3)] == [16, 6, 3]


@pytest.mark.parametrize("eta", [2, 3, 4])
def test_the_brackets_of_hyperband_cost_about_the_same(eta):
    n_rungs = 4
    sizes = bracket_sizes(n_rungs, eta)
    costs = [
        sum(max(size // eta**step, 1) * eta ** (start + step - n_rungs + 1) for step in range(n_rungs - start))
        for start, size in enumerate(sizes)
    ]

    assert max(costs) <= 2 * min(costs)
