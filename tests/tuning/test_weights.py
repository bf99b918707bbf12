"""A search in which rows have weights: as if each row were there as often as it weighs, and never mixed with others."""

import json

import numpy as np
import pandas as pd
import pytest

import metaml
from metaml import MetaMLClassifier
from metaml.data import ColumnOptions, from_frame
from metaml.errors import BadRequest
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of

pytestmark = pytest.mark.usefixtures("one_pool")

N = 160
FAST = {"kb": ":memory:", "algorithms": ("decision_tree",), "iterations": 3, "folds": 3}
EXACT = {"kb": ":memory:", "algorithms": ("elastic_net",), "iterations": 1}


def people() -> pd.DataFrame:
    """Return a table in which heavy rows follow another rule than light ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    weight = rng.integers(1, 5, N)
    signal = np.where(weight > 2, X[:, 0], -X[:, 1]) + 0.5 * rng.normal(size=N)
    return pd.DataFrame(X, columns=list("abc")).assign(w=weight, y=np.where(signal > 0, "yes", "no"))


def folds_of(rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of training and test rows for a table that holds these rows, in which equal ones stay together."""
    return [(np.flatnonzero(rows % 4 != fold), np.flatnonzero(rows % 4 == fold)) for fold in range(4)]


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_weight_two_is_a_doubled_row_from_start_to_end(metric):
    frame = people()
    often = np.repeat(np.arange(N), frame["w"])
    doubled = frame.iloc[often].drop(columns="w").reset_index(drop=True)

    weighed = metaml.tune(frame, "y", weight="w", cv=folds_of(np.arange(N)), metric=metric, **EXACT)
    counted = metaml.tune(doubled, "y", cv=folds_of(often), metric=metric, **EXACT)
    plain = metaml.tune(frame.drop(columns="w"), "y", cv=folds_of(np.arange(N)), metric=metric, **EXACT)

    assert weighed.score == pytest.approx(counted.score, abs=2e-3)
    chances = weighed.model.predict_proba(frame)
    assert chances == pytest.approx(counted.model.predict_proba(frame), abs=5e-3)
    assert np.abs(chances - plain.model.predict_proba(frame)).max() > 0.02


def test_the_order_of_the_rows_changes_nothing():
    frame, order = people(), np.random.default_rng(1).permutation(N)

    here = metaml.tune(frame, "y", weight="w", cv=folds_of(np.arange(N)), **EXACT)
    there = metaml.tune(frame.iloc[order].reset_index(drop=True), "y", weight="w", cv=folds_of(order), **EXACT)

    assert there.score == pytest.approx(here.score, abs=1e-6)
    assert there.model.predict_proba(frame) == pytest.approx(here.model.predict_proba(frame), abs=1e-4)


def test_equal_weights_make_the_runs_that_no_weights_make():
    frame = people().assign(w=3)

    weighed = metaml.tune(frame, "y", weight="w", **FAST)
    plain = metaml.tune(frame.drop(columns="w"), "y", **FAST)

    assert weighed.leaderboard["run"].tolist() == plain.leaderboard["run"].tolist()
    assert weighed.score == plain.score


def test_what_cannot_weigh_rows_is_left_out_by_name_and_the_weights_are_told(tmp_path, capsys):
    options = {**FAST, "algorithms": ("decision_tree", "k_neighbors")}

    result = metaml.tune(people(), "y", weight="w", output=tmp_path, verbose=1, **options)

    assert set(result.leaderboard["algorithm"]) == {"decision_tree"}
    assert "Left out, as it cannot weigh rows: k_neighbors." in capsys.readouterr().err
    told = json.loads((tmp_path / "best.json").read_text())["weights"]
    assert (told["column"], told["least"], told["most"], told["left_out"]) == ("w", 1, 4, ["k_neighbors"])
    assert "Rows count by" in (tmp_path / "report.html").read_text()
    assert "weight='w'" in (tmp_path / "best.py").read_text()
    with pytest.raises(BadRequest, match="No algorithm is left to try: k_neighbors cannot weigh rows by 'w'"):
        metaml.tune(people(), "y", weight="w", **{**FAST, "algorithms": "k_neighbors"})


def test_weighted_runs_are_of_another_data_set_and_can_be_resumed_and_replayed(executor, tmp_path):
    frame = people()
    weighed = from_frame(frame, "y", options=ColumnOptions(weight="w"))
    plain = from_frame(frame.drop(columns="w"), "y")
    settings = settings_of(algorithms=("decision_tree", "elastic_net"), metric="f1")
    with open_kb(tmp_path / "kb.db") as kb:
        key = cut_after(3, weighed, kb, settings, executor)

        assert find_unfinished(kb, plain.fingerprint, PredictionFiles(None)) is None
        earlier = find_unfinished(kb, weighed.fingerprint, PredictionFiles(None))
        found = TuneSession(weighed, kb, settings, executor, resumed=earlier).run()
        steps = replay_session(kb, key)

    assert [trial.run.dataset for trial in found.trials] == [weighed.fingerprint] * 8
    assert all(step.is_same for step in steps)


def test_the_estimator_takes_weights_beside_the_rows():
    frame = people()
    X, y = frame[["a", "b", "c"]], frame["y"]
    options = {**EXACT, "random_state": 0, "cv": folds_of(np.arange(N))}

    weighed = MetaMLClassifier(**options).fit(X, y, sample_weight=frame["w"])
    plain = MetaMLClassifier(**options).fit(X, y)

    table = metaml.tune(frame, "y", weight="w", cv=folds_of(np.arange(N)), **EXACT)
    assert weighed.best_score_ == pytest.approx(table.score)
    assert weighed.best_score_ != pytest.approx(plain.best_score_)
