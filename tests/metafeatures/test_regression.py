import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures.regression import NAMES, regression
from metaml.metafeatures.view import view_of


def test_target_qualities_are_those_worked_out_on_paper():
    frame = pd.DataFrame(
        {
            "x": [1.5, 2.5, 3.5, 4.5, 5.5],
            "kind": ["a", "a", "b", "b", "b"],
            "y": [1.0, 1.5, 2.0, 2.5, 13.0],
        }
    )

    found = dict(regression(view_of(from_frame(frame, target="y", task="regression"))))

    y = frame["y"].to_numpy()
    between = 2 * (1.25 - 4.0) ** 2 + 3 * (17.5 / 3 - 4.0) ** 2
    assert found["TargetSkewness"] == pytest.approx(frame["y"].skew())
    assert found["TargetKurtosis"] == pytest.approx(frame["y"].kurt())
    assert found["TargetCoefficientOfVariation"] == pytest.approx(frame["y"].std() / 4)
    assert found["TargetDistinctShare"] == 1.0
    assert found["TargetOutlierShare"] == pytest.approx(0.2)
    assert found["TargetAutoCorrelation"] == pytest.approx(np.corrcoef(y[:-1], y[1:])[0, 1])
    assert found["MaxAbsCorrelationWithTarget"] == pytest.approx(np.corrcoef(frame["x"], y)[0, 1])
    assert found["MeanCorrelationRatioWithTarget"] == pytest.approx(between / ((y - 4) ** 2).sum())
    assert set(found) == set(NAMES)


def test_class_targets_have_none_of_them(shop):
    found = dict(regression(view_of(shop)))

    assert set(found.values()) == {"class target"}
