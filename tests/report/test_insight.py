"""What can be learnt from the search and the model: columns, settings, errors."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.report import Confusion, FeatureImportance, render
from tests.report.reading import section, words
from tests.report.samples import full


def columns_text(means, std=0.01):
    """Return the text about columns of a report in which shuffling them costs `means`, plus or minus `std`."""
    found = [FeatureImportance(f"column {place}", mean, std) for place, mean in enumerate(means)]
    return words(section("features", render(replace(full(), features=found))))


def test_the_importance_of_columns_says_which_member_was_looked_at():
    data = full()
    alone = replace(data.final, members=data.final.members[:1])
    heaviest = data.final.members[0].algorithm

    assert f"ROC AUC of {heaviest}, the member with the most weight, falls" in section("features", render(data))
    assert "ROC AUC falls" in section("features", render(replace(data, final=alone)))


@pytest.mark.parametrize("n_classes", [2, 8])
def test_the_table_of_classes_has_a_title(n_classes):
    labels = [f"class {k}" for k in range(n_classes)]
    confused = Confusion(labels, (5 * np.eye(n_classes) + 1).tolist())

    assert "Class by class" in section("errors", render(replace(full(), confusion=confused)))


def test_only_columns_that_matter_measurably_are_shown():
    text = columns_text([0.2, 0.1, *[0.0] * 28])

    assert "column 1" in text
    assert "column 2" not in text
    assert text.endswith("28 other columns do not matter measurably.")


def test_columns_that_matter_but_are_not_shown_are_counted():
    assert columns_text([*[0.5] * 23, 0.0]).endswith(
        "3 more columns matter measurably; 1 other column does not matter measurably."
    )


def test_where_no_column_matters_measurably_the_best_are_shown():
    text = columns_text([0.009, 0.008, 0.007, 0.006])

    assert "column 2" in text
    assert "column 3" not in text
    assert text.endswith("No column matters measurably by itself; the best 3 of 4 are shown.")


def test_where_every_column_is_shown_nothing_is_counted():
    assert columns_text([0.2, 0.1]).endswith("0.100 ± 0.010")
