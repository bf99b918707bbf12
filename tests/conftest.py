"""What many tests need: knowledge bases of every kind, each fresh, and small data sets of every task."""

import gc
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Test processes share the processors: threads of their own would wait for one another. Libraries read it when loaded.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from metaml.data import Dataset, from_frame
from metaml_kb import DatasetRecord, KnowledgeBase, Run, open_kb
from tests import shared_workers
from tests.cluster_processes import Cluster

# Workers, too, import the hostile algorithms by name.
sys.path.append(str(Path(__file__).parent / "evaluation"))
from hostile_algorithms import small_frame

settings.register_profile(
    "metaml", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("metaml")
# Knowledge bases of tests start empty, also those of the processes they start.
os.environ.setdefault("METAML_STARTER", "no")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the process; give shared workers to the examples of docstrings, too.

    Fixtures of this file are for tests of this folder.
    """
    config.pluginmanager.register(shared_workers, "shared_workers")
    # Containers often ask Python to write no bytecode: every process of a test would compile all our modules anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Hundreds of modules are about to be imported, which leaves no garbage.
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep modules and tests, half a million objects, out of every search for garbage, and search less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each test process whole files, so that what the tests of a file share is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[Callable[[str], str]]:
    """A running PostgreSQL: a function that makes a database and returns its URL."""
    with warnings.catch_warnings():
        # It remarks on the machine's runtime directory, which it then does without.
        warnings.simplefilter("ignore")
        import pgserver

    # Another pytest would lock the server's user out of pytest's own folder.
    server = pgserver.get_server(tempfile.mkdtemp(prefix="metaml-postgres-"), cleanup_mode="delete")
    # No test is about a power cut, and making a database waits for the disk many times.
    server.psql("ALTER SYSTEM SET fsync = off")
    server.psql("SELECT pg_reload_conf()")

    def make(name: str) -> str:
        server.psql(f'CREATE DATABASE "{name}"')
        return str(server.get_uri()).replace("/postgres?", f"/{name}?")

    yield make
    server.cleanup()


@pytest.fixture(scope="session")
def two_classes() -> Dataset:
    return from_frame(small_frame(2), target="y", name="two")


@pytest.fixture(scope="session")
def three_classes() -> Dataset:
    return from_frame(small_frame(3), target="y", name="three")


@pytest.fixture(scope="session")
def numbers() -> Dataset:
    rng = np.random.default_rng(0)
    a = rng.random(60)
    return from_frame(
        pd.DataFrame({"a": a, "y": 3 * a + rng.random(60)}), target="y", task="regression", name="numbers"
    )


@pytest.fixture(scope="session")
def shipped_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of a new user, which takes seconds to make; copy it to change it."""
    from metaml.starter import open_with_starter

    place = tmp_path_factory.mktemp("shipped") / "kb.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("METAML_STARTER")
        open_with_starter(place).close()
    return place


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Cluster]:
    """A scheduler and a worker with two slots, for all tests that leave them alive."""
    with Cluster(1, n_slots=2) as found:
        yield found


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """A knowledge base in a file, with one data set."""
    with open_kb(tmp_path / "kb.db") as base:
        base.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        yield base


@pytest.fixture
def empty_kb() -> Iterator[KnowledgeBase]:
    """A knowledge base in memory without anything in it."""
    with open_kb(":memory:") as base:
        yield base


def make_run(number: int = 0, **changes: object) -> Run:
    """Return a run that differs from others by its number."""
    fields: dict[str, object] = {
        "dataset": "f" * 32,
        "algorithm": "random_forest",
        "config": {"n_estimators": number, "criterion": "gini"},
        "scores": {"accuracy": [0.5, 0.75], "roc_auc": [0.25, 0.5]},
        "fold_plan": "2-fold",
        "fit_seconds": 1.5,
    }
    return Run(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def run_of() -> Callable[..., Run]:
    """The function that makes runs."""
    return make_run
