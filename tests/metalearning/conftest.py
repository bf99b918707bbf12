"""Fixtures: a synthetic run history."""

from dataclasses import replace

import pytest

from metaml.metalearning.history import RunHistory
from metaml.metalearning.training import Trained, train
from tests.metalearning.worlds import make_synthetic


@pytest.fixture(scope="session")
def synthetic() -> RunHistory:
    return make_synthetic()


@pytest.fixture(scope="session")
def trained(synthetic: RunHistory) -> Trained:
    return train(replace(synthetic, revision="kb-1"))
