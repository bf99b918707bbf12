"""`metaml bot` as a person starts and stops it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from metaml_kb import open_kb
from tests.cli.terminal import metaml

METAML = [sys.executable, "-m", "metaml_cli"]


def environment(tmp_path) -> dict[str, str]:
    return {**os.environ, "METAML_KB": str(tmp_path / "kb.db")}


@pytest.mark.usefixtures("one_pool")
def test_a_bot_runs_and_its_runs_can_be_seen(tmp_path):
    kb = tmp_path / "kb.db"

    done = metaml("bot", "--builtin", "--runs", 3, "--algorithms", "decision_tree", "--seed", 1, "--kb", kb)
    seen = metaml("kb", "runs", "--format", "json", "--kb", kb)

    assert done.stdout == ""
    assert "3 runs in" in done.stderr
    assert len(json.loads(seen.stdout)) == 3


def test_a_plan_makes_no_knowledge_base(tmp_path, monkeypatch):
    monkeypatch.setenv("METAML_KB", str(tmp_path / "kb.db"))

    done = metaml("bot", "--builtin", "--plan", "--runs", 3, "--algorithms", "decision_tree", "--format", "json")

    assert sum(row["planned_runs"] for row in json.loads(done.stdout)) == 3
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_finishes_what_is_under_way(tmp_path):
    command = ["bot", "--builtin", "--algorithms", "decision_tree,k_neighbors", "--workers", "2"]
    bot = subprocess.Popen([*METAML, *command], env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    assert bot.stderr is not None
    seen = [bot.stderr.readline()]
    while "per minute" not in seen[-1]:
        seen.append(bot.stderr.readline())
        assert seen[-1], "".join(seen)

    bot.send_signal(signal.SIGINT)
    rest = bot.communicate(timeout=60)[1]

    assert bot.returncode == 130
    assert "Finishing what is under way" in rest
    with open_kb(tmp_path / "kb.db") as kb:
        assert len(kb.runs()) >= 1
        assert kb.sql("SELECT count(*) AS n FROM session WHERE finished_at IS NULL")["n"].tolist() == [0]
