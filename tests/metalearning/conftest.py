"""What many tests need: an experience and a knowledge base in memory."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metaml.metalearning.history import RunHistory
from metaml.metalearning.training import Trained, train
from metaml_kb import KnowledgeBase, open_kb
from tests.metalearning.worlds import make_synthetic


@pytest.fixture(scope="session")
def synthetic() -> RunHistory:
    return make_synthetic()


@pytest.fixture(scope="session")
def trained(synthetic: RunHistory) -> Trained:
    return train(replace(synthetic, revision="kb-1"))


@pytest.fixture
def empty_kb() -> Iterator[KnowledgeBase]:
    with open_kb(":memory:") as base:
        yield base
