"""`metaml reproduce` says whether a stored run comes out the same."""

import json
import shutil

import pytest

from metaml.evaluation import Limits
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.session import TuneSession
from metaml_kb import open_kb
from tests.cli.terminal import metaml

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def made(tmp_path_factory, one_worker):
    """A knowledge base with the default tree and the default neighbours on wine."""
    path = tmp_path_factory.mktemp("made") / "kb.db"
    settings = TuneSettings(
        algorithms=("decision_tree", "k_neighbors"), seconds=None, n_iterations=2, n_folds=3, limits=Limits(600.0)
    )
    with open_kb(path) as kb:
        TuneSession(builtin.load("wine"), kb, settings, one_worker).run()
    return path


@pytest.fixture
def place(made, tmp_path):
    """A copy that a test may change."""
    return shutil.copy(made, tmp_path / "kb.db")


def key_of(place, algorithm: str) -> str:
    with open_kb(place) as kb:
        return str(kb.runs(algorithm=algorithm)["run"][0])


def change(place, statement: str) -> None:
    with open_kb(place) as kb, kb.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_a_run_on_a_bundled_data_set_comes_out_the_same(place):
    key = key_of(place, "k_neighbors")

    result = metaml("reproduce", key[:8], "--kb", place)

    assert result.stdout == f"Reproduced: all 36 scores of run {key[:8]} are the same to 1e-9.\n"
    assert "Evaluating k_neighbors on wine again" in result.stderr


def test_what_differs_is_shown_with_the_versions(place):
    change(place, "UPDATE run SET fold_scores = zeroblob(length(fold_scores))")
    change(place, 'UPDATE environment SET versions = replace(versions, \'"numpy": "\', \'"numpy": "0.\')')
    key = key_of(place, "decision_tree")

    result = metaml("reproduce", key, "--kb", place, code=1)

    assert result.stdout.startswith(f"Not reproduced: 36 of the 36 scores of run {key[:8]} differ.")
    assert "neg_log_loss" in result.stdout
    assert "  numpy 0." in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_run_that_was_stopped_is_stopped_again(place):
    change(place, "UPDATE run SET status = 'timeout', error = 'not done', fit_seconds = 1e-6, predict_seconds = 0")
    change(place, "UPDATE run SET fold_scores = NULL, score_list = '[]'")
    change(place, "UPDATE metric_set SET names = '[]'")

    result = metaml("reproduce", key_of(place, "decision_tree"), "--kb", place, "--format", "json")

    facts = json.loads(result.stdout)
    assert (facts["is_same"], facts["scores_compared"]) == (True, 0)
    assert facts["status"] == {"stored": "timeout", "again": "timeout"}
    assert facts["error"] == {"stored": "not done", "again": "not done within 1e-06 s"}


def test_other_data_is_refused_in_one_sentence(place, tmp_path):
    (tmp_path / "other.csv").write_text("a,target\n" + "".join(f"{n},{'xy'[n % 2]}\n" for n in range(20)))
    key = key_of(place, "k_neighbors")

    result = metaml("reproduce", key, "--data", tmp_path / "other.csv", "--kb", place, code=2)

    assert result.stdout == ""
    assert result.stderr.startswith(f"metaml: other.csv is not the data that run {key[:8]} was made on")


def test_a_data_set_that_is_nowhere_is_asked_for(place):
    change(place, "UPDATE dataset SET name = 'cellar'")

    result = metaml("reproduce", key_of(place, "k_neighbors"), "--kb", place, code=2)

    assert "Give its file with --data." in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_unknown_run_gets_one_sentence(place):
    result = metaml("reproduce", "nothing", "--kb", place, code=2)

    assert result.stderr.startswith("metaml: 'nothing' is not the key of a run")
