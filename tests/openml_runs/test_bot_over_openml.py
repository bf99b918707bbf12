"""The bot from end to end on tasks of an OpenML where everything goes wrong that can."""

from pathlib import Path

import pytest
from openml_content import N_FOLDS
from openml_fixtures import QUICK
from openml_server import OpenMLServer

from metaml.random_bot.bot import BotSettings, run_bot
from metaml.sources.openml import sources
from metaml_kb import open_kb

pytestmark = pytest.mark.usefixtures("one_pool")

FAULTS = {
    101: ("412", "OpenML answered with status 412"),
    102: ("500", "OpenML answered with status 500"),
    103: ("502", "OpenML answered with status 502"),
    104: ("504", "OpenML answered with status 504"),
    105: ("busy", "OpenML says 'Database connection error"),
    106: ("truncated", "the connection broke off"),
    107: ("cut", "what arrived cannot be read"),
    108: ("hang", "OpenML did not answer in time"),
}


def test_the_right_tasks_are_done_and_the_others_set_aside_with_a_reason(
    server: OpenMLServer, cache: Path, tmp_path: Path
) -> None:
    for task, (kind, _) in FAULTS.items():
        server.fail(f"/api_splits/get/{task}/", kind)
    server.fail("/api/v1/xml/data/31$", "502", times=1)
    asked = [*FAULTS, 64, 75, 404, 31, 37, 7, 52]
    tasks = sources(asked, [98], server=server.address, cache=cache, patience=QUICK)
    settings = BotSettings(algorithms=("decision_tree",), n_runs=4, seed=1, describe_seconds=0.1)

    with open_kb(tmp_path / "kb.db") as kb:
        report = run_bot(kb, tasks, settings)
        runs, datasets = kb.runs(folds=True), kb.datasets()
        qualities = kb.metafeatures(source="openml")

    assert (report.n_done, report.n_failed) == (4, 0)
    assert sorted(runs["dataset"]) == ["credit-g", "plants", "prices", "words52"]
    assert {len(folds) for folds in runs["accuracy"].dropna()} == {N_FOLDS}
    assert set(datasets["source"]) == {"openml"}
    assert set(qualities["NumberOfInstances"]) == {40.0}
    assert set(report.set_aside) == {f"task {number}" for number in (*FAULTS, 64, 75, 404)} | {"suite 98"}
    for task, (_, reason) in FAULTS.items():
        assert reason in report.set_aside[f"task {task}"]
        assert report.set_aside[f"task {task}"].endswith("after 3 tries. Try again later.")
    assert "deactivated" in report.set_aside["task 64"]
    assert "holdout" in report.set_aside["task 75"]
    assert "Unknown task" in report.set_aside["task 404"]
