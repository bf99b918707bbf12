"""What every backend promises: one class of claims, run on each."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

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
    open_kb,
    tables,
)
from metaml_kb.engine import reading
from metaml_kb.errors import BadQuery, BadRecord

_numbers = count()
ENDLESS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)"


@pytest.fixture(params=["file", "memory", "postgresql"])
def kb(request, tmp_path) -> Iterator[KnowledgeBase]:
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres_url")(f"contract_{next(_numbers)}")
    else:
        place = ":memory:" if request.param == "memory" else tmp_path / "kb.db"
    with open_kb(place) as base:
        base.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass", n_rows=150))
        yield base


class TestRuns:
    def test_a_stored_run_comes_back_with_its_hyperparameters_and_scores(self, kb, run_of):
        kb.add_run(run_of(7))

        row = kb.runs().iloc[0]

        assert (row["dataset"], row["algorithm"], row["n_estimators"], row["criterion"]) == (
            "iris", "random_forest", 7, "gini",
        )  # fmt: skip
        assert (row["accuracy"], row["roc_auc"], row["fit_seconds"]) == (0.625, 0.375, 1.5)

    def test_types_come_back_as_they_went_in(self, kb, run_of):
        config = {"none": None, "true": True, "one": 1, "float": 1.0, "word": "None", "text": 'a,"b\\'}
        kb.add_run(run_of(config=config))
        kb.add_run(run_of(config={"none": "word"}))

        row = kb.runs().iloc[0]

        assert row["none"] is None
        assert row["true"] is True
        assert (type(row["one"]), row["one"]) == (int, 1)
        assert isinstance(row["float"], float)
        assert row["word"] == "None"
        assert row["text"] == 'a,"b\\'

    def test_an_inactive_hyperparameter_is_not_one_that_is_none(self, kb, run_of):
        kb.add_run(run_of(config={"max_depth": None}))
        kb.add_run(run_of(config={"max_depth": 3}))
        kb.add_run(run_of(config={"other": 1}))

        column = kb.runs()["max_depth"]

        assert column[0] is None
        assert column[1] == 3
        assert isinstance(column[1], int)
        assert np.isnan(column[2])

    def test_a_hyperparameter_named_like_a_column_gets_a_prefix(self, kb, run_of):
        kb.add_run(run_of(algorithm="adaboost", config={"algorithm": "SAMME"}))

        frame = kb.runs()

        assert frame.loc[0, ["algorithm", "config.algorithm"]].tolist() == ["adaboost", "SAMME"]

    def test_a_known_run_is_not_stored_twice(self, kb, run_of):
        first = kb.add_run(run_of(1))
        second = kb.add_run(run_of(1))

        assert (first.n_new, second.n_new, second.n_known, second.clashes) == (1, 0, 1, ())
        assert len(kb.runs()) == 1

    def test_another_score_of_the_same_run_is_reported_and_not_stored(self, kb, run_of):
        kb.add_run(run_of(1))

        added = kb.add_run(run_of(1, scores={"accuracy": [0.9, 0.9], "roc_auc": [0.25, 0.5]}))

        assert [(c.metric, c.stored, c.offered) for c in added.clashes] == [("accuracy", 0.625, 0.9)]
        assert kb.runs()["accuracy"].tolist() == [0.625]

    def test_a_time_out_does_not_stand_in_the_way_of_a_later_success(self, kb, run_of):
        kb.add_run(run_of(1, status="timeout", scores={}, error="limit of 10 s"))
        added = kb.add_run(run_of(1))

        assert added.n_new == 1
        assert kb.runs()["status"].tolist() == ["timeout", "ok"]
        assert kb.runs()["error"].iloc[0] == "limit of 10 s"

    def test_a_configuration_is_stored_once(self, kb, run_of):
        kb.add_runs([run_of(1, seed=seed) for seed in range(5)])

        assert kb.sql("SELECT count(*) AS n FROM configuration")["n"].tolist() == [1]

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

    def test_folds_are_kept(self, kb, run_of):
        kb.add_run(run_of(1))
        kb.add_run(run_of(2, scores={"accuracy": 0.5}))

        frame = kb.runs(folds=True)

        assert frame["accuracy"][0].tolist() == [0.5, 0.75]
        assert frame["accuracy"][1] is None
        assert frame["roc_auc"][0].tolist() == [0.25, 0.5]

    def test_an_undefined_score_is_missing(self, kb, run_of):
        nan = float("nan")
        kb.add_run(run_of(1, scores={"roc_auc": [0.5, nan], "kappa": [nan, nan]}))

        assert kb.runs()["kappa"].isna().tolist() == [True]
        assert kb.runs()["roc_auc"].tolist() == [0.5]

    def test_many_chunks_give_one_frame(self, kb, run_of):
        added = kb.add_runs((run_of(n, scores={"accuracy": n / 3000}) for n in range(3000)), chunk=700)

        frame = kb.runs()

        assert added.n_new == 3000
        assert frame["n_estimators"].tolist() == list(range(3000))
        assert frame["accuracy"].tolist() == [n / 3000 for n in range(3000)]

    def test_the_number_of_statements_does_not_depend_on_the_number_of_runs(self, kb, run_of):
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

    def test_a_refused_chunk_leaves_nothing(self, kb, run_of):
        with pytest.raises(BadRecord):
            kb.add_runs([run_of(1), run_of(2, dataset="nobody")])

        assert kb.runs().empty


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

    def test_metafeatures_come_back_as_a_table(self, kb):
        values = {"NumberOfInstances": 150.0, "ClassEntropy": float("nan")}
        kb.add_metafeatures("f" * 32, values, reasons={"ClassEntropy": "too slow"}, seconds={"simple": 0.1})
        kb.add_metafeatures("f" * 32, {"ClassEntropy": 1.5})

        table = kb.metafeatures()

        assert table.loc["f" * 32].to_dict() == {"NumberOfInstances": 150.0, "ClassEntropy": 1.5}

    def test_openmls_value_comes_before_ours(self, kb):
        kb.add_metafeatures("f" * 32, {"Dimensionality": 1.0})
        kb.add_metafeatures("f" * 32, {"Dimensionality": 2.0}, source="openml")

        assert kb.metafeatures()["Dimensionality"].tolist() == [2.0]
        assert kb.metafeatures(source="computed")["Dimensionality"].tolist() == [1.0]


class TestAsking:
    def test_counts_and_configurations_tell_what_was_tried(self, kb, run_of):
        kb.add_runs([run_of(1), run_of(1, seed=1), run_of(None), run_of(2, algorithm="svm")])

        assert kb.run_counts() == {("f" * 32, "random_forest"): 3, ("f" * 32, "svm"): 1}
        assert kb.configs("f" * 32, "svm") == [{"criterion": "gini", "n_estimators": 2}]
        assert len(kb.configs("f" * 32, "random_forest")) == 2

    def test_best_is_ordered_and_complete(self, kb, run_of):
        kb.add_runs([run_of(n, scores={"neg_log_loss": -1.0 / n, "accuracy": n / 10}) for n in (1, 3, 2)])
        kb.add_run(run_of(9, status="partial", scores={"neg_log_loss": [0.0], "accuracy": [1.0]}))

        assert kb.best("iris", "accuracy", 2)["n_estimators"].tolist() == [3, 2]
        assert kb.best("iris", "log_loss", 1)["n_estimators"].tolist() == [3]
        with pytest.raises(BadQuery, match="No run has the metric 'auc'"):
            kb.best("iris", "auc")

    def test_sql_answers_with_a_frame(self, kb, run_of):
        kb.add_runs([run_of(n) for n in range(3)])

        frame = kb.sql(
            "SELECT algorithm, max(value) AS best FROM result WHERE metric = :m GROUP BY algorithm", {"m": "accuracy"}
        )
        settings = kb.sql("SELECT count(*) AS n FROM setting WHERE name = 'criterion' AND value = 'gini'")

        assert frame.values.tolist() == [["random_forest", 0.625]]
        assert settings["n"].tolist() == [3]

    def test_sql_tells_whole_numbers_to_the_last_digit(self, kb):
        kb.start_session("bot", seed=2**62 + 1)
        kb.start_session("bot")

        frame = kb.sql("SELECT seed FROM session ORDER BY seed IS NULL")
        total = kb.sql("SELECT sum(seed) AS total FROM session")["total"].tolist()

        assert int(frame["seed"].iloc[0]) == 2**62 + 1
        assert frame["seed"].isna().tolist() == [False, True]
        assert (total, type(total[0])) == ([2**62 + 1], int)

    @pytest.mark.parametrize(
        "query",
        [
            "DELETE FROM run",
            "SELECT 1; DELETE FROM run",
            "SELECT 1; COMMIT; DELETE FROM run",
            "WITH gone AS (DELETE FROM run RETURNING id) SELECT * FROM gone",
            "/* SELECT */ DROP TABLE run",
            "ATTACH DATABASE 'other.db' AS other",
            "PRAGMA journal_mode=DELETE",
            "EXPLAIN ANALYZE DELETE FROM run",
        ],
    )
    def test_sql_cannot_write(self, kb, run_of, query):
        kb.add_run(run_of(1))

        with pytest.raises(BadQuery):
            kb.sql(query)

        assert len(kb.runs()) == 1
        kb.add_run(run_of(2))

    @pytest.mark.parametrize("query", ["connection FROM run", "readonly FROM run", "* FROM disk", "locked(1)", "1 +"])
    def test_a_wrong_query_is_not_blamed_on_the_database(self, kb, query):
        with pytest.raises(BadQuery, match=r"cannot be run: .*metaml kb info --schema"):
            kb.sql(f"SELECT {query}")

    def test_an_explanation_that_ends_with_a_full_stop_gets_no_second_one(self, kb):
        with pytest.raises(BadQuery, match=r"[^.]\. Tables and columns") as refused:
            kb.sql("SELECT ?")

        assert ".." not in str(refused.value)

    def test_sql_without_an_end_is_stopped(self, kb):
        with pytest.raises(BadQuery, match=r"took more than 0\.2 seconds and was stopped.*--timeout"):
            kb.sql(f"{ENDLESS} SELECT count(*) FROM number", timeout=0.2)

        assert kb.n_runs() == 0

    def test_sql_whose_result_has_no_end_is_stopped(self, kb):
        with pytest.raises(BadQuery, match=r"took more than 30 megabytes of memory and was stopped.*--limit-memory"):
            kb.sql(f"{ENDLESS} SELECT n, 'word ' || n FROM number", limit_memory=30)

        assert kb.sql("SELECT 1 AS n")["n"].tolist() == [1]

    def test_sql_with_many_rows_is_complete(self, kb):
        frame = kb.sql(f"{ENDLESS} SELECT n FROM number LIMIT 2500")

        assert frame["n"].tolist() == list(range(1, 2501))

    def test_info_counts(self, kb, run_of):
        kb.add_runs([run_of(1), run_of(2, algorithm="svm"), run_of(3, status="memory", scores={})])

        info = kb.info()

        assert (info["runs"], info["datasets"], info["schema"]) == (3, 1, "0001")
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

    def test_the_revision_changes_with_every_addition(self, kb, run_of):
        before = kb.revision()
        kb.add_run(run_of(1))
        after = kb.revision()
        kb.add_run(run_of(1))

        assert before != after == kb.revision()

    def test_a_task_that_is_none_is_learnt_later_and_then_stays(self, kb):
        before = kb.revision()
        for task in ("mistyped", "unknown", "binary", "regression", "unknown"):
            is_new = kb.add_dataset(DatasetRecord("e" * 32, "wine", task=task))

        assert not is_new
        assert kb.datasets().set_index("name")["task"]["wine"] == "binary"
        assert int(kb.revision().split("-")[1]) == int(before.split("-")[1]) + 2

    def test_datasets_are_listed_with_their_number_of_runs(self, kb, run_of):
        kb.add_dataset(DatasetRecord("e" * 32, "wine"))
        kb.add_run(run_of(1))

        frame = kb.datasets()

        assert frame[["name", "n_runs"]].values.tolist() == [["iris", 1], ["wine", 0]]
        assert frame["n_rows"][0] == 150
        assert frame["n_rows"][1] is pd.NA
