"""The digest says what all runs would say, also if they come in parts."""

import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.browsing import digest as module
from metaml_kb.browsing.digest import MOST_BEST, Digest
from metaml_kb.engine import reading


@pytest.fixture
def grown(backend, run_of):
    """A knowledge base with two data sets, two algorithms, and runs of several statuses."""
    backend.add_dataset(DatasetRecord("e" * 32, "wine", task="multiclass"))
    session = backend.start_session("bot")
    for number in range(30):
        changes = {"algorithm": "svm" if number % 3 else "mlp", "dataset": ("f" if number % 2 else "e") * 32}
        changes["scores"] = {"accuracy": 0.5 + (number * 7 % 30) / 100, "roc_auc": 0.55}
        if number % 10 == 9:
            changes |= {"status": "failed", "scores": {}}
        backend.add_run(run_of(number, session=session if number < 20 else None, **changes))
    return backend


def test_counts_and_best_runs_are_those_of_all_runs(grown, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 7)
    digest, frame = Digest(), grown.runs()

    with reading(grown.engine) as connection:
        assert digest.catch_up(connection)

    names = {row[0]: row[1] for row in grown.sql("SELECT id, name FROM algorithm").itertuples(index=False)}
    assert digest.n_runs == len(frame)
    assert digest.counts.total() == 30
    assert sum(n for (_, _, status), n in digest.counts.items() if status == "failed") == 3
    assert [span.n_runs for span in digest.spans.values()] == [20]
    for (dataset, metric), best in digest.best.items():
        title = {1: "iris", 2: "wine"}[dataset]
        on_it = frame[(frame["dataset"] == title) & (frame["status"] == "ok")]
        expected = on_it.groupby("algorithm")[metric].max().to_dict()
        assert {names[number]: score for number, (score, _) in best.items()} == pytest.approx(expected)
        scores, _ = digest.top[dataset, metric]
        assert scores.tolist() == sorted(on_it[metric], reverse=True)[:MOST_BEST]


def test_runs_that_are_added_later_are_counted_once(grown, run_of):
    digest = Digest()
    with reading(grown.engine) as connection:
        digest.catch_up(connection)
    grown.add_run(run_of(99, scores={"accuracy": 0.99}))

    with reading(grown.engine) as connection:
        digest.catch_up(connection)
        digest.catch_up(connection)

    assert digest.n_runs == 31
    assert digest.top[1, "accuracy"][0][0] == 0.99


def test_what_has_no_time_left_is_read_with_the_next_call(grown, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 7)
    digest = Digest()

    with reading(grown.engine) as connection:
        answers = [digest.catch_up(connection, seconds=0.0) for _ in range(5)]

    assert answers == [False, False, False, False, True]
    assert digest.n_runs == 30


def test_an_empty_knowledge_base_has_an_empty_digest():
    with open_kb(":memory:") as kb, reading(kb.engine) as connection:
        digest = Digest()

        assert digest.catch_up(connection)

    assert digest.n_runs == 0
