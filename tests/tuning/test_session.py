"""A tuning session: defaults first, everything stored, deterministic, on time."""

import numpy as np
import pandas as pd
import pytest

from metaml.budget import Budget
from metaml.data import from_frame
from metaml.ensemble.threshold_scores import judge
from metaml.errors import BadRequest
from metaml.evaluation import Limits, LocalExecutor
from metaml.experience.lesson_files import LessonRequest, learn, place_of
from metaml.experience.load_history import to_leave_out
from metaml.records.conversion import store_metafeatures
from metaml.search.settings import TuneSettings, folds_and_rows
from metaml.sources import builtin
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished, trials_of
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles, ranked
from metaml_kb import DatasetRecord, open_kb
from tests.experienced import fill

FAST = ("decision_tree", "k_neighbors")


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


@pytest.fixture(scope="module")
def executor():
    with LocalExecutor(2, preload=()) as workers:
        yield workers


def settings_of(**changes) -> TuneSettings:
    fields = {"algorithms": FAST, "seconds": None, "n_iterations": 8, "n_folds": 3, "limits": Limits(30.0), "seed": 7}
    return TuneSettings(**{**fields, **changes})


@pytest.fixture(scope="module")
def tuned(iris, executor, tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("tune") / "kb.db") as kb:
        session = TuneSession(iris, kb, settings_of(), executor)
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

    assert events.values.tolist() == [["asked", 8], ["finished", 8]]


def test_only_complete_runs_can_be_best(tuned):
    _, found = tuned

    best = found.ranked

    assert [trial.score for trial in best] == sorted((trial.score for trial in best), reverse=True)
    assert {trial.run.status for trial in best} == {"ok"}


def test_the_same_seed_makes_the_same_session(tuned, iris, executor):
    _, found = tuned

    with open_kb(":memory:") as kb:
        again = TuneSession(iris, kb, settings_of(), executor).run()

    assert [trial.run.identity for trial in again.trials] == [trial.run.identity for trial in found.trials]
    assert [trial.score for trial in again.trials] == [trial.score for trial in found.trials]


def test_the_event_log_alone_decides_what_is_proposed(tuned):
    kb, found = tuned

    steps = replay_session(kb, found.session[:8])

    assert len(steps) == 8
    assert all(step.is_same for step in steps)


def test_an_unknown_session_cannot_be_replayed(tuned):
    kb, _ = tuned

    with pytest.raises(BadRequest, match="No tuning session has a key"):
        replay_session(kb, "ffff")


