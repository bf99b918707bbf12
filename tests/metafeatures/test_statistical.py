import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures.statistical import moments, statistical
from metaml.metafeatures.view import view_of


def test_moments_and_their_summaries_are_those_worked_out_on_paper(shop):
    found = dict(statistical(view_of(shop)))

    # Column a is 1.5 ... 8.5: mean 5, variance 6, kurtosis -1.2. Column b: mean 4.5, variance 3.2, kurtosis -1.875.
    expected = {
        "MinMeansOfNumericAtts": 4.5,
        "MeanMeansOfNumericAtts": 4.75,
        "MaxMeansOfNumericAtts": 5.0,
        "Quartile1MeansOfNumericAtts": 4.5,
        "Quartile2MeansOfNumericAtts": 4.75,
        "Quartile3MeansOfNumericAtts": 5.0,
        "MinStdDevOfNumericAtts": 3.2**0.5,
        "MaxStdDevOfNumericAtts": 6**0.5,
        "MinKurtosisOfNumericAtts": -1.875,
        "MaxKurtosisOfNumericAtts": -1.2,
        "MinSkewnessOfNumericAtts": 0.0,
        "MaxSkewnessOfNumericAtts": 0.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_cardinalities_count_the_target_and_leave_missing_values_out(shop):
    found = dict(statistical(view_of(shop)))

    expected = {
        "MinCardinalityOfNumericAttributes": 3,
        "MeanCardinalityOfNumericAttributes": 5.5,
        "MaxCardinalityOfNumericAttributes": 8,
        "StdevCardinalityOfNumericAttributes": 12.5**0.5,
        "MinCardinalityOfNominalAttributes": 2,
        "MeanCardinalityOfNominalAttributes": 7 / 3,
        "MaxCardinalityOfNominalAttributes": 3,
        "CardinalityAtTwo": 24,
        "CardinalityAtThree": 72,
        "CardinalityAtFour": 144,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_moments_agree_with_pandas_on_skewed_columns_with_holes():
    rng = np.random.default_rng(3)
    numbers = rng.lognormal(size=(200, 4))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    frame = pd.DataFrame(numbers)

    means, deviations, skewness, kurtosis = moments(numbers)

    assert means == pytest.approx(frame.mean().to_numpy())
    assert deviations == pytest.approx(frame.std().to_numpy())
    assert skewness == pytest.approx(frame.skew().to_numpy())
    assert kurtosis == pytest.approx(frame.kurt().to_numpy())


def test_a_constant_column_has_no_skewness_even_if_rounding_says_so():
    numbers = np.full((10, 1), 0.1)

    _, deviations, skewness, kurtosis = moments(numbers)

    assert deviations[0] == 0
    assert np.isnan(skewness[0])
    assert np.isnan(kurtosis[0])


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_skewness_does_not_depend_on_the_scale(scale):
    numbers = np.array([[1.0], [2.0], [3.0], [10.0]])

    plain, scaled = moments(numbers), moments(numbers * scale)

    assert scaled[2] == pytest.approx(plain[2])
    assert scaled[3] == pytest.approx(plain[3])


def test_numeric_target_is_among_the_numeric_columns():
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5, 5.5], "y": [10.5, 20.5, 30.5, 40.5, 50.5]})

    found = dict(statistical(view_of(from_frame(frame, target="y", task="regression"))))

    assert found["MaxMeansOfNumericAtts"] == 30.5
