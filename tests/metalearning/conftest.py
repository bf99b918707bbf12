"""What many tests need: an experience and a knowledge base in memory."""

from collections.abc import Iterator

import pytest

from metaml.metalearning.runs import Experience
from metaml_kb import KnowledgeBase, open_kb
from tests.metalearning.worlds import make_synthetic


@pytest.fixture(scope="session")
def synthetic() -> Experience:
    return make_synthetic()


@pytest.fixture
def empty_kb() -> Iterator[KnowledgeBase]:
    with open_kb(":memory:") as base:
        yield base
