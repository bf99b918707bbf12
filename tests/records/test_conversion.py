"""Where science becomes records: what the knowledge base keeps of data sets, plans, machines and evaluations."""

import zlib

import numpy as np
import pytest

from metaml.evaluation import Job, Limits, Outcome, make_plan
from metaml.records.conversion import (
    dataset_record,
    environment_record,
    fold_plan_record,
    proposal_record,
    run_of,
    store_dataset,
)
from metaml.search.optimizer import Proposal
from metaml.sources import builtin


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


def job_on(dataset):
    return Job(dataset.fingerprint, "svm", {"C": 1.0}, make_plan(dataset, 3), 7, Limits(1.0))


def test_of_a_data_set_everything_is_kept_but_its_rows(iris):
    record = dataset_record(iris, "builtin", {"licence": "Public"})

    assert (record.name, record.task, record.target) == ("iris", "multiclass", "target")
    assert (record.n_rows, record.n_columns, record.n_classes, record.source) == (150, 4, 3, "builtin")
    assert record.details["licence"] == "Public"
    assert set(record.details) == {"licence", "columns", "repairs"}


def test_a_data_set_is_described_once(empty_kb, iris):
    store_dataset(empty_kb, iris, "builtin", seconds=0.0)
    store_dataset(empty_kb, iris, "file", seconds=0.0)

    assert empty_kb.datasets()["source"].tolist() == ["builtin"]
    assert empty_kb.metafeatures().loc[iris.fingerprint, "NumberOfInstances"] == 150


def test_a_fold_plan_is_kept_whole(iris):
    plan = make_plan(iris, 3, 7)

    record = fold_plan_record(plan)

    assert (record.key, record.strategy, record.n_folds, record.seed) == (plan.hash, "stratified", 3, 7)
    assert np.frombuffer(zlib.decompress(record.assignment), "<i2").tolist() == plan.assignment.tolist()


def test_a_machine_is_known_by_its_versions_and_speed():
    record = environment_record()

    assert {"python", "numpy", "scikit-learn"} <= set(record.versions)
    assert record.reference_seconds > 0


def test_a_run_has_the_job_and_its_outcome(iris):
    job = job_on(iris)
    outcome = Outcome("ok", 2.0, {"accuracy": (0.9, 1.0, 0.8)}, (0, 1, 2), fit_seconds=1.5, predict_seconds=0.25)

    run = run_of(job, outcome, session="s", environment="e", origin="random", probability=0.5)

    assert (run.dataset, run.algorithm, run.config, run.seed) == (iris.fingerprint, "svm", {"C": 1.0}, 7)
    assert (run.status, run.scores, run.fit_seconds) == ("ok", {"accuracy": (0.9, 1.0, 0.8)}, 1.5)
    assert (run.origin, run.probability, run.fold_plan) == ("random", 0.5, job.plan.hash)


def test_an_evaluation_that_was_stopped_took_at_least_the_time_that_it_ran(iris):
    run = run_of(job_on(iris), Outcome("timeout", 3.0), session="s", environment="e", origin="random")

    assert (run.status, run.fit_seconds) == ("timeout", 3.0)


def test_a_proposal_keeps_what_was_predicted():
    proposal = Proposal({"C": 1.0}, "forest", score=0.8, std=0.1, seconds=2.0, value=0.3)

    record = proposal_record(proposal, {"reasons": ["C"]})

    assert (record.proposer, record.predicted_score, record.predicted_std) == ("forest", 0.8, 0.1)
    assert (record.predicted_seconds, record.acquisition, record.details) == (2.0, 0.3, {"reasons": ["C"]})