@pytest.fixture(scope="module")
def rare():
    """Return a table with few positives, which a tree and its neighbours find now and then."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2600, 3))
    is_positive = columns[:, 0] + 0.7 * rng.normal(size=2600) > 1.7
    return from_frame(pd.DataFrame(columns, columns=list("abc")).assign(y=is_positive.astype(int)), target="y")


@pytest.fixture(scope="module")
def judged(rare, executor, tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("judged") / "kb.db") as kb:
        session = TuneSession(rare, kb, settings_of(metric="f1"), executor)
        yield kb, session.run(), session


def test_for_labels_a_trial_is_worth_its_score_after_thresholds_and_the_plain_one_is_stored(judged, rare):
    kb, found, _ = judged

    stored = kb.runs()["f1"].tolist()
    plain = [trial.outcome.score("f1") for trial in found.trials]

    for trial in found.trials:
        assert trial.score == judge(trial.outcome.predictions, rare.y, found.plan.assignment, "f1")
    assert stored == pytest.approx(plain)
    assert max(trial.score for trial in found.trials) > max(plain)


def test_for_labels_nothing_is_stopped_on_its_first_folds_and_the_search_learns_the_judged_score(judged):
    _, found, session = judged

    told = sorted(seen.score for arm in session.search.arms.values() for seen in arm.optimizer.seen)

    assert {trial.run.status for trial in found.trials} == {"ok"}
    assert told == sorted(trial.score for trial in found.trials)


def test_for_labels_the_event_log_alone_decides_too(judged):
    kb, found, _ = judged

    steps = replay_session(kb, found.session)
    remembered = trials_of(kb, found.session, "f1", PredictionFiles(None))

    assert [step.is_same for step in steps] == [True] * 8
    assert [trial.score for trial in remembered] == [trial.score for trial in found.trials]


def test_for_labels_a_session_that_was_cut_short_goes_on_as_before(judged, rare, executor, tmp_path):
    _, whole, _ = judged
    seen: list[object] = []

    with open_kb(tmp_path / "kb.db") as kb:
        TuneSession(rare, kb, settings_of(metric="f1"), executor).run(
            on_progress=seen.append, should_stop=lambda: len(seen) >= 4
        )
        earlier = find_unfinished(kb, rare.fingerprint, PredictionFiles(None))
        found = TuneSession(rare, kb, settings_of(metric="f1"), executor, resumed=earlier).run()

    assert 0 < len(earlier.trials) < 8
    assert [trial.run.identity for trial in found.trials] == [trial.run.identity for trial in whole.trials]
    assert [trial.score for trial in found.trials] == [trial.score for trial in whole.trials]


@pytest.fixture(scope="module")
def experienced(iris, executor, tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("experienced") / "kb.db") as kb:
        fill(kb)
        yield kb, TuneSession(iris, kb, settings_of(n_iterations=12), executor).run()


def test_experience_opens_the_search_and_then_judges(experienced):
    kb, found = experienced

    frame = kb.runs(session=found.session)
    proposers = kb.sql("SELECT proposer FROM proposal")["proposer"].tolist()

    assert frame["origin"].iloc[0] == "warm start"
    assert "experience" in proposers
    assert found.experience.n_datasets == 14
    assert found.experience.n_warm_starts >= 2


def test_a_session_with_experience_can_be_replayed(experienced):
    kb, found = experienced

    steps = replay_session(kb, found.session)

    assert [step.is_same for step in steps] == [True] * 12


def test_the_knowledge_base_says_why_a_configuration_was_tried(experienced):
    _, found = experienced

    details = found.trials[0].run.proposal.details

    assert details["carriers"][0]["dataset"].startswith("world-")
    assert details["reasons"]


def test_excluding_what_is_known_leaves_a_search_without_experience(experienced, iris, executor):
    kb, _ = experienced
    everything = tuple(kb.datasets()["name"])

    session = TuneSession(iris, kb, settings_of(exclude_datasets=everything), executor)
    session.run(should_stop=lambda: True)

    assert session.advisor.experience is None
    assert session.search_plan.initial_design == ()


def test_a_short_search_opens_with_experience_at_once_and_recalls_no_more(experienced, iris, executor):
    kb, longer = experienced

    session = TuneSession(iris, kb, settings_of(n_iterations=None, seconds=4.0), executor)
    found = session.run()

    assert session.advisor.experience is None
    assert found.experience.n_runs == longer.experience.n_runs
    assert found.experience.n_datasets == longer.experience.n_datasets
    assert len(session.search_plan.initial_design) >= 2
    assert found.experience.n_warm_starts >= 1
    assert found.trials[0].run.proposal.details["carriers"]


def test_large_data_are_cut_to_what_the_time_allows(iris):
    columns = pd.DataFrame({f"c{k}": np.arange(50_000.0) % (k + 7) for k in range(20)})
    wide = from_frame(columns.assign(y=np.arange(50_000) % 2), target="y")

    assert folds_and_rows(wide, TuneSettings(seconds=10.0)) == (1, 40_000)
    assert folds_and_rows(wide, TuneSettings(seconds=70.0)) == (5, 56_000)
    assert folds_and_rows(wide, TuneSettings(seconds=10.0, max_rows=100)) == (5, 100)
    assert folds_and_rows(wide, TuneSettings(seconds=None, n_iterations=3)) == (5, None)
    assert folds_and_rows(iris, TuneSettings(seconds=10.0)) == (5, 13_333)


def test_a_part_that_is_too_small_to_judge_by_is_not_held_out():
    few = from_frame(pd.DataFrame({f"c{k}": np.arange(4000.0) for k in range(200)}).assign(y=np.arange(4000) % 2))

    assert folds_and_rows(few, TuneSettings(seconds=10.0)) == (5, 2000)


def test_a_part_with_few_of_a_rare_class_is_not_held_out():
    columns = pd.DataFrame({f"c{k}": np.arange(20_000.0) % (k + 7) for k in range(11)})
    rare = from_frame(columns.assign(y=np.arange(20_000) % 20 == 0), target="y")
    even = from_frame(columns.assign(y=np.arange(20_000) % 2 == 0), target="y")

    assert folds_and_rows(rare, TuneSettings(seconds=10.0)) == (5, None)
    assert folds_and_rows(even, TuneSettings(seconds=10.0)) == (1, 72_727)


def test_folds_that_have_time_for_nearly_all_rows_use_all_of_them():
    columns = pd.DataFrame({f"c{k}": np.arange(4000.0) % (k + 7) for k in range(48)})
    numbers = from_frame(columns.assign(y=np.arange(4000) / 7), target="y", task="regression")

    assert folds_and_rows(numbers, TuneSettings(seconds=10.0)) == (5, None)


def test_a_part_is_held_out_where_all_folds_would_never_end():
    columns = pd.DataFrame(np.random.default_rng(0).normal(size=(1500, 600)).round(2)).add_prefix("c")
    expensive = from_frame(columns.assign(y=[f"class {k % 26}" for k in range(1500)]), target="y")

    assert folds_and_rows(expensive, TuneSettings(seconds=10.0)) == (1, 2000)
    assert folds_and_rows(expensive, TuneSettings(seconds=3000.0)) == (5, 3076)


def test_many_classes_of_many_rows_are_judged_by_a_held_out_part():
    letters = pd.DataFrame(np.random.default_rng(0).normal(size=(13_400, 16)).round(2)).add_prefix("c")
    expensive = from_frame(letters.assign(y=[f"class {k % 26}" for k in range(13_400)]), target="y")

    assert folds_and_rows(expensive, TuneSettings(seconds=10.0)) == (1, 5769)
    assert folds_and_rows(expensive, TuneSettings(seconds=60.0)) == (1, 11_538)


def test_a_session_ends_with_its_budget_and_keeps_the_reserve(iris, executor):
    moments = [0.0]
    budget = Budget(40.0, clock=lambda: moments[-1])

    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings_of(n_iterations=None, seconds=40.0), executor, budget=budget).run(
            reserve=lambda _: 10.0, on_progress=lambda progress: moments.append(5.0 * progress.n_done)
        )

    # Each evaluation takes five seconds of this clock; one more may have finished while the last one was stored.
    assert 6 <= len(found.trials) <= 7


def test_a_wish_to_stop_is_followed(iris, executor):
    with open_kb(":memory:") as kb:
        session = TuneSession(iris, kb, settings_of(), executor)
        found = session.run(should_stop=lambda: True)
        session.close()

        assert found.trials == ()
        assert kb.sql("SELECT count(*) AS n FROM session WHERE finished_at IS NOT NULL")["n"].tolist() == [1]


def test_a_metric_of_another_task_is_refused(iris, executor):
    with (
        open_kb(":memory:") as kb,
        pytest.raises(BadRequest, match=r"The metric rmse does not fit .* log_loss, brier"),
    ):
        TuneSession(iris, kb, settings_of(metric="rmse"), executor)


@pytest.mark.parametrize(
    ("names", "told"), [((), "No algorithm is left to try. Choose among: random"), (("forest",), "no algorithm forest")]
)
def test_algorithms_that_cannot_be_tried_are_refused(names, told):
    with pytest.raises(BadRequest, match=told):
        TuneSettings(algorithms=names)


def test_a_session_without_end_is_refused():
    with pytest.raises(BadRequest, match="without end"):
        TuneSettings(seconds=None)


def test_ranking_prefers_the_earlier_of_equals(tuned):
    _, found = tuned
    best = found.ranked[0]

    assert ranked([best, best])[0] is best


def test_a_search_that_begins_late_learns_each_score_for_what_was_evaluated(iris, executor):
    with open_kb(":memory:") as kb:
        session = TuneSession(
            iris,
            kb,
            settings_of(algorithms=("lightgbm", "decision_tree"), n_iterations=None, seconds=10.0, n_workers=2),
            executor,
            budget=Budget(10.0, used_before=5.0),
        )
        found = session.run()

    told = {(name, str(seen.config)) for name, arm in session.search.arms.items() for seen in arm.optimizer.seen}
    assert told == {(trial.run.algorithm, str(dict(trial.run.config))) for trial in found.trials}


def test_a_data_set_that_was_described_in_haste_is_described_again(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord(iris.fingerprint, "iris", task="multiclass"))
        store_metafeatures(kb, iris, seconds=0.0)
        n_before = int(kb.metafeatures().loc[iris.fingerprint].notna().sum())

        TuneSession(iris, kb, settings_of(n_iterations=1), executor).run()

        assert int(kb.metafeatures().loc[iris.fingerprint].notna().sum()) > n_before


def test_a_data_set_that_was_known_but_never_described_is_described(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord(iris.fingerprint, "iris", task="multiclass"))

        TuneSession(iris, kb, settings_of(n_iterations=1), executor).run()

        assert int(kb.metafeatures().loc[iris.fingerprint].notna().sum()) > 20


def test_a_data_set_that_is_itself_left_out_is_searched_with_the_lessons_of_the_others_every_time(
    iris, executor, tmp_path
):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb)
        left_out = to_leave_out(kb, ["world-3-multiclass", iris.name])
        learn(kb, LessonRequest("neg_log_loss", "multiclass", FAST, left_out))

        settings = settings_of(n_iterations=3, uses_memory=True, exclude_datasets=("world-3-multiclass", iris.name))
        found = [TuneSession(iris, kb, settings, executor).run() for _ in range(2)]

        kept = [path.name for path in place_of(kb).iterdir()]

    assert [each.experience.n_datasets for each in found] == [13, 13]
    # Nothing had to be learnt anew, for which a search under a time budget has no time.
    assert kept == [LessonRequest("neg_log_loss", "multiclass", FAST, left_out).file_name]
