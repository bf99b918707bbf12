"""Runs are stored once, in whole chunks, with as few statements as possible."""

import pytest

from metaml_kb import (
    KnowledgeBase,
)
from metaml_kb.errors import BadRecord


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


def test_a_known_run_is_not_stored_twice(kb, run_of):
    first = kb.add_run(run_of(1))
    second = kb.add_run(run_of(1))

    assert (first.n_new, second.n_new, second.n_known, second.clashes) == (1, 0, 1, ())
    assert len(kb.runs()) == 1


def test_another_score_of_the_same_run_is_reported_and_not_stored(kb, run_of):
    kb.add_run(run_of(1))

    added = kb.add_run(run_of(1, scores={"accuracy": [0.9, 0.9], "roc_auc": [0.25, 0.5]}))

    assert [(c.metric, c.stored, c.offered) for c in added.clashes] == [("accuracy", 0.625, 0.9)]
    assert kb.runs()["accuracy"].tolist() == [0.625]


def test_a_time_out_does_not_stand_in_the_way_of_a_later_success(kb, run_of):
    kb.add_run(run_of(1, status="timeout", scores={}, error="limit of 10 s"))
    added = kb.add_run(run_of(1))

    assert added.n_new == 1
    assert kb.runs()["status"].tolist() == ["timeout", "ok"]
    assert kb.runs()["error"].iloc[0] == "limit of 10 s"


def test_a_configuration_is_stored_once(kb, run_of):
    kb.add_runs([run_of(1, seed=seed) for seed in range(5)])

    assert kb.sql("SELECT count(*) AS n FROM configuration")["n"].tolist() == [1]


def test_many_chunks_give_one_frame(kb, run_of):
    added = kb.add_runs((run_of(n, scores={"accuracy": n / 3000}) for n in range(3000)), chunk=700)

    frame = kb.runs()

    assert added.n_new == 3000
    assert frame["n_estimators"].tolist() == list(range(3000))
    assert frame["accuracy"].tolist() == [n / 3000 for n in range(3000)]


def test_runs_are_stored_chunk_by_chunk_while_a_generator_makes_them(kb, run_of):
    stored = []

    def offered():
        for number in range(250):
            if number % 100 == 0:
                stored.append(int(kb.info()["runs"]))
            yield run_of(number)

    kb.add_runs(offered(), chunk=100)

    assert stored == [0, 100, 200]


def test_the_number_of_statements_does_not_depend_on_the_number_of_runs(kb, run_of):
    from sqlalchemy import event

    statements: list[str] = []
    event.listen(kb.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))

    def count_for(n: int) -> int:
        kb.add_runs([run_of(number, seed=n) for number in range(n)])
        writing = len(statements)
        kb.runs()
        total = len(statements)
        statements.clear()
        return writing * 1000 + total

    count_for(1)

    assert count_for(5) == count_for(500)


def test_a_refused_chunk_leaves_nothing(kb, run_of):
    with pytest.raises(BadRecord):
        kb.add_runs([run_of(1), run_of(2, dataset="nobody")])

    assert kb.runs().empty
