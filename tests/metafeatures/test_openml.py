"""OpenML's qualities, repaired."""

import math

from metaml.metafeatures.openml import repair_openml


def test_fractions_and_percentages_become_percentages():
    as_fraction = {"NumberOfNumericFeatures": 3, "NumberOfFeatures": 4, "PercentageOfNumericFeatures": 0.75}
    as_percentage = {**as_fraction, "PercentageOfNumericFeatures": 75.0}

    assert repair_openml(as_fraction) == repair_openml(as_percentage)
    assert repair_openml(as_fraction)["PercentageOfNumericFeatures"] == 75.0


def test_a_percentage_without_its_counts_is_left_alone():
    assert repair_openml({"PercentageOfMissingValues": 1.0}) == {"PercentageOfMissingValues": 1.0}


def test_placeholders_become_nan_and_true_values_stay():
    repaired = repair_openml({"MeanAttributeEntropy": -1.0, "MeanNoiseToSignalRatio": 3.0, "kNN1NKappa": -1.0})

    assert math.isnan(repaired["MeanAttributeEntropy"])
    assert repaired["MeanNoiseToSignalRatio"] == 3.0
    assert repaired["kNN1NKappa"] == -1.0


def test_moments_of_no_numeric_columns_become_nan():
    repaired = repair_openml({"NumberOfNumericFeatures": 0, "MaxMeansOfNumericAtts": 0.0})

    assert math.isnan(repaired["MaxMeansOfNumericAtts"])
