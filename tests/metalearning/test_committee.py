"""The committee whose prior is the knowledge base, and its guard."""

import numpy as np
import pytest

from metaml.acquisition.committee import Expert
from metaml.metalearning.committee import ExperienceCandidates, ExperienceCommittee
from metaml.metalearning.guard import Guard
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import LearnerRecipe, MetaLearner
from metaml.metalearning.prior import Prior
from metaml.metalearning.transfer_gp import ExperienceProcess, Points, matern
from metaml.spaces import Choice, Float, Space
from tests.metalearning.worlds import make_synthetic, rises_with_rows

SPACE = Space([Float("rate", 0.0, 1.0, default=0.5), Choice("word", ("a", "b"), default="a")])
N_ROWS = 30_000.0
DESCRIBED = {"NumberOfInstances": N_ROWS, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0}


@pytest.fixture(scope="module")
def landscape(synthetic: RunHistory) -> Landscape:
    return make_landscape(synthetic, n_grid=200)


@pytest.fixture(scope="module")
def learner(synthetic: RunHistory) -> MetaLearner:
    return MetaLearner([LearnerRecipe(n_trees=60, min_rows_per_leaf=5)]).fit(synthetic)


EXPERTS = (Expert("gbqr", "upper_bound"),)


def pool(n: int = 60) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    return [{"rate": float(rate), "word": "a"} for rate in rng.random(n)]


def test_landscape_knows_each_data_set(landscape: Landscape, synthetic: RunHistory):
    rows = synthetic.encode([{"rate": rate, "word": "a"} for rate in (0.2, 0.9)])

    levels = landscape.levels_at(rows)

    assert levels.shape == (12, 2)
    assert levels[0, 0] > levels[0, 1]
    assert levels[11, 0] < levels[11, 1]


def test_components_multiply_to_the_covariance_over_data_sets(landscape: Landscape):
    _, components = landscape.at(landscape.grid)

    expected = np.cov(landscape.levels.T, bias=True)
    assert np.abs(components @ components.T - expected).max() < 1e-6


def test_flat_data_sets_have_no_landscape():
    world = make_synthetic(4, 10, lambda rate, n_rows: rate if n_rows > 10_000 else 0.5)

    found = make_landscape(world, n_grid=20)

    assert found.datasets == ("d2", "d3")


def test_guess_without_metafeatures_is_the_average(landscape: Landscape):
    assert not landscape.guess({}).any()


def test_matern_is_one_at_no_distance_and_falls():
    rows = np.array([[0.0], [0.1], [0.9]])

    found = matern(rows, rows, 0.5)

    assert np.diag(found).tolist() == [1.0, 1.0, 1.0]
    assert found[0, 1] > found[0, 2] > 0


def test_process_predicts_an_observation_near_it():
    rows = np.linspace(0, 1, 5)[:, np.newaxis]
    points = Points(rows, np.zeros((5, 1)), np.zeros(5))
    process = ExperienceProcess((np.log(0.1), 0.1)).fit(points.take(np.array([0, 4])), np.array([0.9, 0.5]))

    mean, std, improvement = process.predict(points)

    assert mean[0] > mean[4]
    assert (std > 0).all()
    assert (improvement >= 0).all()


def test_process_follows_the_data_sets_it_resembles(landscape: Landscape, synthetic: RunHistory):
    rows = synthetic.encode(pool())
    average, components = landscape.at(rows)
    truth = np.array([rises_with_rows(float(config["rate"]), 1e6) for config in pool()])
    points = Points(rows, components, average)
    seen = np.arange(4)

    mean, _, _ = ExperienceProcess(landscape.log_unit).fit(points.take(seen), truth[seen]).predict(points)

    assert np.corrcoef(mean[4:], truth[4:])[0, 1] > np.corrcoef(average[4:], truth[4:])[0, 1]


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


def test_guard_waits_for_five_evaluations():
    guard = Guard()

    assert guard.judge(np.arange(4.0), -np.arange(4.0))
    assert not guard.judge(np.arange(5.0), -np.arange(5.0))


def test_guard_is_lenient_with_five_evaluations():
    guard = Guard()

    # Five concordant and five discordant pairs.
    trusted = guard.judge(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([3.0, 1.0, 5.0, 2.0, 2.5]))

    assert guard.tau == pytest.approx(0.0)
    assert trusted


def test_guard_wants_more_than_chance_from_ten_evaluations_on():
    guard = Guard()
    # Twelve values, each half falling: 30 of 66 pairs are discordant within, 36 concordant between; then reversed.
    predicted = np.arange(12.0)
    observed = np.array([5.0, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6])

    assert guard.judge(predicted, observed)
    assert guard.tau == pytest.approx(6 / 66)
    assert not guard.judge(predicted, -observed)


def test_guard_trusts_again_when_the_correlation_returns():
    guard = Guard()
    guard.judge(np.arange(5.0), -np.arange(5.0))

    guard.judge(np.arange(6.0), np.arange(6.0))

    assert [verdict.is_trusted for verdict in guard.verdicts] == [False, True]
    assert [verdict.n_evaluations for verdict in guard.verdicts] == [5, 6]


def test_equal_scores_are_no_evidence_against_the_prior():
    assert Guard().judge(np.arange(6.0), np.ones(6))


def test_failed_evaluations_are_no_evidence():
    observed = np.array([1.0, 2.0, np.nan, np.nan, np.nan])

    assert Guard().judge(-np.arange(5.0), observed)


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
