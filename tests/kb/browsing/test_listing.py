"""Runs are listed page by page: each once, in order, whatever the filter."""

import pytest

from metaml_kb import DatasetRecord
from metaml_kb.browsing import digest as digest_module
from metaml_kb.browsing import listing
from metaml_kb.browsing.digest import Digest
from metaml_kb.browsing.listing import (
    Wanted,
    newest_complete,
    next_runs,
    numbers_by_score,
    numbers_by_seconds,
    runs_by_number,
    runs_of_session,
)
from metaml_kb.engine import reading

N_RUNS = 40


@pytest.fixture
def connected(backend, run_of, monkeypatch):
    """A connection and a digest of forty runs, in blocks of four."""
    for module in (digest_module, listing):
        monkeypatch.setattr(module, "BLOCK", 4)
    backend.add_dataset(DatasetRecord("e" * 32, "wine", task="multiclass"))
    session = backend.start_session("bot")
    for number in range(N_RUNS):
        changes = {"algorithm": "svm" if number < 20 else "mlp", "dataset": ("f" if number % 2 else "e") * 32}
        changes |= {"fit_seconds": float(number % 7), "scores": {"accuracy": (number * 7 % N_RUNS) / N_RUNS}}
        if number in (3, 30):
            changes |= {"status": "failed", "scores": {}, "error": "no"}
        backend.add_run(run_of(number, session=session if 10 <= number < 30 else None, **changes))
    digest = Digest()
    with reading(backend.engine) as connection:
        digest.catch_up(connection)
        yield connection, digest


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(),
        Wanted(dataset=1),
        Wanted(status="failed"),
        Wanted(session=1),
        Wanted(session=1, algorithm=1, status="ok"),
        Wanted(session=9),
    ],
    ids=str,
)
def test_pages_have_each_run_once(connected, wanted):
    connection, digest = connected

    for order in ("newest", "oldest"):
        pages, after = [], None
        while found := next_runs(connection, digest, wanted, limit=7, after=after, order=order):
            pages += found
            after = found[-1].number

        everything = next_runs(connection, digest, Wanted(), limit=1000, order=order)
        assert pages == [run for run in everything if _passes(run, wanted)]


def _passes(run, wanted):
    return (
        wanted.dataset in (None, {"iris": 1, "wine": 2}[run.dataset])
        and wanted.algorithm in (None, {"svm": 1, "mlp": 2}[run.algorithm])
        and wanted.status in (None, run.status)
        and wanted.origin in (None, run.origin)
        and (wanted.session is None or (wanted.session == 1 and run.session is not None))
    )


def test_a_run_is_listed_with_all_that_a_table_shows(connected):
    connection, _ = connected

    failed, run = runs_by_number(connection, [4, 6])

    assert (failed.status, failed.error, failed.scores) == ("failed", "no", {})
    assert (run.dataset, run.algorithm, run.config["n_estimators"]) == ("iris", "svm", 5)
    assert run.scores == {"accuracy": 35 / 40}
    assert len(run.key) == 32
    assert runs_by_number(connection, [10**6]) == runs_by_number(connection, []) == []


def test_runs_are_sorted_by_score_and_by_seconds(connected):
    connection, _ = connected

    by_score = runs_by_number(connection, numbers_by_score(connection, Wanted(dataset=1), "accuracy").tolist())
    by_seconds = runs_by_number(connection, numbers_by_seconds(connection, Wanted(dataset=1)).tolist())

    scores, seconds = [run.score("accuracy") for run in by_score], [run.seconds for run in by_seconds]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 19
    assert seconds == sorted(seconds, reverse=True)
    assert numbers_by_score(connection, Wanted(dataset=1), "unknown").tolist() == []


def test_a_session_has_its_runs_and_an_algorithm_its_newest_complete_ones(connected):
    connection, digest = connected

    assert len(runs_of_session(connection, digest, 1, 100)) == 20
    newest = newest_complete(connection, 1, 1, 4)
    assert [run.number for run in newest] == [20, 18, 16, 14]
