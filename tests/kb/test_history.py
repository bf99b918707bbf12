"""What every backend answers about data sets, sessions, fold plans and costs."""

import numpy as np
import pandas as pd
import pytest

from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, KnowledgeBase, SessionRecord, open_kb
from metaml_kb.errors import BadRecord

IRIS, WINE = "f" * 32, "e" * 32
LATE = "out of time"


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


class TestSessions:
    def test_sessions_are_listed_newest_first_with_their_settings(self, kb):
        kb.add_session(SessionRecord("a", "tune", 10.0, finished_at=11.0, seed=2**40, settings={"metric": "r2"}))
        kb.add_session(SessionRecord("b", "bot", 30.0))
        kb.add_session(SessionRecord("c", "tune", 20.0))

        frame = kb.sessions()

        assert list(frame)[:5] == ["key", "kind", "seed", "started_at", "finished_at"]
        assert list(frame)[5:] == ["user", "project", "n_runs", "metric", "score", "settings"]
        assert frame["key"].tolist() == ["b", "c", "a"]
        assert frame["settings"].tolist() == [{}, {}, {"metric": "r2"}]
        assert frame["seed"].iloc[2] == 2**40
        assert np.isnan(frame["finished_at"].iloc[0])

    def test_sessions_that_start_at_the_same_time_are_listed_newest_first(self, kb):
        for key in "abc":
            kb.add_session(SessionRecord(key, "tune", 10.0))

        assert kb.sessions()["key"].tolist() == ["c", "b", "a"]

    def test_sessions_are_limited_to_a_kind_and_to_unfinished_ones(self, kb):
        kb.add_session(SessionRecord("a", "tune", 10.0, finished_at=11.0))
        kb.add_session(SessionRecord("b", "bot", 20.0))
        kb.add_session(SessionRecord("c", "tune", 30.0))

        assert kb.sessions("tune")["key"].tolist() == ["c", "a"]
        assert kb.sessions("tune", unfinished=True)["key"].tolist() == ["c"]
        assert kb.sessions("starter").empty

    def test_a_session_has_its_user_its_project_its_runs_and_the_score_of_its_model(self, kb, run_of):
        key = kb.start_session("tune", settings={"user": "ada", "project": "churn"})
        kb.add_runs(run_of(n, session=key) for n in range(2))
        kb.finish_session(key, final={"metric": "accuracy", "score": 0.75})

        found = kb.sessions().iloc[0]

        assert (found["user"], found["project"], found["n_runs"]) == ("ada", "churn", 2)
        assert (found["metric"], found["score"]) == ("accuracy", 0.75)

    def test_has_session_asks_for_a_kind(self, kb):
        kb.start_session("bot")

        assert kb.has_session("bot")
        assert not kb.has_session("starter")

    def test_events_come_back_in_the_order_in_which_they_were_added(self, kb):
        session, other = kb.start_session("tune"), kb.start_session("tune")
        kb.add_events(session, [("asked", {"n": 1}), ("finished", {"n": 2})])
        kb.add_event(other, "asked", {"n": 3})
        kb.add_event(session, "asked", {"n": 4})

        assert kb.events(session) == [("asked", {"n": 1}), ("finished", {"n": 2}), ("asked", {"n": 4})]
        assert kb.events(session, "asked") == [("asked", {"n": 1}), ("asked", {"n": 4})]
        assert kb.events("unknown") == []

    def test_an_event_of_an_unknown_session_is_refused(self, kb):
        with pytest.raises(BadRecord, match="no session 'unknown'"):
            kb.add_event("unknown", "asked", {})

    def test_each_environment_of_a_session_is_listed_once(self, kb, run_of):
        session = kb.start_session("bot")
        fast = kb.add_environment(EnvironmentRecord({"xgboost": "3.2"}, host="fast", reference_seconds=0.5))
        unknown = kb.add_environment(EnvironmentRecord({"xgboost": "3.1"}, host="unknown"))
        kb.add_runs(run_of(n, session=session, environment=fast) for n in range(3))
        kb.add_run(run_of(4, session=session, environment=unknown))
        kb.add_run(run_of(5))

        frame = kb.session_environments().sort_values("reference_seconds")

        assert frame["session"].tolist() == [session, session]
        assert frame["reference_seconds"].iloc[0] == 0.5
        assert np.isnan(frame["reference_seconds"].iloc[1])
        assert frame["versions"].tolist() == [{"xgboost": "3.2"}, {"xgboost": "3.1"}]

    def test_fold_plans_are_listed_with_unknown_numbers_as_na(self, kb):
        kb.add_fold_plan(FoldPlanRecord("two", "stratified", 2, max_rows=1000))
        kb.add_fold_plan(FoldPlanRecord("bare"))

        frame = kb.fold_plans()

        assert frame["key"].tolist() == ["two", "bare"]
        assert frame["strategy"].tolist() == ["stratified", "unknown"]
        assert frame.loc[0, ["n_folds", "max_rows"]].tolist() == [2, 1000]
        assert frame.loc[1, ["n_folds", "max_rows"]].isna().all()


