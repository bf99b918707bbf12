"""The committee whose prior is the knowledge base, and its guard."""

import numpy as np
import pytest

from metaml.acquisition.committee import Expert
from metaml.metalearning.committee import ExperienceCandidates, ExperienceCommittee
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.prior import Prior
from metaml.spaces import Choice, Float, Space
from tests.metalearning.worlds import rises_with_rows

SPACE = Space([Float("rate", 0.0, 1.0, default=0.5), Choice("word", ("a", "b"), default="a")])
N_ROWS = 30_000.0
DESCRIBED = {"NumberOfInstances": N_ROWS, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0}


EXPERTS = (Expert("gbqr", "upper_bound"),)


def pool(n: int = 60) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    return [{"rate": float(rate), "word": "a"} for rate in rng.random(n)]


def make_committee(learner: MetaLearner, landscape: Landscape) -> ExperienceCommittee:
    return ExperienceCommittee(Prior(learner, landscape, DESCRIBED), EXPERTS)


def test_committee_finds_the_optimum_in_few_evaluations(
    learner: MetaLearner, landscape: Landscape, synthetic: RunHistory
):
    rows = synthetic.encode(pool())
    truth = np.array([rises_with_rows(float(config["rate"]), N_ROWS) for config in pool()])
    committee = make_committee(learner, landscape)
    order = [int(np.argmax(committee.prior.points(rows).mean))]

    for _ in range(5):
        committee.fit(rows[order], truth[order], np.full(len(order), np.nan), seed=0)
        values = committee.values(committee.parts(rows))
        values[order] = -np.inf
        order.append(int(np.argmax(values)))

    assert truth[order].max() > np.quantile(truth, 0.95)
    assert committee.guard.is_trusted


def test_inverted_scores_switch_the_prior_off_and_are_reported(
    learner: MetaLearner, landscape: Landscape, synthetic: RunHistory
):
    rows = synthetic.encode(pool(12))
    committee = make_committee(learner, landscape)
    lies = -committee.prior.points(rows).mean

    committee.fit(rows, lies, np.full(12, np.nan), seed=0)

    assert not committee.is_experienced
    assert "After 12 evaluations the knowledge base was switched off" in committee.notes[0]
    assert committee.values(committee.parts(rows)).shape == (12,)
    assert np.isfinite(committee.believe(rows[0]).score)


def test_experts_have_every_third_turn_later_on(learner: MetaLearner, landscape: Landscape, synthetic: RunHistory):
    rows = synthetic.encode(pool(12))
    committee = make_committee(learner, landscape)
    agreed = committee.prior.points(rows).mean

    turns = []
    for n in range(5, 13):
        committee.fit(rows[:n], agreed[:n], np.full(n, np.nan), seed=0)
        turns.append(committee.is_experienced)

    assert turns == [True, True, True, True, False, True, True, False]
    assert committee.notes == []


def test_with_few_data_sets_the_prior_is_not_used(learner: MetaLearner, landscape: Landscape, synthetic: RunHistory):
    committee = make_committee(learner, landscape.keep(range(4)))
    rows = synthetic.encode(pool(5))

    committee.fit(rows, np.arange(5.0), np.full(5, np.nan), seed=0)

    assert not committee.is_experienced
    assert "4 data sets" in committee.notes[0]


def test_points_are_cached_in_any_order(learner: MetaLearner, landscape: Landscape, synthetic: RunHistory):
    prior = Prior(learner, landscape, DESCRIBED)
    rows = synthetic.encode(pool(6))

    first = prior.points(rows[[0, 2, 4]])
    again = prior.points(rows[[4, 3, 2, 4]])

    assert again.mean[[0, 2, 3]].tolist() == first.mean[[2, 1, 2]].tolist()
    assert again.rows.tolist() == rows[[4, 3, 2, 4]].tolist()


def test_candidates_of_a_space_are_encoded_like_the_history(
    learner: MetaLearner, landscape: Landscape, synthetic: RunHistory
):
    candidates = ExperienceCandidates(SPACE, synthetic.encoder)
    committee = make_committee(learner, landscape)
    known = [{"rate": 0.5, "word": "a"}, {"rate": 0.1, "word": "b"}]
    rows = np.stack([candidates.row(config) for config in known])
    committee.fit(rows, np.array([0.8, 0.7]), np.full(2, np.nan), seed=0)

    found = candidates.best(committee, known, lambda key: False, np.random.default_rng(0))

    assert SPACE.is_valid(found.config)
    assert found.value is not None


def test_the_unit_of_the_target_does_not_matter(landscape: Landscape, learner: MetaLearner, synthetic: RunHistory):
    rows = synthetic.encode(pool(40))
    losses = -np.linspace(3.0, 2.0, 6)
    small, large = (
        ExperienceCommittee(Prior(learner, landscape, DESCRIBED), EXPERTS, metric="neg_rmse").fit(
            rows[:6], unit * losses, np.full(6, np.nan), 0
        )
        for unit in (1.0, 1e6)
    )

    assert large.values(large.parts(rows)) == pytest.approx(small.values(small.parts(rows)))
    assert large.believe(rows[9]).score == pytest.approx(1e6 * small.believe(rows[9]).score)
    assert -3.5 < small.believe(rows[9]).score < -1.5
