"""The optimizer: finds, resumes, believes, survives failures."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from metaml.acquisition.candidates import PoolCandidates, key_of
from metaml.errors import BadRequest
from metaml.search.optimizer import Optimizer
from metaml.search.strategy import STRATEGIES
from metaml.spaces import Choice, Float, Integer, Space

SPACE = Space(
    [
        Choice("kernel", ("rbf", "linear"), default="rbf"),
        Float("C", 1e-3, 1e3, default=1.0, log=True),
        Float("gamma", 1e-4, 1.0, default=0.1, log=True, when=("kernel", ("rbf",))),
        Integer("n", 1, 20, default=10),
    ]
)


def score(config):
    gain = 0.2 - 0.1 * abs(np.log10(config["gamma"]) + 2) if config["kernel"] == "rbf" else 0.0
    return 0.7 + gain - 0.03 * (np.log10(config["C"]) - 1) ** 2


def run(optimizer, n, evaluate=score):
    for _ in range(n):
        proposal = optimizer.ask()
        optimizer.observe(proposal.config, evaluate(proposal.config), 1.0)
    return optimizer


@dataclass(frozen=True)
class Measurement:
    status: str
    scores: dict = field(default_factory=dict)
    seconds: float = 1.0
    expected_seconds: float = 0.0


def test_it_beats_random_search_on_a_smooth_space():
    ours = np.mean([run(Optimizer(SPACE, seed=s), 20).best.score for s in range(3)])
    random = np.mean([run(Optimizer(SPACE, strategy="random", seed=s), 20).best.score for s in range(3)])

    assert ours > random


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_proposes_valid_configurations_that_differ(strategy):
    optimizer = run(Optimizer(SPACE, strategy=strategy, seed=1), 8)

    configs = [seen.config for seen in optimizer.seen]

    assert all(SPACE.is_valid(config) for config in configs)
    assert len({key_of(config) for config in configs}) == 8


def test_equal_seeds_give_equal_searches_and_others_do_not():
    first, second, other = (run(Optimizer(SPACE, seed=s), 8) for s in (3, 3, 4))

    assert first.seen == second.seen
    assert first.seen != other.seen


def test_a_search_resumed_from_its_runs_goes_on_as_if_never_stopped():
    whole = run(Optimizer(SPACE, seed=5), 12)
    resumed = Optimizer(SPACE, seed=5)

    resumed.resume((seen.config, seen.score, seen.seconds) for seen in whole.seen[:7])
    run(resumed, 5)

    assert resumed.seen == whole.seen


def test_starts_come_first_in_their_order():
    starts = SPACE.sample(2, np.random.default_rng(0))
    optimizer = Optimizer(SPACE, starts=starts)

    proposals = [optimizer.ask() for _ in range(3)]

    assert [p.config for p in proposals[:2]] == starts
    assert [p.proposer for p in proposals] == ["start", "start", "random"]


def test_a_batch_believes_its_own_proposals_and_has_no_twins():
    optimizer = run(Optimizer(SPACE, seed=2), 6)

    batch = [optimizer.ask() for _ in range(5)]

    assert len({key_of(p.config) for p in batch}) == 5
    assert all(p.score is not None and p.std is not None and p.value is not None for p in batch)


def test_a_batch_is_told_in_any_order():
    optimizer = run(Optimizer(SPACE, seed=2), 4)
    batch = [optimizer.ask() for _ in range(3)]

    for proposal in reversed(batch):
        optimizer.observe(proposal.config, score(proposal.config))

    assert len(optimizer.seen) == 7


def test_a_dropped_proposal_may_come_again():
    optimizer = Optimizer(SPACE, seed=0)
    first = optimizer.ask()

    optimizer.drop(first.config)

    assert optimizer.ask() == first


def test_predictions_are_in_the_unit_of_the_scores():
    optimizer = run(Optimizer(SPACE, seed=1), 15)
    scores = [seen.score for seen in optimizer.seen]

    proposal = optimizer.ask()

    assert proposal.proposer == "default"
    assert min(scores) - 0.1 <= proposal.score <= max(scores) + 0.1


def test_a_failure_counts_as_the_worst_score_and_is_never_best():
    optimizer = run(Optimizer(SPACE, seed=1), 5)
    failed = optimizer.ask().config

    optimizer.tell(failed, Measurement("timeout", seconds=60.0))
    optimizer.ask()

    assert optimizer.seen[-1].score is None
    assert optimizer.best.score == max(seen.score for seen in optimizer.seen if seen.score is not None)


def test_a_region_that_always_fails_is_avoided():
    def evaluate(config):
        return None if config["kernel"] == "rbf" else score(config)

    optimizer = run(Optimizer(SPACE, seed=0), 24, evaluate)

    late = [seen.config["kernel"] for seen in optimizer.seen[12:]]

    assert late.count("linear") > 8


def test_if_everything_fails_it_goes_on_at_random():
    optimizer = run(Optimizer(SPACE, seed=0), 6, lambda config: None)

    assert optimizer.best is None
    assert optimizer.ask().proposer == "random"


def test_the_metric_asked_for_is_the_mean_over_folds():
    optimizer = Optimizer(SPACE, metric="roc_auc")
    config = optimizer.ask().config

    optimizer.tell(config, Measurement("ok", {"accuracy": (0.1, 0.1), "roc_auc": (0.6, 0.8)}))

    assert optimizer.best.score == pytest.approx(0.7)


def test_a_partial_evaluation_teaches_and_is_never_best():
    optimizer = Optimizer(SPACE, metric="accuracy")
    first, second = optimizer.ask(), optimizer.ask()

    optimizer.tell(first.config, Measurement("ok", {"accuracy": (0.6, float("nan"))}))
    optimizer.tell(second.config, Measurement("partial", {"accuracy": (0.9,)}))

    assert optimizer.best.score == pytest.approx(0.6)
    assert optimizer.seen[1].score == pytest.approx(0.9)


def test_every_other_proposal_is_random_if_asked_for():
    optimizer = Optimizer(SPACE, strategy="gaussian_process", random_every=2, seed=0)

    proposers = []
    for _ in range(8):
        proposal = optimizer.ask()
        proposers.append(proposal.proposer)
        optimizer.observe(proposal.config, score(proposal.config))

    assert proposers[4:] == ["gaussian_process", "random", "gaussian_process", "random"]


def test_a_cost_rule_expects_seconds():
    optimizer = run(Optimizer(SPACE, cost="bound_per_relative_cost", seed=0), 6)

    assert optimizer.ask().seconds > 0


def test_a_used_up_space_repeats_rather_than_ends():
    tiny = Space([Choice("c", ("a", "b"), default="a")])

    optimizer = run(Optimizer(tiny), 5, lambda config: float(config["c"] == "a"))

    assert len(optimizer.seen) == 5


def test_runs_from_outside_the_space_teach_and_are_not_proposed():
    optimizer = Optimizer(SPACE, seed=0)
    optimizer.resume([({"kernel": "sigmoid", "C": 1e6}, 0.9, None)] * 4)

    assert SPACE.is_valid(optimizer.ask().config)


def test_a_pool_is_used_up_without_repeats():
    pool = SPACE.sample(9, np.random.default_rng(0))
    optimizer = run(Optimizer(PoolCandidates(pool), strategy="gaussian_process"), 9)

    assert {key_of(s.config) for s in optimizer.seen} == {key_of(c) for c in pool}
    with pytest.raises(BadRequest, match="All 9 configurations"):
        optimizer.ask()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "svm"}, "No surrogate"),
        ({"search": "grid"}, "No candidate search"),
        ({"cost": "x"}, "No cost rule"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(options, message):
    with pytest.raises(BadRequest, match=message):
        Optimizer(SPACE, **options)


def test_what_was_stopped_early_counts_as_what_it_would_have_taken():
    optimizer = Optimizer(SPACE, seed=0)
    config = optimizer.ask().config

    optimizer.tell(config, Measurement("timeout", seconds=1.0, expected_seconds=5.0))

    assert optimizer.seen[-1].seconds == 5.0


def test_reported_deviations_hold_as_often_as_they_should_on_noisy_scores():
    rng = np.random.default_rng(0)
    optimizer = Optimizer(SPACE, seed=1)
    distances = []
    for _ in range(60):
        proposal = optimizer.ask()
        value = score(proposal.config) + rng.normal(scale=0.02)
        optimizer.observe(proposal.config, value, 1.0)
        if proposal.std is not None:
            distances.append(abs(value - proposal.score) / proposal.std)

    assert np.mean(np.array(distances) < 2) > 0.9
    assert max(distances) < 10


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
def test_no_prediction_claims_a_deviation_of_zero_even_if_all_scores_are_the_same(strategy):
    optimizer = run(Optimizer(SPACE, strategy=strategy, seed=1), 6, evaluate=lambda _: 1.0)

    proposal = optimizer.ask()

    assert proposal.std is None or proposal.std > 0
