"""What is known of a stored run: who proposed it, by which metric it is judged, and all of it as JSON."""

import json
import math

import pytest

from metaml.records.explanation import (
    is_proposed_by_experience,
    mean_of,
    metric_of,
    proposer_of,
    run_facts,
    shown,
)
from metaml_kb import ProposalRecord
from metaml_kb.lookup import find_run


@pytest.fixture
def stored_run(kb, run_of):
    """Return a function that stores a run and reads it back."""

    def store(number=0, **changes):
        run = run_of(number, **changes)
        kb.add_runs([run])
        return find_run(kb, run.identity)

    return store


@pytest.mark.parametrize(
    ("origin", "proposer", "begins", "is_experience"),
    [
        ("default", None, "Nobody: it is the default configuration of random_forest", False),
        ("random", None, "Chance", False),
        ("warm start", "experience", "Experience: past data sets suggested it", True),
        ("surrogate", "gbqr", "The surrogates of strategy 'gbqr'", False),
        ("surrogate", "experience", "Experience: a model of past data sets", True),
        ("imported", None, "Nobody here", False),
    ],
)
def test_the_proposer_is_told_in_a_sentence(stored_run, origin, proposer, begins, is_experience):
    stored = stored_run(origin=origin, proposal=proposer and ProposalRecord(proposer))

    assert proposer_of(stored).startswith(begins)
    assert is_proposed_by_experience(stored) is is_experience


def test_a_run_is_judged_by_the_metric_that_its_session_optimised(kb, stored_run):
    session = kb.start_session("tune", seed=0, settings={"search_plan": {"metric": "roc_auc"}})

    assert metric_of(stored_run(session=session)) == "roc_auc"


def test_without_a_session_the_metric_is_one_that_the_run_has(stored_run):
    assert metric_of(stored_run(1)) == "accuracy"
    assert metric_of(stored_run(2, scores={"neg_log_loss": [-0.5], "accuracy": [0.5]})) == "neg_log_loss"
    assert metric_of(stored_run(3, scores={})) == "neg_log_loss"


def test_all_that_is_known_is_plain_json_in_which_undefined_is_none(stored_run):
    stored = stored_run(scores={"accuracy": [0.5, math.nan]}, proposal=ProposalRecord("gbqr", predicted_score=0.7))

    facts = json.loads(json.dumps(run_facts(stored), allow_nan=False))

    assert facts["fold_scores"] == {"accuracy": [0.5, None]}
    assert facts["scores"] == {"accuracy": 0.5}
    assert (facts["dataset"]["name"], facts["algorithm"]) == ("iris", "random_forest")
    assert facts["proposal"]["predicted_score"] == 0.7
    assert facts["session"] is None


def test_a_metric_of_others_keeps_its_name():
    assert shown("neg_rmse", -2.0) == ("RMSE", 2.0)
    assert shown("their_metric", -2.0) == ("their_metric", -2.0)


def test_the_mean_is_over_the_folds_where_a_metric_is_defined():
    assert mean_of([0.5, math.nan, 1.0]) == 0.75
    assert mean_of(0.3) == 0.3
    assert math.isnan(mean_of([]))
