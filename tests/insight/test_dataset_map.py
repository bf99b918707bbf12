import numpy as np
import pandas as pd

from metaml.insight import map_datasets


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    near = rng.normal(0, 0.1, (5, 4))
    far = rng.normal(5, 0.1, (5, 4))
    return pd.DataFrame(np.vstack([near, far]), index=[f"f{k}" for k in range(10)], columns=list("abcd"))


def test_similar_data_sets_are_near_each_other():
    places = map_datasets(table()).places["x"]

    assert abs(places["f0"] - places["f1"]) < abs(places["f0"] - places["f9"])
    assert (places[:5].max() < places[5:].min()) or (places[:5].min() > places[5:].max())


def test_what_is_missing_or_never_varies_does_not_matter():
    holes = table().assign(constant=1.0, empty=np.nan)
    holes.iloc[0, 0] = np.nan

    found = map_datasets(holes)

    assert not found.places.isna().any().any()
    assert {"constant", "empty"}.isdisjoint({*found.leading[0], *found.leading[1]})


def test_two_data_sets_have_no_map():
    assert map_datasets(table().iloc[:2]).explained == (0.0, 0.0)
