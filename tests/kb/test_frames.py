"""Runs as a data frame: types, folds and columns that come back as they went in."""

import numpy as np
import pytest

from metaml_kb import KnowledgeBase, frames
from metaml_kb.errors import BadQuery


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


def test_types_come_back_as_they_went_in(kb, run_of):
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


def test_an_inactive_hyperparameter_is_not_one_that_is_none(kb, run_of):
    kb.add_run(run_of(config={"max_depth": None}))
    kb.add_run(run_of(config={"max_depth": 3}))
    kb.add_run(run_of(config={"other": 1}))

    column = kb.runs()["max_depth"]

    assert column[0] is None
    assert column[1] == 3
    assert isinstance(column[1], int)
    assert np.isnan(column[2])


def test_a_hyperparameter_named_like_a_column_gets_a_prefix(kb, run_of):
    kb.add_run(run_of(algorithm="adaboost", config={"algorithm": "SAMME"}))

    frame = kb.runs()

    assert frame.loc[0, ["algorithm", "config.algorithm"]].tolist() == ["adaboost", "SAMME"]


def test_folds_are_kept(kb, run_of):
    kb.add_run(run_of(1))
    kb.add_run(run_of(2, scores={"accuracy": 0.5}))

    frame = kb.runs(folds=True)

    assert frame["accuracy"][0].tolist() == [0.5, 0.75]
    assert frame["accuracy"][1] is None
    assert frame["roc_auc"][0].tolist() == [0.25, 0.5]


def test_an_undefined_score_is_missing(kb, run_of):
    nan = float("nan")
    kb.add_run(run_of(1, scores={"roc_auc": [0.5, nan], "kappa": [nan, nan]}))

    assert kb.runs()["kappa"].isna().tolist() == [True]
    assert kb.runs()["roc_auc"].tolist() == [0.5]


def test_best_is_ordered_and_complete(kb, run_of):
    kb.add_runs([run_of(n, scores={"neg_log_loss": -1.0 / n, "accuracy": n / 10}) for n in (1, 3, 2)])
    kb.add_run(run_of(9, status="partial", scores={"neg_log_loss": [0.0], "accuracy": [1.0]}))

    assert kb.best("iris", "accuracy", 2)["n_estimators"].tolist() == [3, 2]
    assert kb.best("iris", "log_loss", 1)["n_estimators"].tolist() == [3]
    with pytest.raises(BadQuery, match="No run has the metric 'auc'"):
        kb.best("iris", "auc")


def test_no_column_vanishes_with_the_selection(kb, run_of):
    kb.add_run(run_of(1, algorithm="svm", config={"C": 1.0}, scores={"neg_log_loss": -0.5}))
    kb.add_run(run_of(2))

    whole, none, forests = kb.runs(), kb.runs(status="crashed"), kb.runs(status="crashed", algorithm="random_forest")

    assert set(none) == set(whole)
    assert set(none.attrs["metrics"]) == set(whole.attrs["metrics"]) == {"accuracy", "roc_auc", "neg_log_loss"}
    assert "C" not in forests
    assert {"n_estimators", "neg_log_loss"} <= set(forests)
    assert kb.runs(algorithm="svm")["accuracy"].isna().all()
    assert kb.runs(algorithm="svm", folds=True)["accuracy"].tolist() == [None]


def test_fetched_runs_become_arrays_chunk_by_chunk(kb, run_of, monkeypatch):
    kb.add_runs(run_of(number) for number in range(250))
    sizes, add = [], frames._Fetched.add
    monkeypatch.setattr(frames, "CHUNK", 100)
    monkeypatch.setattr(frames._Fetched, "add", lambda *given: sizes.append(len(given[1]["identity"])) or add(*given))

    frame = kb.runs()

    assert len(frame) == 250
    assert sizes == [100, 100, 50]
