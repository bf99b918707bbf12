"""A filter for something that is not there says so, and names what is."""

import pytest

from metaml_kb import DatasetRecord
from metaml_kb.errors import BadQuery


def test_a_mistyped_data_set_is_answered_with_the_nearest_names_first(kb):
    for number, name in enumerate(["abalone", "bank", "car", "dna", "ecoli", "flags", "glass", "heart", "tumours"]):
        kb.add_dataset(DatasetRecord(f"{number:032}", name))

    with pytest.raises(BadQuery, match=r"no data set tumors .*Known are: tumours, abalone, .* and 2 more\."):
        kb.runs(dataset="tumors")


def test_one_mistyped_data_set_among_several_is_named(kb, run_of):
    kb.add_run(run_of(1))

    with pytest.raises(BadQuery, match="no data set wien "):
        kb.runs(dataset=["iris", "wien"])
