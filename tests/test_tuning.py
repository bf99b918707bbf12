"""A tuning session: defaults first, everything stored, deterministic, on time."""

import pytest

from metaml.budget import Budget
from metaml.errors import BadRequest
from metaml.evaluation import Limits, Pool
from metaml.sources import builtin
from metaml.tuning import TuneSession, TuneSettings, ranked
from metaml_kb import open_kb

FAST = ("decision_tree", "k_neighbors")


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


@pytest.fixture(scope="module")
def pool():
    with Pool(2, preload=()) as workers:
        yield workers


def settings_of(**changes) -> TuneSettings:
    fields = {"algorithms": FAST, "seconds": None, "n_iterations": 8, "n_folds": 3, "limits": Limits(30.0), "seed": 7}
    return TuneSettings(**{**fields, **changes})


@pytest.fixture(scope="module")
def tuned(iris, pool, tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("tune") / "kb.db") as kb:
        session = TuneSession(iris, kb, settings_of(), pool)
        yield kb, session.run()


def test_every_evaluation_is_in_the_knowledge_base_with_its_proposal(tuned):
    kb, found = tuned

    frame = kb.runs()
    proposals = kb.sql("SELECT proposer FROM proposal")

    assert frame["run"].tolist() == [trial.run.identity for trial in found.trials]
    assert len(proposals) == len(frame) == 8
    assert set(frame["session"]) == {found.session}


def test_defaults_come_first(tuned):
    kb, _ = tuned

    assert kb.runs()["origin"].tolist()[:2] == ["default", "default"]
    assert kb.runs()["algorithm"].tolist()[:2] == list(FAST)


def test_decisions_are_stored_as_events(tuned):
    kb, _ = tuned

    events = kb.sql("SELECT kind, count(*) AS n FROM event GROUP BY kind")

    assert events.values.tolist() == [["asked", 8]]


def test_only_complete_runs_can_be_best(tuned):
    _, found = tuned

    best = found.ranked

    assert [trial.score for trial in best] == sorted((trial.score for trial in best), reverse=True)
    assert {trial.run.status for trial in best} == {"ok"}


def test_the_same_seed_makes_the_same_session(tuned, iris, pool):
    _, found = tuned

    with open_kb(":memory:") as kb:
        again = TuneSession(iris, kb, settings_of(), pool).run()

    assert [trial.run.identity for trial in again.trials] == [trial.run.identity for trial in found.trials]
    assert [trial.score for trial in again.trials] == [trial.score for trial in found.trials]


def test_a_resumed_session_repeats_nothing_and_goes_on_as_before(tuned, iris, pool):
    _, found = tuned

    with open_kb(":memory:") as kb:
        session = TuneSession(iris, kb, settings_of(n_iterations=4), pool)
        session.resume(found.trials[:4])
        resumed = session.run()

    assert [trial.run.identity for trial in resumed.trials] == [trial.run.identity for trial in found.trials]


def test_a_session_ends_with_its_budget_and_keeps_the_reserve(iris, pool):
    moments = iter(float(second) for second in range(10_000))
    budget = Budget(40.0, clock=lambda: next(moments))

    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings_of(n_iterations=None, seconds=40.0), pool, budget=budget).run(
            reserve=lambda _: 10.0
        )

    assert 1 <= len(found.trials) < 40


def test_a_wish_to_stop_is_followed(iris, pool):
    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings_of(), pool).run(should_stop=lambda: True)

        assert found.trials == ()
        assert kb.sql("SELECT count(*) AS n FROM session WHERE finished_at IS NOT NULL")["n"].tolist() == [1]


def test_warm_starts_follow_the_default(iris, pool):
    start = {"decision_tree": [{**_default(iris), "max_depth": 2}]}

    with open_kb(":memory:") as kb:
        settings = settings_of(algorithms=("decision_tree",), n_iterations=2)
        found = TuneSession(iris, kb, settings, pool, starts=start).run()

    assert [trial.run.origin for trial in found.trials] == ["default", "warm start"]


def _default(dataset):
    from metaml.algorithms import ALGORITHMS

    return ALGORITHMS["decision_tree"].space(dataset.task).default()


def test_a_metric_of_another_task_is_refused(iris, pool):
    with open_kb(":memory:") as kb, pytest.raises(BadRequest, match="does not fit the multiclass target"):
        TuneSession(iris, kb, settings_of(metric="rmse"), pool)


def test_a_session_without_end_is_refused():
    with pytest.raises(BadRequest, match="without end"):
        TuneSettings(seconds=None)


def test_ranking_prefers_the_earlier_of_equals(tuned):
    _, found = tuned
    best = found.ranked[0]

    assert ranked([best, best])[0] is best
