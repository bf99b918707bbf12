"""What the version before the present layout wrote is read: a knowledge base, a model, an export, a killed session."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.data import read_dataset
from metaml.model import load
from metaml.search.settings import TuneSettings
from metaml.tuning.replay_session import replay_session
from metaml.tuning.run import tune
from metaml_kb import open_kb
from metaml_kb.engine import locate, make_engine
from metaml_kb.exchange import import_file
from metaml_kb.schema import upgrade

ASSETS = Path(__file__).parent / "assets" / "release_0_1"


@pytest.fixture
def kb(tmp_path):
    shutil.copy(ASSETS / "kb.db", tmp_path / "kb.db")
    engine = make_engine(locate(tmp_path / "kb.db"))
    upgrade(engine)
    engine.dispose()
    with open_kb(tmp_path / "kb.db") as base:
        yield base


def test_a_model_of_the_version_before_predicts_what_it_predicted(tmp_path):
    shutil.copy(ASSETS / "model.zip", tmp_path)
    rows = pd.read_csv(ASSETS / "wine.csv").drop(columns="target")

    predicted = load(tmp_path).predict_proba(rows)

    np.testing.assert_allclose(np.asarray(predicted), pd.read_csv(ASSETS / "predicted.csv").to_numpy(), atol=1e-9)


def test_a_knowledge_base_of_the_version_before_is_read(kb):
    runs = kb.runs()

    assert len(runs) >= 15
    assert set(runs["origin"]) >= {"default", "random"}
    assert kb.best("wine", "neg_log_loss", n=1)["status"].tolist() == ["ok"]


def test_a_finished_session_of_the_version_before_is_replayed(kb):
    finished = kb.sql("SELECT key FROM session WHERE finished_at IS NOT NULL AND kind = 'tune'")["key"].iloc[0]

    steps = replay_session(kb, finished)

    assert len(steps) == 8
    assert all(step.is_same for step in steps)


def test_a_killed_session_of_the_version_before_is_resumed_and_repeats_nothing(kb, one_worker, tmp_path):
    dataset = read_dataset(ASSETS / "wine.csv", target="target")
    shutil.copytree(ASSETS / "unfinished", tmp_path / "result" / ".unfinished")
    before = set(kb.runs(session="tune")["run"])

    tuned = tune(dataset, TuneSettings(), kb=kb, executor=one_worker, output=tmp_path / "result", resume=True)

    after = kb.runs(session="tune")["run"].tolist()
    assert len(tuned.found.trials) == 40
    assert before < set(after)
    assert len(after) == len(set(after))


def test_an_export_of_the_version_before_is_merged(tmp_path):
    with open_kb(tmp_path / "other.db") as base:
        import_file(base, ASSETS / "share.metaml")

        assert len(base.runs()) == 15
