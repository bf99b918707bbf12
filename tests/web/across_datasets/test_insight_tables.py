"""What insight finds, as tables."""

import pandas as pd

from metaml.insight import Gain, Importance, SizeGroup, SuggestedRange, ValueEffect
from metaml.web.across_datasets.insight_tables import (
    effect_sheet,
    gain_sheet,
    importance_sheet,
    range_sheet,
    trend_sheet,
)


def test_importance_says_what_may_be_chance():
    rows = importance_sheet([Importance("a", 0.9, 1.0, 0.1, 5), Importance("b", 0.1, 0.1, 0.1, 5)]).rows

    assert [row["clear"] for row in rows] == ["yes", "no"]


def test_the_value_that_is_best_most_often_comes_first():
    effects = (ValueEffect("1", 0.2, 0.1, 0.01, 5), ValueEffect("2", 0.8, 0.0, 0.01, 5))

    assert [row["value"] for row in effect_sheet([SizeGroup("all", 5, {"depth": effects})]).rows] == ["2", "1"]


def test_sizes_stand_side_by_side_and_what_matters_comes_first():
    small = {"depth": (ValueEffect("1", 0.8, 0.0, 0.01, 5),), "rate": (ValueEffect("0.1", 1.0, 0.0, 0.0, 5),)}
    large = {"depth": (ValueEffect("1", 0.1, 0.2, 0.01, 7), ValueEffect("6", 0.9, 0.0, 0.01, 7))}

    sheet = effect_sheet([SizeGroup("below 500 rows", 5, small), SizeGroup("from 500 rows", 7, large)], ["rate"])

    assert [(row["setting"], row["value"]) for row in sheet.rows] == [("rate", "0.1"), ("depth", "1"), ("depth", "6")]
    assert (sheet.rows[1]["share_0"], sheet.rows[1]["share_1"], sheet.rows[1]["loss_1"]) == (0.8, 0.1, 0.2)
    page = sheet.html()
    assert "<b>90%</b>" in page
    assert " −0.200<" in page
    assert " 0.000<" in page
    assert "−0.000" not in page
    assert "loss_1" in sheet.csv()


def test_ranges_gains_and_trends_are_listed():
    found = [SuggestedRange("a", 1, 5, (), 0.9, 3), SuggestedRange("b", None, None, ("x", None), 0.5, 3)]
    trends = pd.DataFrame(
        [("a", "n_rows", 0.1, 0.5, 9), ("b", "n_columns", -0.8, 0.01, 9)],
        columns=["hyperparameter", "size", "correlation", "p_value", "n_datasets"],
    )

    assert [row["range"] for row in range_sheet(found).rows] == ["x, None", "1 to 5"]
    assert [row["size"] for row in trend_sheet(trends).rows] == ["columns", "rows"]
    assert gain_sheet([Gain("a", 0.1, 0.01, 0.05, 3)]).rows[0]["gain"] == 0.1
