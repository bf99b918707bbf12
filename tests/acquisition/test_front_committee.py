"""What the judges of a front agree about: what is behind it, what is under way, and units."""

import numpy as np
import pytest

from metaml.acquisition.epsilon_committee import EpsilonCommittee
from metaml.acquisition.front_committee import Scale
from metaml.acquisition.hypervolume_committee import HypervolumeCommittee
from metaml.acquisition.mspot_committee import MspotCommittee
from metaml.acquisition.tchebycheff_committee import TchebycheffCommittee
from metaml.surrogates.targets import blend

rng = np.random.default_rng(0)
ROWS = rng.random((30, 2))
COSTS = np.column_stack([ROWS[:, 0], (1 - ROWS[:, 0]) + ROWS[:, 1]])
NONE = np.empty((0, 2))

judges = pytest.mark.parametrize(
    "judge", [HypervolumeCommittee, EpsilonCommittee, MspotCommittee, TchebycheffCommittee]
)


def fitted(judge, costs=COSTS, pending=NONE):
    return judge("gaussian_process_all", 2).fit_costs(ROWS, costs, pending, n_left=10, seed=0)


@judges
def test_a_place_on_the_true_front_is_worth_more_than_one_behind_and_that_more_than_one_far_behind(judge):
    committee = fitted(judge)

    values = committee.values(committee.parts(np.array([[0.5, 0.0], [0.5, 0.8], [0.5, 1.0]])))

    assert values[0] > 0 > values[1] > values[2]


@judges
def test_a_row_under_way_counts_as_if_it_were_known(judge):
    place = np.array([[0.5, 0.0]])

    alone, beside = fitted(judge), fitted(judge, pending=place)

    assert beside.values(beside.parts(place)) < alone.values(alone.parts(place))


@judges
def test_costs_of_any_unit_are_judged_alike(judge):
    places = rng.random((20, 2))
    plain, scaled = fitted(judge), fitted(judge, COSTS * [1000.0, 0.001] + [5.0, -3.0])

    order = np.argsort(scaled.values(scaled.parts(places)), kind="stable")

    assert order.tolist() == np.argsort(plain.values(plain.parts(places)), kind="stable").tolist()


@judges
def test_it_believes_in_the_unit_of_the_scores(judge):
    belief = fitted(judge).believe(np.array([0.3, 0.2]))

    assert belief.score == pytest.approx(-0.3, abs=0.05)


@pytest.mark.parametrize("judge", [HypervolumeCommittee, EpsilonCommittee])
def test_the_optimistic_prefer_what_they_know_less_of(judge):
    committee = fitted(judge)
    known = committee.parts(np.array([[0.5, 0.3]]))
    unknown = known + np.array([0.0, 0.0, 0.2, 0.2])

    assert committee.values(unknown) > committee.values(known)


def test_a_level_next_to_that_of_a_plateau_is_the_plateau():
    scores = np.array([-1.0] * 10 + [-0.9, -0.5, -0.1] + [0.0] * 4)
    scale, levels = Scale(blend, scores), blend(scores)

    assert scale.back(levels) == pytest.approx(scores, abs=1e-9)
    assert scale.back(levels[0] + np.array([-0.1, 0.1])) == pytest.approx([-1.0, -1.0])
    assert scale.back(levels[-1] + np.array([0.05, 0.1])) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_other_weights_prefer_another_end_of_the_front():
    ends = np.array([[0.1, 0.0], [0.9, 0.0]])

    def preferred(*weights):
        committee = TchebycheffCommittee("gaussian_process_all", 2)
        committee.fit_costs(ROWS, COSTS, NONE, n_left=10, seed=0, weights=np.array(weights))
        return int(np.argmax(committee.values(committee.parts(ends))))

    assert (preferred(0.9, 0.1), preferred(0.1, 0.9)) == (0, 1)
