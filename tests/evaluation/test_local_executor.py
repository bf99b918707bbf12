"""The executor of one machine: several workers, jobs in any order."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hostile_algorithms import ALGORITHMS, REGISTRY

from metaml.algorithms import ALGORITHMS as REAL_ALGORITHMS
from metaml.errors import BadRequest
from metaml.evaluation import LocalExecutor, evaluate


def test_workers_answer_as_this_process_would(run, three_classes, ask):
    job = ask(three_classes, "Noisy", n_folds=3, keep_predictions=True)

    outcome = run(job)

    expected = evaluate(job, three_classes, ALGORITHMS["Noisy"])
    assert outcome.status == "ok"
    assert outcome.scores == expected.scores
    assert (outcome.predictions == expected.predictions).all()


def test_a_real_algorithm_is_evaluated_and_then_fitted_to_all_rows(two_classes, ask):
    job = ask(two_classes, "decision_tree", REAL_ALGORITHMS["decision_tree"].space("binary").default())
    with LocalExecutor(1, [two_classes], preload=["decision_tree"]) as executor:
        executor.submit(job)
        _, evaluated = executor.next(300)
        executor.submit(replace(job, refit=True))
        _, refitted = executor.next(300)

    assert (evaluated.status, refitted.status) == ("ok", "ok")
    assert np.allclose(refitted.estimator.predict_proba(two_classes.X).sum(axis=1), 1.0)
    assert refitted.scores == {}


def test_jobs_come_back_in_the_order_they_finish(executor, two_classes, numbers, ask):
    slow = ask(two_classes, "Sleepy", {"seconds": 0.4})
    quick = ask(numbers, "Constant")
    executor.submit(slow)
    executor.submit(quick)

    finished = [executor.next(300)[0], executor.next(300)[0]]

    assert finished == [quick, slow]


def test_more_jobs_than_workers_wait_their_turn(executor, two_classes, ask):
    jobs = [ask(two_classes, "Constant", seed=seed) for seed in range(9)]

    tickets = [executor.submit(job) for job in jobs]
    free = executor.free
    finished = [executor.next(300) for _ in jobs]

    assert len(set(tickets)) == 9
    assert free == 0
    assert {job.seed for job, _ in finished} == set(range(9))
    assert {outcome.status for _, outcome in finished} == {"ok"}
    assert executor.free == 2


def test_next_is_none_when_nothing_is_in_flight(executor):
    assert executor.next() is None


def test_next_is_none_when_nothing_is_done_in_time(executor, two_classes, ask):
    executor.submit(ask(two_classes, "Sleepy", {"seconds": 0.2}))

    too_early = executor.next(timeout=0.01)
    in_time = executor.next(timeout=300)

    assert too_early is None
    assert in_time is not None


def test_cancelled_jobs_never_come_back(executor, two_classes, ask):
    ticket = executor.submit(ask(two_classes, "Sleepy"))
    kept = ask(two_classes, "Constant")
    executor.submit(kept)

    executor.cancel(ticket)
    finished = executor.next(300)

    assert finished[0] is kept
    assert executor.next(300) is None
    assert executor.free == 2


def test_a_pool_without_workers_is_refused():
    with pytest.raises(BadRequest, match="at least 1"):
        LocalExecutor(0)


def test_jobs_and_outcomes_are_small(run, two_classes, ask):
    job = ask(two_classes, "Constant")

    outcome = run(job)

    assert len(pickle.dumps(job)) < 2000
    assert len(pickle.dumps(outcome)) < 2000


def test_folders_of_data_sets_are_removed(two_classes):
    with LocalExecutor(1, [two_classes], registry=REGISTRY, preload=()) as executor:
        folder = executor._store.folder
        assert (folder / f"{two_classes.fingerprint}.pickle").exists()

    assert not folder.exists()


def test_a_job_that_runs_out_of_time_has_told_of_the_folds_that_were_done(executor, two_classes, ask):
    job = ask(two_classes, "Sleepy", {"seconds": 0.5}, seconds=0.9, n_folds=3, keep_models=True, tells_folds=True)
    ticket = executor.submit(job)

    _, outcome = executor.next(300)
    folds = executor.take_folds(ticket)

    assert outcome.status == "timeout"
    assert [pickle.loads(fold.model).predict(two_classes.X).shape for fold in folds] == [(len(two_classes.y),)]
    assert 0 <= folds[0].scores["accuracy"] <= 1
    assert executor.take_folds(ticket) == ()


def test_folds_are_told_only_where_somebody_asks(executor, two_classes, ask):
    ticket = executor.submit(ask(two_classes, "Constant", keep_models=True))

    executor.next(300)

    assert executor.take_folds(ticket) == ()
