"""A tuning session: defaults first, everything stored, deterministic, on time."""

from itertools import count

import pytest

from metaml.budget import Budget
from metaml.ensemble.threshold_scores import judge
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.experience.lesson_files import LessonRequest, learn, place_of
from metaml.experience.load_history import to_leave_out
from metaml.records.conversion import store_metafeatures
from metaml.tuning.resume import find_unfinished
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles, ranked
from metaml_kb import DatasetRecord, open_kb
from tests.experienced import fill
from tests.tuning.sessions import FAST, settings_of


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


def test_experience_opens_the_search_and_then_judges(experienced):
    kb, found = experienced

    frame = kb.runs(session=found.session)
    proposers = kb.sql("SELECT proposer FROM proposal")["proposer"].tolist()

    assert frame["origin"].iloc[0] == "warm start"
    assert "experience" in proposers
    assert found.experience.n_datasets == 14
    assert found.experience.n_warm_starts >= 2


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

    session = TuneSession(iris, kb, settings_of(n_iterations=None, seconds=3.0), executor)
    found = session.run()

    assert session.advisor.experience is None
    assert found.experience.n_runs == longer.experience.n_runs
    assert found.experience.n_datasets == longer.experience.n_datasets
    assert len(session.search_plan.initial_design) >= 2
    assert found.experience.n_warm_starts >= 1
    assert found.trials[0].run.proposal.details["carriers"]


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


def test_ranking_prefers_the_earlier_of_equals(tuned):
    _, found = tuned
    best = found.ranked[0]

    assert ranked([best, best])[0] is best


def test_a_search_that_begins_late_learns_each_score_for_what_was_evaluated(iris, executor):
    with open_kb(":memory:") as kb:
        session = TuneSession(
            iris,
            kb,
            settings_of(algorithms=("lightgbm", "decision_tree"), n_iterations=None, seconds=6.0, n_workers=2),
            executor,
            budget=Budget(6.0, used_before=3.0),
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


def test_what_experience_contributed_is_what_the_event_log_says(experienced):
    kb, found = experienced
    finished = [details["run"] for _, details in kb.events(found.session, "finished")]
    warm = kb.runs(session=found.session, origin="warm start")["run"].tolist()

    assert found.experience is not None
    assert found.experience.n_warm_starts == sum(run in warm for run in finished) > 0


def test_the_seconds_of_evaluations_that_were_cut_off_are_booked_as_lost(iris, executor):
    limits = Limits(0.001)
    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings_of(n_iterations=2, limits=limits), executor).run()

    lost = sum(trial.outcome.seconds for trial in found.trials if trial.outcome.status == "timeout")
    assert lost > 0
    assert found.ledger["killed"] == pytest.approx(lost)


class NothingEnds:
    """Two workers that never finish anything; each look at them takes five seconds of the clock."""

    n_workers = 2

    def __init__(self, moments):
        self.moments, self.tickets = moments, count()

    def add(self, dataset):
        pass

    def submit(self, job):
        return next(self.tickets)

    def next(self, timeout=None):
        if timeout:
            self.moments.append(self.moments[-1] + 5.0)

    def cancel(self, ticket=None):
        pass

    def take_folds(self, ticket):
        return ()


def test_the_seconds_of_evaluations_that_the_end_of_a_search_cut_off_are_booked_as_lost(iris):
    moments = [0.0]
    budget = Budget(20.0, clock=lambda: moments[-1])
    settings = settings_of(n_iterations=None, seconds=20.0)
    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings, NothingEnds(moments), budget=budget).run()

    # Two evaluations of 20 s, side by side.
    assert found.trials == ()
    assert found.ledger["killed"] == pytest.approx(20.0)
