"""`metaml replay` compares optimisers on recorded runs, and retraces a session."""

import json

from metaml_kb import open_kb
from tests.cli.terminal import metaml
from tests.predicted import keep_predictions
from tests.recorded import record


def test_the_command_prints_a_table_and_writes_curves(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        record(kb)

    result = metaml(
        "replay", "--kb", tmp_path / "kb.db", "--optimisers", "gbqr,random", "--seeds", 1, "--evaluations", 10,
        "--output", tmp_path / "out", "--format", "json",
    )  # fmt: skip

    assert [row["optimiser"] for row in json.loads(result.stdout)] == ["gbqr", "random"] * 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "curves.csv",
        "first-evaluations.svg",
        "first-seconds.svg",
        "second-evaluations.svg",
        "second-seconds.svg",
        "simulations.csv",
    ]


def test_schedules_of_simulated_workers_are_compared(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        record(kb)

    result = metaml(
        "replay", "--kb", tmp_path / "kb.db", "--optimisers", "gbqr", "--seeds", 1, "--algorithm", "first",
        "--simulated-workers", 4, "--format", "json",
    )  # fmt: skip

    rows = json.loads(result.stdout)
    assert [(row["schedule"], row["workers"]) for row in rows] == [("gbqr asynchronous", 4), ("gbqr rambo", 4)]


def test_the_command_takes_a_table(tmp_path):
    rows = "".join(f"3,{x},{0.5 + x / 100}\n" for x in range(30))
    (tmp_path / "forest.csv").write_text("task,depth,acc\n" + rows)

    result = metaml(
        "replay", "--table", tmp_path / "forest.csv", "--dataset-column", "task", "--score-column", "acc",
        "--optimisers", "random", "--seeds", 1, "--evaluations", 5, "--format", "json",
    )  # fmt: skip

    assert json.loads(result.stdout)[0]["algorithm"] == "forest"


def test_a_session_that_is_not_there_gets_one_sentence(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        record(kb)

    result = metaml("replay", "--session", "ffff", "--kb", tmp_path / "kb.db", code=2)

    assert "No tuning session has a key that begins with 'ffff'" in result.stderr


def test_openings_are_compared_by_the_final_ensemble_on_kept_predictions(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        keep_predictions(kb)

    result = metaml(
        "replay", "--ensemble", "--kb", tmp_path / "kb.db", "--openings", "levels,ensemble/free", "--budgets", 2,
        "--seconds", "4.5", "--rules", "selected,best", "--output", tmp_path / "out", "--format", "json",
    )  # fmt: skip

    rows = json.loads(result.stdout)
    assert {(row["opening"], row["rule"], row["budget"]) for row in rows} == {
        (opening, rule, budget)
        for opening in ("levels", "ensemble/free")
        for rule in ("selected", "best")
        for budget in ("2 evaluations", "4.5 s")
    }
    assert (tmp_path / "out" / "losses.csv").exists()


def test_without_kept_predictions_one_sentence_says_how_to_keep_some(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        record(kb)

    result = metaml("replay", "--ensemble", "--kb", tmp_path / "kb.db", code=2)

    assert "metaml bot FOLDER --keep-predictions" in result.stderr
