"""Runs of ours onto the loopback server; the key on no disk and in no message."""

import io
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import arff
import pytest
from openml_server import API_KEY, OpenMLServer

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest, SourceError
from metaml.evaluation import Job, Limits, Outcome, evaluate, given_plan
from metaml.openml_runs.publishing import Publisher, api_key
from metaml.sources.base import Loaded, Source
from metaml.sources.openml import Client, RetryPolicy

Make = Callable[..., Source]


def finished(loaded: Loaded) -> tuple[Job, Outcome]:
    """A decision tree on all folds, with its predictions."""
    space = ALGORITHMS["decision_tree"].space(loaded.dataset.task)
    plan = given_plan(loaded.folds if loaded.folds is not None else [])
    job = Job(
        loaded.dataset.fingerprint,
        "decision_tree",
        space.default(),
        plan,
        seed=3,
        limits=Limits(60),
        keep_predictions=True,
    )
    return job, evaluate(job, loaded.dataset, ALGORITHMS["decision_tree"])


@pytest.fixture
def publisher(client: Client) -> Publisher:
    return Publisher(client, API_KEY)


def test_a_run_goes_up_with_its_predictions_and_hyperparameters(
    publisher: Publisher, task_source: Make, server: OpenMLServer
) -> None:
    loaded = task_source(31).load()
    job, outcome = finished(loaded)

    number = publisher(loaded, job, outcome)

    assert number == 900_001
    (upload,) = server.uploads
    table = arff.loads(upload["predictions"])
    names = [name for name, _ in table["attributes"]]
    assert names[:6] == ["repeat", "fold", "sample", "row_id", "prediction", "correct"]
    assert names[6:] == ["confidence.good", "confidence.bad", "confidence.other"]
    assert sorted(int(row[3]) for row in table["data"]) == list(range(40))
    right = sum(row[4] == row[5] for row in table["data"]) / 40
    assert right == pytest.approx(outcome.score("accuracy"))
    assert "<oml:name>max_depth</oml:name>" in upload["description"]
    assert "<oml:task_id>31</oml:task_id>" in upload["description"]


def test_regression_goes_up_as_values(publisher: Publisher, task_source: Make) -> None:
    loaded = task_source(7).load()
    job, outcome = finished(loaded)

    with pytest.raises(SourceError, match="rows of the task were not usable"):
        publisher(loaded, job, outcome)
    all_rows = replace(loaded, details={**loaded.details, "n_rows": 39})

    assert publisher(all_rows, job, outcome) == 900_001


def test_the_flow_is_described_once(publisher: Publisher, task_source: Make, server: OpenMLServer) -> None:
    loaded = task_source(31).load()
    job, outcome = finished(loaded)

    publisher(loaded, job, outcome)
    publisher(loaded, job, outcome)

    assert len(server.flows) == 1
    assert len(server.uploads) == 2


def test_a_run_that_openml_could_not_judge_is_not_sent(
    publisher: Publisher, task_source: Make, server: OpenMLServer
) -> None:
    loaded = task_source(31).load()
    job, outcome = finished(loaded)
    other_folds = replace(job, plan=given_plan([0, 1] * 20))

    with pytest.raises(SourceError, match="its predictions were not kept"):
        publisher(loaded, job, replace(outcome, predictions=None))
    with pytest.raises(SourceError, match="it is timeout, not complete"):
        publisher(loaded, job, replace(outcome, status="timeout"))
    with pytest.raises(SourceError, match="not evaluated on the folds"):
        publisher(loaded, other_folds, outcome)
    with pytest.raises(SourceError, match="not an OpenML task"):
        publisher(replace(loaded, origin="file"), job, outcome)
    assert server.uploads == []


def test_a_wrong_key_is_refused_without_naming_it(client: Client, task_source: Make) -> None:
    loaded = task_source(31).load()
    job, outcome = finished(loaded)

    with pytest.raises(SourceError, match=r"Authentication failed.*Check the API key") as refusal:
        Publisher(client, "0badbadbad")(loaded, job, outcome)

    assert "0badbadbad" not in str(refusal.value)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("kind", ["500", "truncated", "hang", "404"])
@pytest.mark.parametrize("part", ["/flow/exists", "/flow/2", "/run/"])
def test_the_key_is_in_no_message_log_or_file(
    publisher: Publisher,
    task_source: Make,
    server: OpenMLServer,
    home: Path,
    tmp_path: Path,
    part: str,
    kind: str,
) -> None:
    loaded = task_source(31).load()
    job, outcome = finished(loaded)
    server.fail(part, kind)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)

    try:
        with pytest.raises(SourceError, match=r"^publishing a run on task 31: ") as error:
            publisher(loaded, job, outcome)
    finally:
        root.removeHandler(handler)
        root.setLevel(before)

    assert server.asked(f"{part}.*") >= 1
    if part == "/flow/2" and kind != "hang":
        assert "api_key=***" in log.getvalue()
    assert API_KEY not in str(error.value) + repr(publisher) + log.getvalue()
    for folder in (home, tmp_path):
        assert not [path for path in folder.rglob("*") if path.is_file() and API_KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("n_before", range(100, 200, 7))
def test_no_part_of_a_key_is_shown_where_a_long_message_is_cut(n_before: int) -> None:
    def attempt(_number: int) -> None:
        raise ValueError("x" * n_before + API_KEY + "x" * 200)

    with pytest.raises(SourceError) as error:
        Client(patience=RetryPolicy(tries=1)).retry("task 31", attempt, key=API_KEY)

    assert API_KEY[:4] not in str(error.value)


def test_reading_never_sends_a_key(task_source: Make, server: OpenMLServer, monkeypatch: pytest.MonkeyPatch) -> None:
    import openml

    monkeypatch.setattr(openml.config, "apikey", API_KEY)

    task_source(37).load()

    assert not [path for path in server.seen if "api_key" in path]
    assert openml.config.apikey == API_KEY


def test_the_key_comes_from_the_environment_or_openmls_configuration(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    import openml

    monkeypatch.delenv("OPENML_APIKEY", raising=False)
    with pytest.raises(BadRequest, match="Set OPENML_APIKEY, or run: openml configure apikey"):
        api_key()
    monkeypatch.setattr(openml.config, "apikey", "from-file")
    assert api_key() == "from-file"
    monkeypatch.setenv("OPENML_APIKEY", "from-environment")
    assert api_key() == "from-environment"
