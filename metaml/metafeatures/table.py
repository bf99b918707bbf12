"""The metafeatures of a data set as a table."""

import pandas as pd

from metaml.metafeatures.description import Description


def as_table(description: Description) -> pd.DataFrame:
    """Return a row for each metafeature: its name, its value, and why it is NaN if it is.

    >>> as_table(Description({"Skew": float("nan")}, {"Skew": "no numbers"}, {}, {}))["undefined because"].tolist()
    ['no numbers']
    """
    rows = [(name, value, description.reasons.get(name, "")) for name, value in description.values.items()]
    return pd.DataFrame(rows, columns=["metafeature", "value", "undefined because"])
