"""Evaluations of others, from the loopback server into a knowledge base."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from openml_server import OpenMLServer

from metaml.errors import BadRequest
from metaml.evaluation import given_plan
from metaml.openml_runs.importing import import_evaluations
from metaml.sources.openml import Client, load_task
from metaml_kb import KnowledgeBase, open_kb


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(tmp_path / "kb.db") as base:
        yield base


def test_evaluations_come_with_their_hyperparameters(kb: KnowledgeBase, client: Client) -> None:
    report = import_evaluations(kb, [31], [6969, 6970, 6767], client=client)

    assert (report.n_new, report.n_known, report.n_mapped) == (7, 0, 3)
    assert report.set_aside == {}
    assert report.kept == {
        "flow 6969: max_depth is 4, which ours cannot be": 1,
        "flow 6969: it lies outside our space": 1,
        "flow 6970: SAMME.R is gone from scikit-learn": 1,
        "flow 6767: the flow has no counterpart here": 1,
    }
    runs = kb.runs().set_index("seed")
    assert runs.loc[101, "algorithm"] == "random_forest"
    assert runs.loc[101, "accuracy"] == pytest.approx(0.7101)
    assert runs.loc[101, "roc_auc"] == 0.8
    assert runs.loc[101, "min_samples_leaf"] == 3
    assert runs.loc[301, "algorithm"] == "openml.flow.6767"
    assert runs.loc[301, "eta"] == 0.1
    assert set(runs["origin"]) == {"imported"}


def test_they_belong_to_the_data_set_and_folds_that_a_bot_sees(kb: KnowledgeBase, client: Client) -> None:
    import_evaluations(kb, [31], [6767], client=client)

    loaded = load_task(client, 31)
    assert loaded.folds is not None
    assert kb.datasets()["fingerprint"].tolist() == [loaded.dataset.fingerprint]
    assert kb.runs()["fold_plan"].tolist() == [given_plan(loaded.folds).hash]
    majority = kb.metafeatures(source="openml").loc[loaded.dataset.fingerprint, "MajorityClassPercentage"]
    assert 50 <= majority <= 100


def test_importing_again_adds_nothing(kb: KnowledgeBase, client: Client) -> None:
    import_evaluations(kb, [31], [6969], client=client)

    report = import_evaluations(kb, [31], [6969], client=client)

    assert (report.n_new, report.n_known) == (0, 4)


def test_the_limit_holds_for_each_flow(kb: KnowledgeBase, client: Client) -> None:
    assert import_evaluations(kb, [31], [6969], client=client, limit=2).n_new == 2


def test_without_the_data_runs_are_kept_by_the_name_of_the_data_set(
    kb: KnowledgeBase, client: Client, server: OpenMLServer
) -> None:
    server.fail("download/31", "500")

    report = import_evaluations(kb, [31], [6969], client=client)

    assert kb.datasets()["fingerprint"].tolist() == ["name:credit-g"]
    assert report.kept == {"flow 6969: the data set is not known": 4}
    assert "status 500, after 3 tries" in report.set_aside["data of task 31"]


def test_a_task_whose_evaluations_cannot_be_had_is_set_aside(
    kb: KnowledgeBase, client: Client, server: OpenMLServer
) -> None:
    server.fail("evaluation/list.*/task/31/", "504")

    report = import_evaluations(kb, [31, 7], [6969], client=client)

    assert report.n_new == 0
    assert report.set_aside == {
        "task 31": "evaluations of flow 6969 on task 31: OpenML answered with status 504, after 3 tries. "
        "Try again later."
    }


def test_nothing_asked_for_and_offline_are_refused(kb: KnowledgeBase, client: Client) -> None:
    with pytest.raises(BadRequest, match="at least one --task and one --flow"):
        import_evaluations(kb, [31], [], client=client)
    with pytest.raises(BadRequest, match="cannot be fetched offline"):
        import_evaluations(kb, [31], [6969], client=Client(offline=True))