class TestRuns:
    def test_n_runs_counts_failed_runs_too(self, kb, run_of):
        kb.add_runs([run_of(1), run_of(2, status="failed", scores={})])

        assert kb.n_runs() == 2

    def test_has_algorithm_is_true_once_a_run_of_it_is_stored(self, kb, run_of):
        kb.add_run(run_of(algorithm="svm"))

        assert kb.has_algorithm("svm")
        assert not kb.has_algorithm("knn")

    def test_recent_seconds_are_those_of_the_newest_runs(self, kb, run_of):
        kb.add_dataset(DatasetRecord(WINE, "wine"))
        kb.add_runs(
            [
                run_of(1, algorithm="svm", fit_seconds=9.0),
                run_of(2, algorithm="svm", fit_seconds=1.0, predict_seconds=0.5),
                run_of(3, algorithm="knn", fit_seconds=None, predict_seconds=None),
                run_of(4, dataset=WINE, fit_seconds=7.0),
            ]
        )

        frame = kb.recent_seconds(2)

        assert list(frame) == ["fingerprint", "algorithm", "n_rows", "seconds"]
        assert frame.values.tolist() == [[IRIS, "knn", 150, 0.0], [IRIS, "svm", 150, 1.5]]


class TestDatasets:
    def test_dataset_details_are_of_this_task_and_target_newest_first(self, kb, run_of):
        kb.add_dataset(DatasetRecord(WINE, "wine", task="multiclass", target="species", details={"columns": ["a"]}))
        kb.add_dataset(DatasetRecord("d" * 32, "other", task="multiclass", target="colour"))
        kb.add_dataset(DatasetRecord("c" * 32, "another", task="regression", target="species"))
        kb.add_runs([run_of(1), run_of(2), run_of(3, status="failed", scores={})])

        rows = kb.dataset_details("multiclass", "species").values.tolist()

        assert rows == [[WINE, None, {"columns": ["a"]}, 0], [IRIS, 3, {}, 2]]

    def test_metafeature_values_are_those_of_one_data_set(self, kb):
        kb.add_dataset(DatasetRecord(WINE, "wine"))
        kb.add_metafeatures(IRIS, {"Skewness": 1.0, "Kurtosis": float("nan")})
        kb.add_metafeatures(IRIS, {"Skewness": 2.0}, source="openml")
        kb.add_metafeatures(WINE, {"Skewness": 3.0})

        values = kb.metafeature_values(IRIS)

        assert values == pytest.approx({"Skewness": 2.0, "Kurtosis": float("nan")}, nan_ok=True)
        assert kb.metafeature_values("unknown") == {}

    def test_a_data_set_without_metafeatures_is_not_described(self, kb):
        assert not kb.is_described(IRIS, unless_reason=LATE)
        assert not kb.is_described("unknown", unless_reason=LATE)

    def test_a_data_set_is_described_if_no_metafeature_has_the_reason(self, kb):
        kb.add_metafeatures(IRIS, {"Skewness": 1.0, "Kurtosis": float("nan")}, reasons={"Kurtosis": "no numbers"})

        assert kb.is_described(IRIS, unless_reason=LATE)
        assert not kb.is_described(IRIS, unless_reason="no numbers")


def test_an_empty_knowledge_base_gives_empty_tables_with_all_columns(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        frames = [kb.sessions(), kb.fold_plans(), kb.session_environments(), kb.recent_seconds(5)]
        frames.append(kb.dataset_details("binary", "y"))

        assert [len(frame) for frame in frames] == [0] * 5
        assert all(isinstance(frame, pd.DataFrame) and frame.shape[1] >= 3 for frame in frames)
        assert kb.n_runs() == 0
