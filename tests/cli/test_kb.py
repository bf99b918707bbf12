"""`metaml kb` as its Python twin, with clean csv and JSON."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.metrics import METRICS
from metaml_kb import DatasetRecord, EnvironmentRecord, ProposalRecord, open_kb
from metaml_kb.exchange import export
from tests.cli.terminal import metaml

ENDLESS = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)"


@pytest.fixture
def place(kb, run_of):
    kb.add_runs([run_of(n, config={"n_estimators": n, "max_depth": None if n else 3}) for n in range(3)])
    kb.add_run(run_of(3, config={"kernel": "rbf"}, algorithm="svm", status="timeout", scores={}, error="limit of 1 s"))
    return kb.name


def test_csv_is_what_python_gives(place):
    text = metaml("kb", "runs", "--kb", place, "--format", "csv").stdout

    with open_kb(place) as kb:
        frame = kb.runs()
    assert list(pd.read_csv(io.StringIO(text))["run"]) == frame["run"].tolist()
    assert text.splitlines()[0].split(",") == list(frame.columns)


def test_csv_writes_none_as_a_word_and_leaves_inactive_empty(place):
    text = metaml("kb", "runs", "--kb", place, "--format", "csv").stdout

    frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    assert frame["max_depth"].tolist() == ["3", "None", "None", ""]


def test_json_tells_none_from_inactive(place):
    rows = json.loads(metaml("kb", "runs", "--kb", place, "--format", "json").stdout)

    assert [row.get("max_depth", "inactive") for row in rows] == [3, None, None, "inactive"]
    assert rows[3]["kernel"] == "rbf"


def test_filters_are_those_of_python(place):
    rows = json.loads(
        metaml(
            "kb",
            "runs",
            "--kb",
            place,
            "--algorithm",
            "svm",
            "--status",
            "timeout",
            "--since",
            "1d",
            "--format",
            "json",
        ).stdout
    )

    assert [row["error"] for row in rows] == ["limit of 1 s"]


@pytest.mark.parametrize(
    ("option", "word", "told"),
    [
        ("--algorithm", "svmm", "Known: svm, random_forest"),
        ("--status", "okay", "Known: ok, "),
        ("--origin", "foo", "Known: default, "),
        ("--session", "foo", "Known: bot, "),
        ("--since", "99999999999d", "99999999999d ago was before the calendar begins"),
        ("--since", "999999w", "999999w ago was before the calendar begins"),
        ("--limit", "99999999999999999999", "Leave --limit out to see all"),
    ],
)
def test_a_filter_that_cannot_be_met_gets_a_sentence(place, option, word, told):
    result = metaml("kb", "runs", option, word, "--kb", place, code=2)

    assert told in result.stderr
    assert result.stdout == ""


def test_a_table_shows_the_newest_and_says_so(place):
    result = metaml("kb", "runs", "--kb", place, "--limit", "2")

    assert len(result.stdout.splitlines()) == 3
    assert "newest 2" in result.stderr


def test_info_datasets_best_and_sql_answer(place):
    assert json.loads(metaml("kb", "info", "--kb", place, "--format", "json").stdout)["runs"] == 4
    assert "runs by algorithm: svm" in metaml("kb", "info", "--kb", place).stdout
    assert "score" in metaml("kb", "info", "--schema", "--kb", place).stdout
    assert json.loads(metaml("kb", "datasets", "--kb", place, "--format", "json").stdout)[0]["n_runs"] == 4
    assert "0.625" in metaml("kb", "best", "iris", "accuracy", "-n", "1", "--kb", place).stdout
    assert metaml("kb", "sql", "SELECT count(*) AS n FROM run", "--kb", place, "--format", "csv").stdout == "n\n4\n"


@pytest.mark.parametrize("name", ["self", "n n", "1"])
def test_csv_has_columns_of_any_name(place, name):
    text = metaml("kb", "sql", f'SELECT NULL AS "{name}", 1 AS n', "--kb", place, "--format", "csv").stdout

    assert text == f"{name},n\nNone,1\n"


def test_sql_that_writes_is_refused(place):
    result = metaml("kb", "sql", "DELETE FROM run", "--kb", place, code=2)

    assert "Use SELECT" in result.stderr


def test_sql_without_an_end_is_stopped(place):
    result = metaml("kb", "sql", f"{ENDLESS} SELECT count(*) FROM number", "--timeout", "0.1s", "--kb", place, code=2)

    assert "took more than 0.1 seconds and was stopped" in result.stderr


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_ctrl_c_stops_a_query_at_once(request, place, backend):
    if backend == "postgresql":
        place = request.getfixturevalue("postgres_url")("interrupted")
        open_kb(place).close()
    # A query that answers first tells when the endless one has begun. A job in the background ignores Ctrl-C.
    program = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from metaml_kb import open_kb
with open_kb({place!r}) as kb:
    kb.sql("SELECT 1")
    print("begun", flush=True)
    try:
        kb.sql("{ENDLESS} SELECT count(*) FROM number")
    except KeyboardInterrupt:
        print(len(kb.sql("SELECT 1")), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)

    process.send_signal(signal.SIGINT)
    try:
        answer, _ = process.communicate(timeout=20)
    finally:
        process.kill()

    assert (process.returncode, answer) == (0, "1\n")


def test_export_import_merge_and_diff_work_together(place, tmp_path, run_of):
    shared, mine, team = tmp_path / "shared.metaml", tmp_path / "mine.db", tmp_path / "team.db"
    with open_kb(mine) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_run(run_of(77))

    metaml("kb", "export", shared, "--kb", place)
    imported = metaml("kb", "import", shared, "--kb", mine)
    merged = metaml("kb", "merge", team, place, mine)
    difference = metaml("kb", "diff", place, team, "--format", "json")

    assert "4 new runs" in imported.stderr
    assert "1 new run and 0 new data sets, 4 known" in merged.stderr
    assert json.loads(difference.stdout) == [
        {"dataset": "iris", "algorithm": "random_forest", "new_runs": 1, "new_dataset": False}
    ]


def test_clashes_are_told(place, tmp_path, run_of):
    other = tmp_path / "other.db"
    with open_kb(other) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_run(run_of(0, config={"n_estimators": 0, "max_depth": 3}, scores={"accuracy": [1.0, 1.0]}))

    result = metaml("kb", "merge", place, other)

    assert "accuracy 0.625 here and 1.0 there; ours is kept" in result.stderr


def test_doctor_ends_with_1_when_something_is_wrong(place):
    assert "no findings" in metaml("kb", "doctor", "--kb", place).stderr
    with open_kb(place) as kb, kb.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE run SET seed = 9 WHERE id = 1")

    result = metaml("kb", "doctor", "--kb", place, code=1)

    assert "error: 1 runs do not match their identity" in result.stdout


def test_doctor_knows_the_highest_score_of_every_metric_and_the_library_of_every_algorithm(place, run_of):
    scores = {name: metric.highest + 0.5 for name, metric in METRICS.items()}
    libraries = {algorithm.library for algorithm in ALGORITHMS.values()}
    with open_kb(place) as kb:
        old = kb.add_environment(EnvironmentRecord(dict.fromkeys(libraries, "0.0.1")))
        kb.add_run(run_of(9, scores=scores, environment=old))

    result = metaml("kb", "doctor", "--kb", place, code=1)

    assert f"error: {len(scores)} scores are impossible" in result.stdout
    assert all(f"note: 1 runs were made with {library} 0.0.1" in result.stdout for library in libraries)


def test_doctor_does_not_send_a_damaged_knowledge_base_to_the_doctor(kb, place):
    kb.close()
    with Path(place).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)

    result = metaml("kb", "doctor", "--kb", place, code=1)

    assert "error: SQLite reports damage" in result.stdout
    assert "1 finding." in result.stderr
    assert "kb doctor" not in result.output


def test_init_and_upgrade_say_what_they_did(tmp_path):
    place = tmp_path / "new.db"

    assert "is ready, with 0 runs" in metaml("kb", "init", "--empty", "--kb", place).stderr
    assert "newest schema already" in metaml("kb", "upgrade", place).stderr


@pytest.fixture(params=["small.metaml", "small.db"])
def starter(request, tmp_path, run_of, monkeypatch):
    """A small starter that takes the place of the one that ships."""
    file = tmp_path / request.param
    with open_kb(":memory:") as kb:
        kb.add_dataset(DatasetRecord("e" * 32, "wine"))
        session = kb.start_session("starter")
        kb.add_runs(run_of(n, dataset="e" * 32, session=session) for n in range(5))
        export(kb, file, with_starter=True)
    monkeypatch.setenv("METAML_STARTER", str(file))


def test_init_makes_a_knowledge_base_with_the_starter(starter, tmp_path):
    said = metaml("kb", "init", "--kb", tmp_path / "new.db").stderr

    assert "with 5 runs on 1 data set (5 runs of the starter, 0 of yours)" in said


def test_init_refuses_a_starter_that_is_no_export(place, tmp_path, monkeypatch):
    (tmp_path / "runs.csv").write_text("task,accuracy\n3,0.5\n")
    monkeypatch.setenv("METAML_STARTER", str(tmp_path / "runs.csv"))

    for target in (place, tmp_path / "new.db"):
        result = metaml("kb", "init", "--kb", target, code=2)

        assert "runs.csv is neither an exported file nor a knowledge base" in result.stderr
    assert not (tmp_path / "new.db").exists()


def test_init_makes_an_empty_one_if_asked(starter, tmp_path):
    said = metaml("kb", "init", "--empty", "--kb", tmp_path / "new.db").stderr

    assert "with 0 runs" in said


def test_init_adds_the_starter_to_what_exists(starter, place):
    said = metaml("kb", "init", "--kb", place).stderr
    again = metaml("kb", "init", "--kb", place).stderr

    assert "with 9 runs on 2 data sets (5 runs of the starter, 4 of yours)" in said
    assert again == said


def test_every_command_that_makes_a_file_starts_with_the_starter(starter, place, tmp_path):
    metaml("kb", "merge", tmp_path / "team.db", place)

    facts = json.loads(metaml("kb", "info", "--kb", tmp_path / "team.db", "--format", "json").stdout)
    assert facts["runs_by_source"] == {"starter": 5, "yours": 4}
    assert facts["datasets_by_source"] == {"starter": 1, "yours": 1}


def test_a_private_export_shows_only_the_words_of_metaml(kb, run_of, tmp_path):
    for seed, proposer in enumerate(("gbqr", "secret-proposer")):
        kb.add_run(run_of(1, seed=seed, proposal=ProposalRecord(proposer)))

    metaml("kb", "export", tmp_path / "private.db", "--private", "--kb", kb.name)

    with open_kb(tmp_path / "private.db", create=False) as other:
        shown, hidden = other.sql("SELECT proposer FROM proposal ORDER BY run_id")["proposer"]
    assert shown == "gbqr"
    assert hidden.startswith("private-")


def test_an_export_is_of_what_is_yours_unless_told(starter, place, tmp_path):
    metaml("kb", "init", "--kb", place)

    mine = metaml("kb", "export", tmp_path / "mine.metaml", "--kb", place)
    everything = metaml("kb", "export", tmp_path / "all.metaml", "--with-starter", "--kb", place)

    assert "holds 4 runs" in mine.stderr
    assert "holds 9 runs" in everything.stderr
