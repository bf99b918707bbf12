import pandas as pd
import pytest

from metaml.data import Dataset, from_frame


@pytest.fixture(scope="session")
def shop() -> Dataset:
    """Eight rows whose metafeatures can be worked out on paper."""
    frame = pd.DataFrame(
        {
            "a": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5],
            "b": [2.5, 2.5, 4.5, 4.5, None, None, 6.5, 6.5],
            "colour": ["red", "red", "red", "red", "green", "green", "blue", "blue"],
            "size": ["small", "large", "small", "large", "small", "large", "small", None],
            "bought": ["yes", "yes", "yes", "yes", "no", "no", "no", "no"],
        }
    )
    return from_frame(frame, target="bought", task="binary", name="shop")
