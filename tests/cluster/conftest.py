"""A small cluster for all tests, certificates, and jobs."""

import socket
import subprocess

import pytest
from hostile_algorithms import REGISTRY

from metaml.evaluation import Job, Limits, make_plan
from tests.cluster_processes import SECONDS

REQUEST = "req -x509 -newkey rsa:2048 -nodes -subj /CN=metaml -keyout key.pem -out cert.pem"


@pytest.fixture(scope="session")
def ask():
    """Return a function that makes a job on a data set."""

    def make(dataset, algorithm, config=None, *, seconds=SECONDS, seed=0, **options):
        plan = make_plan(dataset, n_folds=2)
        return Job(dataset.fingerprint, algorithm, config or {}, plan, seed, Limits(seconds), **options)

    return make


@pytest.fixture
def cluster(shared_cluster):
    """A scheduler and a worker with two slots. A test may start more workers, and kill what it likes."""
    yield shared_cluster
    shared_cluster.restore()


@pytest.fixture
def hostile():
    """Return the options of executors whose workers know the hostile algorithms."""
    return {"registry": REGISTRY}


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    """Return a folder with a certificate of its own authority and its key; each call makes another one."""

    def make():
        folder = tmp_path_factory.mktemp("tls")
        subprocess.run(
            ["openssl", *REQUEST.split()],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        return folder

    return make


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
