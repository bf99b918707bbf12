import pytest

from metaml_kb import open_kb
from tests.kb.tables.importer import Importer


@pytest.fixture
def kb():
    with open_kb(":memory:") as kb:
        yield kb


@pytest.fixture
def imported(kb, tmp_path):
    return Importer(kb, tmp_path)
