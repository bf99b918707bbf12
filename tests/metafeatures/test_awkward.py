"""Every data set that can be read can be described."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures import describe
from metaml.metafeatures.landmarkers import NAMES as LANDMARKERS

RNG = np.random.default_rng(0)


def frame(columns, y) -> pd.DataFrame:
    return pd.concat([pd.DataFrame(columns), pd.Series(y, name="y")], axis=1)


def mostly_missing() -> dict[str, np.ndarray]:
    holes = np.full(40, np.nan)
    holes[[3, 4]] = 1.5, 2.5
    return {"x0": holes, "x1": np.roll(holes, 5), "x2": RNG.normal(size=40)}


CASES = {
    "one column": (frame({"x": RNG.normal(size=30)}, ["a", "b"] * 15), "binary"),
    "one column, regression": (frame({"x": RNG.normal(size=30)}, RNG.normal(size=30)), "regression"),
    "all categorical": (
        frame({f"x{i}": RNG.choice(["p", "q", "r"], 60) for i in range(6)}, ["a", "b", "c"] * 20),
        "multiclass",
    ),
    "all missing but one": (frame(mostly_missing(), ["a", "b"] * 20), "binary"),
    "two rows per class": (
        frame({"x": RNG.normal(size=80), "z": RNG.normal(size=80)}, [f"c{i // 2}" for i in range(80)]),
        "multiclass",
    ),
    "five rows": (frame({"x": [1.5, 2.5, 3.5, 4.5, 5.5]}, ["a", "b", "a", "b", "b"]), "binary"),
    "a class of two rows": (frame({"x": RNG.normal(size=22)}, ["a"] * 20 + ["b"] * 2), "binary"),
    "huge and tiny numbers": (
        frame({"x": RNG.normal(size=40) * 1e300, "z": RNG.normal(size=40) * 1e-300}, ["a", "b"] * 20),
        "binary",
    ),
    "a level per row": (
        frame({"x": [f"v{i}" for i in range(40)], "z": RNG.normal(size=40)}, ["a", "b"] * 20),
        "binary",
    ),
    "many columns": (frame(dict(enumerate(RNG.normal(size=(3000, 40)))), ["a", "b"] * 20), "binary"),
}


@pytest.mark.parametrize("case", CASES)
def test_awkward_data_is_described_without_failures(case):
    table, task = CASES[case]
    dataset = from_frame(table.rename(columns=str), target="y", task=task)

    found = describe(dataset)

    assert not [reason for reason in found.reasons.values() if "could not" in reason]
    if task != "regression":
        assert all(np.isfinite(found.values[name]) for name in LANDMARKERS)
