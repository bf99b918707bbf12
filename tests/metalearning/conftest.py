"""What many tests need: an experience and a knowledge base in memory."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metaml.metalearning.runs import Experience
from metaml.metalearning.store import Trained, train
from metaml_kb import KnowledgeBase, open_kb
from tests.metalearning.worlds import make_synthetic


@pytest.fixture(scope="session")
def synthetic() -> Experience:
    return make_synthetic()


@pytest.fixture(scope="session")
def trained(synthetic: Experience) -> Trained:
    return train(replace(synthetic, revision="kb-1"))


@pytest.fixture
def empty_kb() -> Iterator[KnowledgeBase]:
    with open_kb(":memory:") as base:
        yield base
