"""An importer of texts into a knowledge base in memory."""

import pytest

from metaml_kb import open_kb
from tests.kb.table_import.importer import Importer


@pytest.fixture
def kb():
    with open_kb(":memory:") as kb:
        yield kb


@pytest.fixture
def imported(kb, tmp_path):
    return Importer(kb, tmp_path)
