"""What every backend promises: one class of claims, run on each."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import func, select

from metaml_kb import (
    DatasetRecord,
    EnvironmentRecord,
    FoldPlanRecord,
    KnowledgeBase,
    ProposalRecord,
    tables,
)
from metaml_kb.engine import reading
from metaml_kb.errors import BadQuery, BadRecord
from metaml_kb.schema import HEAD


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


class TestRuns:
    def test_a_stored_run_comes_back_with_its_hyperparameters_and_scores(self, kb, run_of):
        kb.add_run(run_of(7))

        row = kb.runs().iloc[0]

        assert (row["dataset"], row["algorithm"], row["n_estimators"], row["criterion"]) == (
            "iris", "random_forest", 7, "gini",
        )  # fmt: skip
        assert (row["accuracy"], row["roc_auc"], row["fit_seconds"]) == (0.625, 0.375, 1.5)

    def test_filters_choose_runs(self, kb, run_of):
        long_ago = datetime(2020, 1, 1, tzinfo=UTC)
        kb.add_dataset(DatasetRecord("e" * 32, "wine"))
        kb.add_runs(
            [
                run_of(1, finished_at=long_ago.timestamp()),
                run_of(2, algorithm="svm"),
                run_of(3, dataset="e" * 32),
                run_of(4, status="crashed", scores={}),
                run_of(5, origin="default"),
            ]
        )

        def numbers(**wanted: object) -> list[int]:
            return kb.runs(**wanted)["n_estimators"].tolist()

        assert numbers(algorithm="svm") == [2]
        assert numbers(dataset="wine") == [3]
        assert numbers(dataset=["wine", "f" * 32]) == [1, 2, 3, 4, 5]
        assert numbers(status=["crashed"]) == [4]
        assert numbers(origin="default") == [5]
        assert numbers(since=long_ago + timedelta(days=1)) == [2, 3, 4, 5]
        assert numbers(since="2020-01-02") == [2, 3, 4, 5]
        assert numbers(limit=2) == [4, 5]
        assert numbers(algorithm="svm", dataset="iris", limit=9) == [2]

    def test_an_unknown_data_set_is_named_with_those_there_are(self, kb):
        with pytest.raises(BadQuery, match=r"no data set irsi .*Known: iris"):
            kb.runs(dataset="irsi")


class TestBadRecords:
    def test_a_run_on_an_unknown_data_set_is_refused(self, kb, run_of):
        with pytest.raises(BadRecord, match=r"names the dataset 'nobody'.*add_dataset"):
            kb.add_run(run_of(dataset="nobody"))

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), [1, 2], {"a": 1}, object()])
    def test_a_value_that_json_does_not_know_is_refused(self, kb, run_of, value):
        with pytest.raises(BadRecord, match="Hyperparameter 'depth' is"):
            kb.add_run(run_of(config={"depth": value}))

    def test_an_unknown_status_is_refused(self, kb, run_of):
        with pytest.raises(BadRecord, match="status 'done'"):
            kb.add_run(run_of(status="done"))

    def test_metrics_with_different_folds_are_refused(self, kb, run_of):
        with pytest.raises(BadRecord, match="same number of folds"):
            kb.add_run(run_of(scores={"accuracy": [0.5], "roc_auc": [0.5, 0.5]}))


class TestCompanions:
    def test_proposals_and_predictions_are_kept(self, kb, run_of):
        predictions = np.array([[0.25, 0.75], [np.nan, np.nan]], dtype=np.float32)
        run = run_of(1, proposal=ProposalRecord("gbqr", predicted_score=0.7), predictions=predictions)

        kb.add_run(run)

        np.testing.assert_array_equal(kb.predictions(run.identity), predictions)
        assert kb.sql("SELECT proposer, predicted_score FROM proposal").values.tolist() == [["gbqr", 0.7]]

    def test_a_run_without_predictions_says_so(self, kb, run_of):
        kb.add_run(run_of(1))

        with pytest.raises(BadQuery, match="no stored predictions"):
            kb.predictions(run_of(1).identity)

    def test_sessions_environments_plans_and_events_are_kept(self, kb, run_of):
        session = kb.start_session("bot", seed=3, settings={"workers": 2})
        environment = kb.add_environment(EnvironmentRecord({"scikit-learn": "1.9"}, reference_seconds=0.3))
        kb.add_fold_plan(FoldPlanRecord("2-fold", "stratified", 2, seed=0, assignment=b"\x00\x01"))

        kb.add_run(run_of(1, session=session, environment=environment))
        events = [kb.add_event(session, "asked", {"n": n}) for n in range(2)]
        kb.finish_session(session)

        assert events == [1, 2]
        assert kb.runs(session="bot")["session"].tolist() == [session]
        assert kb.sql("SELECT strategy, n_folds FROM fold_plan").values.tolist() == [["stratified", 2]]
        assert kb.sql("SELECT count(*) AS n FROM session WHERE finished_at IS NOT NULL")["n"].tolist() == [1]

    def test_a_run_and_what_its_session_says_of_it_are_stored_together_or_not_at_all(self, kb, run_of):
        session = kb.start_session("tune")
        told = [("asked", {"n": 1}), ("finished", {"n": 1})]

        kb.add_run(run_of(1, session=session), events=told)
        with pytest.raises(BadRecord):
            kb.add_run(run_of(2, session=session, environment="nobody's"), events=told)

        log = kb.sql("SELECT number, kind FROM event ORDER BY number").values.tolist()
        assert len(kb.runs()) == 1
        assert log == [[1, "asked"], [2, "finished"]]
        assert kb.add_events(session, told) == 4


class TestAsking:
    def test_counts_and_configurations_tell_what_was_tried(self, kb, run_of):
        kb.add_runs([run_of(1), run_of(1, seed=1), run_of(None), run_of(2, algorithm="svm")])

        assert kb.run_counts() == {("f" * 32, "random_forest"): 3, ("f" * 32, "svm"): 1}
        assert kb.configs("f" * 32, "svm") == [{"criterion": "gini", "n_estimators": 2}]
        assert len(kb.configs("f" * 32, "random_forest")) == 2

    def test_info_counts(self, kb, run_of):
        kb.add_runs([run_of(1), run_of(2, algorithm="svm"), run_of(3, status="memory", scores={})])

        info = kb.info()

        assert (info["runs"], info["datasets"], info["schema"]) == (3, 1, HEAD)
        assert info["runs_by_status"] == {"ok": 2, "memory": 1}
        assert info["runs_by_algorithm"] == {"random_forest": 2, "svm": 1}
        assert info["metrics"] == ["accuracy", "roc_auc"]

    def test_info_tells_a_starter_from_what_is_yours(self, kb, run_of):
        kb.add_dataset(DatasetRecord("e" * 32, "wine"))
        kb.add_dataset(DatasetRecord("d" * 32, "zoo"))
        starter = kb.start_session("starter")
        kb.add_runs([run_of(1, session=starter), run_of(2), run_of(3, dataset="e" * 32, session=starter)])

        info = kb.info()

        assert info["runs_by_source"] == {"starter": 2, "yours": 1}
        assert info["datasets_by_source"] == {"starter": 1, "yours": 2}

    def test_a_reader_sees_one_state_whatever_is_written_meanwhile(self, kb, run_of):
        if kb.name == "the knowledge base in memory":
            pytest.skip("It has one connection only.")
        kb.add_run(run_of(1))
        n_runs = select(func.count()).select_from(tables.run)

        with reading(kb.engine) as connection:
            before = connection.execute(n_runs).scalar_one()
            kb.add_run(run_of(2))
            after = connection.execute(n_runs).scalar_one()

        assert (before, after, len(kb.runs())) == (1, 1, 2)

    def test_datasets_are_listed_with_their_number_of_runs(self, kb, run_of):
        kb.add_dataset(DatasetRecord("e" * 32, "wine"))
        kb.add_run(run_of(1))

        frame = kb.datasets()

        assert frame[["name", "n_runs"]].values.tolist() == [["iris", 1], ["wine", 0]]
        assert frame["n_rows"][0] == 150
        assert frame["n_rows"][1] is pd.NA
