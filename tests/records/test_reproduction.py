"""A stored run made again gives what was stored, or tells what differs."""

import math
from dataclasses import replace

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadDataset, BadRequest
from metaml.evaluation import Limits, Outcome, evaluate
from metaml.records.reproduction import (
    changed_versions,
    compare_scores,
    dataset_of,
    job_of,
    limits_of,
    plan_of,
    reproduce,
)
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.session import TuneSession
from metaml_kb import EnvironmentRecord, SessionRecord, open_kb
from metaml_kb.lookup import find_run

FAST = ("decision_tree", "k_neighbors")


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


@pytest.fixture(scope="module")
def kb(iris, one_worker, tmp_path_factory):
    """The runs of a short session, at least one of them partial."""
    settings = TuneSettings(
        algorithms=FAST, seconds=None, n_iterations=12, n_folds=3, max_rows=120, limits=Limits(600.0), seed=7
    )
    with open_kb(tmp_path_factory.mktemp("tune") / "kb.db") as base:
        TuneSession(iris, base, settings, one_worker).run()
        yield base


@pytest.fixture
def stored(kb):
    """The first run: the default decision tree."""
    return find_run(kb, kb.runs()["run"][0])


def in_process(dataset):
    return lambda job: evaluate(job, dataset, ALGORITHMS[job.algorithm])


def with_run(stored, **changes):
    return replace(stored, run=replace(stored.run, **changes))


def test_every_run_of_a_session_is_reproduced(kb, iris):
    found = [reproduce(find_run(kb, key), iris, in_process(iris)) for key in kb.runs()["run"]]

    assert {item.stored.run.status for item in found} == {"ok", "partial"}
    assert all(item.is_same and item.n_compared >= 7 for item in found)


def test_a_score_that_differs_is_named_with_its_fold(stored, iris):
    folds = list(stored.run.scores["accuracy"])
    changed = with_run(stored, scores={**stored.run.scores, "accuracy": [*folds[:2], folds[2] + 1e-6]})

    found = reproduce(changed, iris, in_process(iris))

    assert not found.is_same
    assert [(item.metric, item.fold, item.again) for item in found.differences] == [("accuracy", 2, folds[2])]


def test_rounding_and_undefined_scores_are_the_same():
    outcome = Outcome("ok", 1.0, {"kappa": (0.5, math.nan), "neg_rmse": (-1e6 - 1e-5, -2.0)}, folds=(0, 1))

    n_compared, differences = compare_scores({"kappa": [0.5 + 1e-12, math.nan], "neg_rmse": [-1e6, -2.0]}, outcome)

    assert (n_compared, differences) == (4, ())


def test_a_mean_is_compared_where_folds_are_not_known():
    outcome = Outcome("ok", 1.0, {"accuracy": (0.5, 1.0)}, folds=(0, 1))

    assert compare_scores({"accuracy": 0.75}, outcome) == (1, ())
    assert [(item.fold, item.again) for item in compare_scores({"accuracy": 0.7, "auc": 1.0}, outcome)[1]] == [
        (None, 0.75),
        (None, None),
    ]


def test_a_run_that_no_longer_works_is_not_the_same(stored, iris):
    found = reproduce(with_run(stored, config={**stored.run.config, "max_depth": -1}), iris, in_process(iris))

    assert (found.is_same, found.outcome.status) == (False, "failed")
    assert len(found.differences) == found.n_compared == 36


def test_a_run_that_timed_out_gets_the_time_it_had(stored, iris):
    stopped = with_run(stored, status="timeout", scores={}, fit_seconds=1e-5, predict_seconds=0.0)

    found = reproduce(stopped, iris, in_process(iris))

    assert (found.is_same, found.outcome.status, found.n_compared) == (True, "timeout", 0)


@pytest.mark.parametrize(
    ("changes", "settings", "limits"),
    [
        ({"status": "ok"}, {"limit_seconds": 60.0}, Limits(math.inf)),
        ({"status": "failed"}, {"limit_seconds": 60.0, "limit_megabytes": 100}, Limits(60.0, 100.0)),
        ({"status": "timeout", "fit_seconds": 60.2}, {"limit_seconds": 60.0}, Limits(60.0)),
        ({"status": "timeout", "fit_seconds": 3.0}, {"limit_seconds": 60.0}, Limits(3.0)),
        ({"status": "memory", "peak_megabytes": 110.0}, {}, Limits(math.inf, 110.0)),
    ],
)
def test_limits_are_those_of_the_session_or_what_was_used_up(stored, changes, settings, limits):
    session = SessionRecord("key", "bot", 0.0, settings=settings)
    run = with_run(stored, **{"predict_seconds": 0.0, **changes})

    assert limits_of(replace(run, session=session)) == limits


def test_a_plan_is_unpacked_or_made_again(stored, iris):
    forgotten = replace(stored, fold_plan=replace(stored.fold_plan, assignment=None))

    plans = [plan_of(stored, iris), plan_of(forgotten, iris)]

    assert [plan.hash for plan in plans] == [stored.fold_plan.key] * 2
    assert [plan.n_folds for plan in plans] == [3, 3]


@pytest.mark.parametrize(
    "changes",
    [{"assignment": None, "seed": 5}, {"assignment": None, "n_folds": None}, {"assignment": b"x"}, {"key": "other"}],
    ids=["another seed", "unknown", "damaged", "another key"],
)
def test_a_plan_that_is_not_known_is_refused(stored, iris, changes):
    with pytest.raises(BadRequest, match=r"folds of run .* are not known"):
        plan_of(replace(stored, fold_plan=replace(stored.fold_plan, **changes)), iris)


def test_an_algorithm_of_others_is_refused(stored, iris):
    with pytest.raises(BadRequest, match=r"of weka\.J48, which this metaml does not have"):
        job_of(with_run(stored, algorithm="weka.J48"), iris)


def test_a_bundled_data_set_needs_no_file(stored, iris):
    assert dataset_of(stored).fingerprint == iris.fingerprint


def test_a_data_set_that_is_only_called_like_a_bundled_one_needs_its_file(stored):
    other = replace(stored, dataset=replace(stored.dataset, fingerprint="e" * 32))

    with pytest.raises(BadRequest, match="Give its file with --data"):
        dataset_of(other)


def test_a_data_set_of_which_only_the_name_is_known_is_refused(stored):
    with pytest.raises(BadRequest, match="only the name is known"):
        dataset_of(replace(stored, dataset=replace(stored.dataset, fingerprint="name:iris")))


def test_a_file_is_read_with_the_stored_target_and_other_rows_are_refused(stored, iris, tmp_path):
    frame = iris.X.assign(target=iris.labels[iris.y])
    frame[["target", *iris.X.columns]].to_csv(tmp_path / "same.csv", index=False)
    frame[::-1].to_csv(tmp_path / "other.csv", index=False)

    same = dataset_of(stored, tmp_path / "same.csv")

    assert same.fingerprint == stored.dataset.fingerprint
    with pytest.raises(BadDataset, match=r"other\.csv is not the data that run .* was made on"):
        dataset_of(stored, tmp_path / "other.csv")


def test_versions_that_changed_are_told(stored, iris):
    then = {**stored.environment.versions, "numpy": "1.0", "fortran": "77"}

    found = reproduce(replace(stored, environment=EnvironmentRecord(then)), iris, in_process(iris))

    assert found.versions == {
        "numpy": ("1.0", stored.environment.versions["numpy"]),
        "fortran": ("77", None),
    }
    assert changed_versions(stored.environment.versions) == {}
