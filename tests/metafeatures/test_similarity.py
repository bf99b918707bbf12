import numpy as np
import pandas as pd

from metaml.metafeatures.similarity import nearest


def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "NumberOfInstances": [150.0, 1000.0, 50000.0, 160.0],
            "NumberOfFeatures": [5.0, 21.0, 15.0, 6.0],
            "NumberOfClasses": [3.0, 2.0, 2.0, 3.0],
            "MajorityClassPercentage": [33.3, 70.0, 76.0, np.nan],
        },
        index=["iris", "credit-g", "adult", "iris-like"],
    )


def test_a_data_set_is_nearest_to_itself():
    found = nearest(table().loc["credit-g"].to_dict(), table())

    assert found[0] == ("credit-g", 0.0)
    assert len(found) == 3


def test_what_one_side_lacks_is_left_out_of_the_distance():
    values = {**table().loc["iris"].to_dict(), "ClassEntropy": np.nan}

    found = nearest(values, table(), n=2)

    assert [name for name, _ in found] == ["iris", "iris-like"]


def test_rows_with_too_little_in_common_are_left_out():
    sparse = pd.DataFrame({"NumberOfInstances": [150.0], "NumberOfFeatures": [np.nan], "NumberOfClasses": [np.nan]})

    found = nearest(table().loc["iris"].to_dict(), sparse)

    assert found == []


def test_an_empty_table_has_no_neighbours():
    assert nearest({"NumberOfInstances": 10.0}, pd.DataFrame()) == []
