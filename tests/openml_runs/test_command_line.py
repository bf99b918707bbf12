"""`metaml bot` and `metaml kb import-openml` against the loopback OpenML, as a person starts them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from openml_server import API_KEY as KEY
from openml_server import OpenMLServer

from metaml_kb import open_kb
from tests.cli import terminal


@pytest.fixture
def person(server: OpenMLServer, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody whose OpenML is the loopback one."""
    settings = tmp_path / "config" / "openml"
    settings.mkdir(parents=True)
    (settings / "config").write_text(f"server = {server.address}\ncachedir = {tmp_path / 'cache'}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENML", "XDG"))}
    return {
        **kept,
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "METAML_KB": str(tmp_path / "kb.db"),
        "OPENML_APIKEY": KEY,
        "NO_PROXY": "*",
        "TMPDIR": str(tmp_path),
    }


def metaml(person: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metaml_cli", *arguments]
    return subprocess.run(command, env=person, capture_output=True, text=True, check=False)


def test_the_bot_works_on_tasks_publishes_and_leaves_the_key_nowhere(person, server, tmp_path):
    arguments = ["--openml-task", "31,64,404", "--runs", "1", "--algorithms", "decision_tree", "--publish"]

    done = metaml(person, "bot", *arguments)

    assert done.returncode == 0, done.stderr
    assert "task 64 is set aside" in done.stderr
    assert "task 404 is set aside" in done.stderr
    assert "Published decision_tree on credit-g as run" in done.stderr, done.stderr
    with open_kb(tmp_path / "kb.db") as kb:
        assert kb.runs()["dataset"].tolist() == ["credit-g"]
    assert KEY not in done.stderr + done.stdout
    holders = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holders == []


def test_offline_works_from_the_cache_and_asks_nobody(person, server, tmp_path):
    first = ["bot", "--openml-task", "31", "--runs", "1", "--algorithms", "decision_tree"]
    metaml(person, *first)
    n_asked = server.asked("")

    done = metaml(person, *first, "--offline")

    assert done.returncode == 0, done.stderr
    assert server.asked("") == n_asked
    with open_kb(tmp_path / "kb.db") as kb:
        assert len(kb.runs()) == 2


def test_publishing_offline_is_refused():
    done = terminal.metaml("bot", "--openml-task", "31", "--publish", "--offline", code=2)

    assert "Nothing can be published offline" in done.stderr


def test_evaluations_cannot_be_asked_for_offline():
    done = terminal.metaml("kb", "import-openml", "--task", "31", "--flow", "6969", "--offline", code=2)

    assert "No such option: --offline" in done.stderr


def test_evaluations_of_others_come_in(person, tmp_path):
    done = metaml(person, "kb", "import-openml", "--task", "31", "--flow", "6969")

    assert done.returncode == 0, done.stderr
    assert "new runs" in done.stderr
    with open_kb(tmp_path / "kb.db") as kb:
        assert len(kb.runs(origin="imported")) > 0
