import numpy as np
import pytest

from metaml.insight import draw_weight
from metaml.spaces import Float, Space
from tests.insight.made_runs import SPACE, made_runs


def test_a_draw_from_the_present_space_counts_once():
    config = SPACE.sample(1, np.random.default_rng(0))[0]

    assert draw_weight("random", SPACE.density(config), config, SPACE) == pytest.approx(1)


def test_a_draw_from_half_as_many_choices_counts_half():
    config = SPACE.default()

    # It was twice as likely as it is now.
    assert draw_weight("random", 2 * SPACE.density(config), config, SPACE) == pytest.approx(0.5)


@pytest.mark.parametrize("origin", ["surrogate", "warm start", "default"])
def test_what_a_search_proposed_does_not_represent_the_space(origin):
    assert draw_weight(origin, None, SPACE.default(), SPACE) == 0


def test_a_draw_outside_the_present_space_does_not_count():
    narrow = Space([Float("a", 0.1, 0.2, default=0.1)])

    assert draw_weight("random", 1.0, {"a": 0.9}, narrow) == 0


def test_some_data_sets_can_be_chosen():
    runs = made_runs(10)

    smaller = runs.on(np.array([False, True, False, True]))

    assert smaller.datasets["name"].tolist() == ["set 1", "set 3"]
    assert sorted(set(smaller.groups.tolist())) == [0, 1]
    assert len(smaller.scores) == 22
