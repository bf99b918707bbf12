"""Who takes part in a search, and what its optimizers go by."""

import numpy as np
import pandas as pd
import pytest

from metaml.acquisition.candidates import SpaceCandidates
from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.encoding import Facts
from metaml.evaluation import Outcome
from metaml.experience.experience import recall_experience
from metaml.experience.lesson_files import LessonRequest
from metaml.search.defaults import default_starts
from metaml.search.plan import SearchPlan, build_search, inert_settings, make_search_plan
from metaml.search.settings import TuneSettings
from metaml_kb import open_kb
from tests.experienced import DESCRIBED, fill


@pytest.fixture(scope="module")
def experience(tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("plan") / "kb.db") as kb:
        fill(kb)
        yield recall_experience(kb, LessonRequest("neg_log_loss", "multiclass", ("decision_tree",)), DESCRIBED)


def next_proposal(experience, *, is_timed, strategy="default"):
    """Return what a search proposes that knows four evaluations."""
    plan = SearchPlan(
        task="multiclass",
        facts=Facts(700, 8, 3),
        metric="neg_log_loss",
        algorithms=("decision_tree",),
        strategy=strategy,
        bandit="ucb1",
        seed=0,
        is_timed=is_timed,
    )
    search = build_search(plan, experience)
    for number in range(4):
        config = ALGORITHMS["decision_tree"].space("multiclass").default() | {"min_samples_leaf": 10 + number}
        search.resume("decision_tree", config, Outcome("ok", 1.0 + number, {"neg_log_loss": (-0.5 - number,)}, (0,)))
    return search.ask().proposal


@pytest.mark.parametrize("with_experience", [True, False])
def test_seconds_count_only_where_time_does(experience, with_experience):
    known = experience if with_experience else None

    timed, counted = next_proposal(known, is_timed=True), next_proposal(known, is_timed=False)

    assert (timed.proposer == "experience") is with_experience
    assert timed.seconds > 0
    assert counted.seconds is None


@pytest.mark.parametrize(
    ("strategy", "proposer"),
    [("gbqr+blended", "experience"), ("gbqr+alone", "gbqr"), ("gbqr", "gbqr"), ("random", "random")],
)
def test_the_strategy_says_whether_experience_has_a_vote(experience, strategy, proposer):
    # A plan that spells nothing out is one of an older session, which used experience with the default only.
    assert next_proposal(experience, is_timed=False, strategy=strategy).proposer == proposer


def plan_of(experience, strategy):
    settings = TuneSettings(algorithms=("decision_tree",), strategy=strategy, n_iterations=20)
    return make_search_plan(
        "multiclass", Facts(700, 8, 3), (), None, experience, settings=settings, metric="neg_log_loss"
    )


@pytest.mark.parametrize("rule", ["delta", "best", "knn", "design"])
def test_an_algorithm_starts_as_the_strategy_says(experience, rule):
    plan = plan_of(experience, f"gbqr+{rule}:4")

    space = ALGORITHMS["decision_tree"].space("multiclass")
    starts = plan.starts["decision_tree"]
    assert space.default() in starts[:2]
    assert len(starts) >= 4
    assert all(space.is_valid(config) for config in starts)
    assert build_search(plan, experience).ask().proposal.config == starts[0]
    assert SearchPlan.from_json(plan.as_json()) == plan


def test_the_best_predicted_starts_are_those_of_the_known_worlds(experience):
    best = plan_of(experience, "gbqr+best").starts["decision_tree"]
    even = plan_of(experience, "gbqr+design").starts["decision_tree"]

    assert np.mean([c["min_samples_leaf"] for c in best]) < np.mean([c["min_samples_leaf"] for c in even])


def test_a_plan_spells_out_how_experience_is_used(experience):
    assert plan_of(experience, "gbqr").strategy == "gbqr+blended"
    assert plan_of(experience, "default").strategy == "default"


def test_quick_learners_come_first_where_boosting_would_take_much_of_the_time():
    facts, names = Facts(720, 77, 8), ("lightgbm", "xgboost", "random_forest", "extra_trees", "elastic_net")

    first = {
        seconds: default_starts("multiclass", names, facts, seconds=seconds)[0][0] for seconds in (10.0, 300.0, None)
    }

    assert first == {10.0: "extra_trees", 300.0: "lightgbm", None: "lightgbm"}


@pytest.mark.parametrize(
    ("facts", "order"),
    [
        (Facts(500, 20, 2), ["lightgbm", "xgboost", "random_forest"]),
        (Facts(500, 3000, 2), ["extra_trees", "elastic_net", "random_forest", "xgboost", "lightgbm"]),
        (Facts(500, 20, 12), ["extra_trees", "xgboost", "elastic_net", "random_forest", "lightgbm"]),
    ],
    ids=["usual", "wide", "slow"],
)
def test_the_size_of_a_data_set_decides_which_defaults_come_first(facts, order):
    starts = default_starts("multiclass", tuple(ALGORITHMS), facts)

    assert [name for name, _ in starts] == order


def test_settings_that_cannot_matter_are_not_tried_twice():
    frame = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7, "y": np.arange(40) % 2})
    with_gaps = frame.assign(a=frame["a"].mask(frame["b"] == 3), c=["u", "v"] * 20)

    inert = inert_settings(from_frame(frame, target="y"))
    candidates = SpaceCandidates(ALGORITHMS["svm"].space("binary"), inert=inert)
    config = ALGORITHMS["svm"].space("binary").default()

    assert inert == ["encoding", "max_levels", "cat_smooth", "imputation"]
    assert inert_settings(from_frame(with_gaps, target="y")) == []
    assert candidates.key(config) == candidates.key({**config, "imputation": "mean", "encoding": "integer"})
    assert candidates.key(config) != candidates.key({**config, "C": 2.0})
