"""A search by group or by time: honest from the folds to the report, and kept in the knowledge base."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import metaml
from metaml.data import ColumnOptions, from_frame
from metaml.errors import BadDataset
from metaml.splits import GivenFolds
from metaml.tuning.resume import find_unfinished
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from metaml_kb.lookup import find_run
from tests.tuning.sessions import cut_after, settings_of

pytestmark = pytest.mark.usefixtures("one_pool")

FAST = {"algorithms": ("decision_tree", "k_neighbors"), "iterations": 4, "folds": 4, "kb": ":memory:"}


def visits(n: int = 300, n_customers: int = 60) -> pd.DataFrame:
    """Repeated visits: a customer can be recognised by columns that say nothing about new customers."""
    rng = np.random.default_rng(0)
    customer = rng.integers(0, n_customers, n)
    habits, likes = rng.normal(size=(n_customers, 3)), rng.random(n_customers) > 0.5
    y = np.where(rng.random(n) < 0.1, ~likes[customer], likes[customer])
    columns = {f"habit{k}": habits[customer, k] for k in range(3)}
    days = pd.date_range("2024-01-01", periods=n)
    return pd.DataFrame({"day": days, "customer_id": customer, **columns, "y": np.where(y, "yes", "no")})


def test_by_group_the_score_is_that_of_new_groups_and_shuffled_it_is_not(tmp_path):
    frame = visits()
    old, new = frame[frame["customer_id"] < 45], frame[frame["customer_id"] >= 45]

    shuffled = metaml.tune(old.drop(columns="customer_id"), "y", test=new, **FAST)
    grouped = metaml.tune(old, "y", group="customer_id", test=new, output=tmp_path, **FAST)

    assert shuffled.score - shuffled.test_score > 0.15
    assert abs(grouped.score - grouped.test_score) < 0.15
    assert grouped.score < shuffled.score - 0.15
    told = json.loads((tmp_path / "best.json").read_text())
    assert told["split"]["strategy"] == "group"
    assert told["test"]["n_rows"] == len(new)
    assert "on new groups by" in (tmp_path / "report.html").read_text()
    assert "No value of" in (tmp_path / "report.html").read_text()


def test_without_a_word_the_report_says_what_to_type_and_that_the_score_would_be_lower():
    result = metaml.tune(visits(), "y", **FAST)

    page = result.html()

    assert "type --group customer_id" in page
    assert "expect much less than the score above there" in page


def test_by_time_every_run_trains_on_the_past_and_the_plan_is_kept(tmp_path):
    dataset = from_frame(visits(), "y", options=ColumnOptions(time="day", group="customer_id"))

    with open_kb(tmp_path / "kb.db") as kb:
        metaml.tune(visits(), "y", time="day", group="customer_id", **{**FAST, "kb": kb})
        key = kb.runs()["run"].iloc[0]
        stored = find_run(kb, key)

    assert stored.fold_plan.strategy == "group_forward"
    assert stored.dataset.fingerprint == dataset.fingerprint
    assert stored.dataset.details["roles"] == {"group": "customer_id", "time": "day"}


def test_a_run_by_time_is_made_again_from_its_file(tmp_path):
    path = tmp_path / "visits.csv"
    visits().to_csv(path, index=False)

    metaml.tune(path, "y", time="day", group="customer_id", **{**FAST, "iterations": 1, "kb": tmp_path / "kb.db"})
    with open_kb(tmp_path / "kb.db") as kb:
        key = kb.runs()["run"].iloc[0]
    result = metaml.reproduce(key, data=path, kb=tmp_path / "kb.db")

    assert result.is_same


def test_the_program_of_the_best_run_splits_as_the_search_did(tmp_path):
    visits().to_csv(tmp_path / "visits.csv", index=False)

    result = metaml.tune(tmp_path / "visits.csv", "y", time="day", metric="accuracy", output=tmp_path / "o", **FAST)
    program = [sys.executable, str(tmp_path / "o" / "best.py"), str(tmp_path / "visits.csv")]
    told = subprocess.run(program, capture_output=True, text=True, check=True)

    assert float(told.stdout) == pytest.approx(result.leaderboard["score"].max())


def test_given_folds_are_used_and_a_resumed_session_keeps_them(iris, executor, tmp_path):
    settings = settings_of(splitter=GivenFolds(KFold(4, shuffle=True, random_state=3)), n_iterations=6)

    with open_kb(tmp_path / "kb.db") as kb:
        cut_after(3, iris, kb, settings, executor)
        earlier = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        resumed = TuneSession(iris, kb, earlier.resumed(settings_of(n_iterations=6)), executor, resumed=earlier)
        found = resumed.run()
        plans = set(kb.runs()["fold_plan"])

    assert len(found.trials) == 6
    assert plans == {found.plan.hash}
    assert found.plan.n_folds == 4


def test_a_table_without_the_target_is_refused_before_the_search():
    with pytest.raises(BadDataset, match="no column 'y'"):
        metaml.tune(visits(), "y", test=visits().drop(columns="y"), **FAST)


def test_rows_of_an_unknown_class_are_left_out_of_the_test(tmp_path):
    frame = visits()
    test = frame.head(50).assign(y=["maybe"] * 5 + ["yes"] * 20 + ["no"] * 25)

    result = metaml.tune(frame, "y", test=test, output=tmp_path, **{**FAST, "iterations": 1})

    assert result.facts.own_test.n_rows == 45
    assert "5 rows left out" in " ".join(result.facts.own_test.notes)
