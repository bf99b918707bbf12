import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures.simple import NAMES, simple
from metaml.metafeatures.view import view_of


def test_simple_qualities_are_those_worked_out_on_paper(shop):
    found = dict(simple(view_of(shop)))

    assert found == {
        "NumberOfInstances": 8,
        "NumberOfFeatures": 5,
        "NumberOfClasses": 2,
        "Dimensionality": 0.625,
        "NumberOfNumericFeatures": 2,
        "NumberOfSymbolicFeatures": 3,
        "NumberOfBinaryFeatures": 2,
        "PercentageOfNumericFeatures": 40.0,
        "PercentageOfSymbolicFeatures": 60.0,
        "PercentageOfBinaryFeatures": 40.0,
        "NumberOfMissingValues": 3,
        "NumberOfInstancesWithMissingValues": 3,
        "PercentageOfMissingValues": 7.5,
        "PercentageOfInstancesWithMissingValues": 37.5,
        "MajorityClassSize": 4,
        "MinorityClassSize": 4,
        "MajorityClassPercentage": 50.0,
        "MinorityClassPercentage": 50.0,
        "DefaultAccuracy": 0.5,
        "AutoCorrelation": pytest.approx(6 / 7),
        "MinNominalAttDistinctValues": 2,
        "MeanNominalAttDistinctValues": pytest.approx(7 / 3),
        "MaxNominalAttDistinctValues": 3,
        "StdvNominalAttDistinctValues": pytest.approx(3**-0.5),
    }


def test_boolean_columns_count_as_symbolic_and_binary():
    frame = pd.DataFrame({"flag": [True, False, True] * 2, "y": ["a", "b"] * 3})

    found = dict(simple(view_of(from_frame(frame, target="y", task="binary"))))

    assert (found["NumberOfSymbolicFeatures"], found["NumberOfBinaryFeatures"]) == (2, 2)


def test_regression_target_is_a_numeric_feature_without_classes():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5, 5.5], "y": [0.5, 1.5, 2.5, 9.5, 3.5]})

    found = dict(simple(view_of(from_frame(frame, target="y", task="regression"))))

    assert (found["NumberOfNumericFeatures"], found["NumberOfClasses"]) == (2, 0)
    assert found["MajorityClassSize"] == found["AutoCorrelation"] == "regression target"
    assert found["MinNominalAttDistinctValues"] == "no categorical columns"
    assert set(found) == set(NAMES)
