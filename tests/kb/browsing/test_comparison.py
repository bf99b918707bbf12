"""Two sessions are compared where they can be: on the same data set and the same folds."""

import pytest

from metaml_kb.errors import BadQuery


@pytest.fixture
def two_sessions(kb, run_of):
    keys = [kb.start_session("tune") for _ in range(2)]
    kb.add_run(run_of(1, session=keys[0], scores={"accuracy": 0.5}))
    kb.add_run(run_of(2, session=keys[0], scores={"accuracy": 0.75}))
    kb.add_run(run_of(3, session=keys[1], scores={"accuracy": 1.0}))
    kb.add_run(run_of(4, session=keys[1], algorithm="svm", config={"C": 1.0}, scores={"accuracy": 0.25}))
    return keys


def test_each_algorithm_has_its_best_score_in_both_sessions(kb, two_sessions):
    table = kb.compare(*two_sessions, metric="accuracy").set_index("algorithm")

    assert table.loc["random_forest", ["runs_a", "best_a", "runs_b", "best_b", "difference"]].tolist() == [
        *(2, 0.75, 1, 1.0, 0.25)
    ]
    assert table.loc["svm", "runs_a"] == 0
    assert table["difference"].isna().tolist() == [False, True]


def test_final_models_are_compared_by_their_own_metric(kb, two_sessions):
    for key, score in zip(two_sessions, (0.5, 0.625), strict=True):
        kb.finish_session(key, final={"metric": "accuracy", "score": score})

    table = kb.compare(two_sessions[0][:8], two_sessions[1][:8]).set_index("algorithm")

    assert table.loc["(final model)", "difference"] == 0.125


def test_runs_on_other_folds_are_not_subtracted(kb, run_of, two_sessions):
    other = kb.start_session("tune")
    kb.add_run(run_of(2, session=other, fold_plan="others", scores={"accuracy": 1.0}))

    table = kb.compare(two_sessions[0], other, metric="accuracy")

    assert len(table) == 2
    assert table["difference"].isna().all()


def test_a_session_that_is_not_there_and_a_metric_that_nobody_named_are_refused(kb, two_sessions):
    with pytest.raises(BadQuery, match="no session nowhere"):
        kb.compare("nowhere", two_sessions[0])
    with pytest.raises(BadQuery, match="without a final model: say which metric"):
        kb.compare(*two_sessions)
    with pytest.raises(BadQuery, match=r"2 sessions are 'tune'\. Name one by its key"):
        kb.compare("tune", two_sessions[0])
