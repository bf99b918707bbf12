"""What several tests of the knowledge base need."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, KnowledgeBase, ProposalRecord, open_kb
from tests.conftest import make_run

_numbers = count()


@pytest.fixture(params=["file", "memory", "postgresql"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """A knowledge base of each kind in turn, with one data set."""
    if request.param == "postgresql":
        place = request.getfixturevalue("postgres_url")(f"backend_{next(_numbers)}")
    else:
        place = ":memory:" if request.param == "memory" else tmp_path / "kb.db"
    with open_kb(place) as base:
        base.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass", target="species", n_rows=150, n_classes=3))
        yield base


@pytest.fixture
def full(kb):
    fill(kb)
    return kb


def fill(kb: KnowledgeBase) -> None:
    """Add a bit of everything."""
    session = kb.start_session("bot", settings={"data": "secret-folder"})
    environment = kb.add_environment(EnvironmentRecord({"xgboost": "3.2"}, host="secret-host", platform="secret-7.1"))
    kb.add_dataset(
        DatasetRecord("e" * 32, "secret-name", target="secret-target", details={"columns": ["secret-column"]})
    )
    kb.add_fold_plan(FoldPlanRecord("2-fold", "stratified", 2, assignment=b"secret-plan"))
    kb.add_metafeatures("e" * 32, {"NumberOfInstances": 10.0}, reasons={})
    for source in ("secret-source", "another-secret"):
        kb.add_metafeatures("e" * 32, {"NumberOfInstances": 10.0}, source=source, seconds={"simple": 0.5})
    kb.add_runs(make_run(n, session=session, environment=environment) for n in range(3))
    kb.add_run(make_run(9, dataset="e" * 32, status="failed", scores={}, error="no column secret-column"))
    kb.add_run(
        make_run(
            10,
            dataset="e" * 32,
            proposal=ProposalRecord("gbqr", details={"like": "secret-name"}),
            predictions=np.ones(3, dtype=np.float32),
        )
    )
    kb.add_run(make_run(11, proposal=ProposalRecord("secret-proposer")))
