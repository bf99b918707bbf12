"""The starter: a new knowledge base is never empty, and never half full."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from metaml.evaluation import default_metric
from metaml.experience.experience import recall_experience
from metaml.experience.lesson_files import LessonRequest, place_of
from metaml.metalearning.fidelity import fingerprint_of
from metaml.starter import SHIPPED, add_starter, open_with_starter, starter_file
from metaml_kb import DatasetRecord, open_kb
from metaml_kb.errors import BadTable, CannotOpen
from metaml_kb.exchange import export

ALGORITHMS = {
    *("random_forest", "extra_trees", "gradient_boosting", "xgboost", "lightgbm", "svm", "k_neighbors"),
    *("elastic_net", "decision_tree", "adaboost", "mlp"),
}
KILLED_BEFORE_IT_APPEARS = """
import os, signal, sys
sys.addaudithook(lambda event, _: event == "os.link" and os.kill(os.getpid(), signal.SIGKILL))
from metaml.starter import open_with_starter
open_with_starter(sys.argv[1])
"""


@pytest.fixture
def starter(tmp_path, run_of, monkeypatch):
    """A small starter that takes the place of the one that ships."""
    file = tmp_path / "small.metaml"
    with open_kb(":memory:") as kb:
        session = kb.start_session("starter", settings={"title": "small"})
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        kb.add_runs(run_of(n, session=session) for n in range(3))
        export(kb, file, with_starter=True)
    monkeypatch.setenv("METAML_STARTER", str(file))
    return file


def n_runs(place):
    with open_kb(place, create=False) as kb:
        return kb.info()["runs"]


def test_a_new_file_starts_with_the_starter(starter, tmp_path):
    with open_with_starter(tmp_path / "folder" / "kb.db") as kb:
        assert kb.info()["runs_by_source"] == {"starter": 3, "yours": 0}


def test_what_ships_is_loaded_table_by_table_whatever_its_schema(tmp_path, monkeypatch):
    monkeypatch.delenv("METAML_STARTER")
    statements: list[str] = []
    count = lambda *details: statements.append(details[2])  # noqa: E731
    event.listen(Engine, "before_cursor_execute", count)

    try:
        open_with_starter(tmp_path / "kb.db").close()
    finally:
        event.remove(Engine, "before_cursor_execute", count)

    # Merging run by run takes several thousand, and five times as long.
    assert len(statements) < 1500


def test_a_file_that_exists_is_left_alone(starter, tmp_path):
    open_kb(tmp_path / "kb.db").close()

    with open_with_starter(tmp_path / "kb.db") as kb:
        assert kb.runs().empty


def test_a_knowledge_base_in_memory_stays_empty(starter):
    with open_with_starter(":memory:") as kb:
        assert kb.runs().empty


def test_a_database_on_a_server_gets_the_starter_only_if_asked(starter, postgres_url):
    with open_with_starter(postgres_url("team_with_starter")) as kb:
        assert kb.runs().empty

        assert add_starter(kb).n_runs == 3


@pytest.mark.parametrize("word", ["no", "NO", "0", "off"])
def test_it_can_be_turned_off(word, tmp_path, monkeypatch):
    monkeypatch.setenv("METAML_STARTER", word)

    with open_with_starter(tmp_path / "kb.db") as kb:
        assert kb.runs().empty
        assert add_starter(kb).n_runs == 0


def test_unless_told_it_is_the_file_that_ships(monkeypatch):
    monkeypatch.delenv("METAML_STARTER")

    assert starter_file() == SHIPPED


def test_it_can_be_added_later_and_only_once(starter, tmp_path, run_of):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_runs([run_of(2), run_of(9)])

        first, second = add_starter(kb), add_starter(kb)

        assert (first.n_runs, first.n_known, first.clashes) == (2, 1, ())
        assert second.n_runs == 0
        assert kb.info()["runs_by_source"] == {"starter": 2, "yours": 2}


def test_a_process_that_is_killed_leaves_nothing_half_done(starter, tmp_path):
    place = tmp_path / "kb.db"

    killed = subprocess.run([sys.executable, "-c", KILLED_BEFORE_IT_APPEARS, place], check=False)

    assert killed.returncode == -9
    assert not place.exists()
    open_with_starter(place).close()
    assert n_runs(place) == 3


def test_processes_that_start_together_share_one(starter, tmp_path, run_of):
    place = tmp_path / "kb.db"

    def start(number):
        with open_with_starter(place) as kb:
            kb.add_run(run_of(100 + number))

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(start, range(4)))

    assert n_runs(place) == 3 + 4


def test_a_damaged_starter_makes_nothing(tmp_path, starter):
    starter.write_bytes(starter.read_bytes().replace(b"PAR1", b"gone"))

    with pytest.raises(BadTable, match="damaged"):
        open_with_starter(tmp_path / "kb.db")

    assert [path.name for path in tmp_path.iterdir()] == [starter.name]


def test_a_starter_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("METAML_STARTER", str(tmp_path / "nothing.metaml"))

    with pytest.raises(CannotOpen, match=r"no file .*nothing\.metaml"):
        open_with_starter(tmp_path / "kb.db")


@pytest.fixture
def shipped(shipped_file):
    """A knowledge base made from the file that ships."""
    with open_kb(shipped_file) as kb:
        yield kb


def test_what_ships_is_small_and_knows_every_algorithm(shipped):
    info = shipped.info()

    assert SHIPPED.stat().st_size <= 8e6
    assert info["runs_by_algorithm"].keys() >= ALGORITHMS
    assert info["runs_by_source"]["yours"] == info["datasets_by_source"]["yours"] == 0
    assert set(shipped.datasets()["task"]) == {"binary", "multiclass", "regression"}


def test_what_ships_says_where_it_is_from(shipped):
    settings = [json.loads(text) for text in shipped.sql("SELECT settings FROM session")["settings"]]

    assert all(one["title"] for one in settings)
    assert all(one.get("hours") or {"authors", "url", "licence"} <= one.keys() for one in settings)


def test_what_ships_tells_nothing_of_the_machine_and_holds_no_data(shipped):
    counts = [
        int(shipped.sql(f"SELECT count(*) AS n FROM {table}")["n"][0]) for table in ("prediction", "event", "proposal")
    ]
    plans = shipped.sql("SELECT count(assignment) AS n FROM fold_plan")["n"][0]
    hosts = shipped.sql("SELECT host FROM environment")["host"]
    laid_open = Path(shipped.name).read_bytes()

    assert counts == [0, 0, 0]
    assert plans == 0
    assert all(host.startswith("the machine that made the starter") for host in hosts)
    assert not [word for word in (b"/home/", b"/work/", b"/tmp/", b"/root/", b"\\Users\\") if word in laid_open]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_the_lessons_that_ship_are_those_of_the_starter_that_ships(shipped, task):
    wanted = LessonRequest(default_metric(task), task)

    memory = recall_experience(
        shipped, wanted, {"NumberOfInstances": 1000.0, "NumberOfFeatures": 11.0, "NumberOfClasses": 2.0}
    )

    assert not place_of(shipped).exists()
    assert memory.lessons.n_known == shipped.info()["runs"]
    assert set(map(fingerprint_of, memory.lessons.names)) <= set(shipped.datasets()["fingerprint"])
    assert all(memory.knows(name) for name in ("lightgbm", "random_forest", "svm"))
