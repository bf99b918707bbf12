"""A knowledge base that has taught its lessons, once for all tests."""

from collections.abc import Iterator

import pytest

from metaml.experience.experience import Experience, recall_experience
from metaml_kb import KnowledgeBase, open_kb
from tests.experienced import DESCRIBED, WANTED, fill


@pytest.fixture(scope="session")
def experienced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A knowledge base with runs on fourteen made-up data sets."""
    with open_kb(tmp_path_factory.mktemp("memory") / "kb.db") as kb:
        fill(kb)
        yield kb


@pytest.fixture(scope="session")
def experience(experienced: KnowledgeBase) -> Experience | None:
    """What it says about a data set that lies among them."""
    return recall_experience(experienced, WANTED, DESCRIBED)
