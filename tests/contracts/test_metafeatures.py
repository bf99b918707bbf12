"""What every registered metafeature keeps to, on data sets that Hypothesis makes up."""

import math

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metaml.data import Dataset, from_frame
from metaml.metafeatures import GROUPS, NAMES, OUT_OF_TIME, describe


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    n_rows = draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    task = draw(st.sampled_from(["binary", "multiclass", "regression"]))
    columns = {f"n{i}": rng.normal(size=n_rows) for i in range(draw(st.integers(1, 4)))}
    for i in range(draw(st.integers(0, 3))):
        columns[f"c{i}"] = rng.choice(["red", "green", "blue"], n_rows)
    frame = pd.DataFrame(columns).mask(rng.random((n_rows, len(columns))) < draw(st.sampled_from([0.0, 0.3])))
    frame["n0"] = columns["n0"]
    labels = np.resize(["a", "b", "c"][: 2 if task == "binary" else 3], n_rows)
    frame["target"] = rng.normal(size=n_rows) if task == "regression" else rng.permutation(labels)
    return from_frame(frame, target="target", task=task)


def test_no_name_is_registered_twice():
    assert len(set(NAMES)) == len(NAMES) == sum(len(group.names) for group in GROUPS.values())


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(dataset=datasets())
def test_every_name_has_a_finite_value_or_a_reason_and_always_the_same(dataset):
    found, again = describe(dataset), describe(dataset)

    assert tuple(found.values) == NAMES
    for name, value in found.values.items():
        assert isinstance(value, float)
        assert math.isfinite(value) != (name in found.reasons)
    assert not [reason for reason in found.reasons.values() if "could not" in reason]
    # Without an allowance of time nothing is late: such a reason would hide a name that no group yields.
    assert OUT_OF_TIME not in found.reasons.values()
    assert found.reasons == again.reasons
    assert str(found.values) == str(again.values)


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(dataset=datasets())
def test_shares_and_scores_stay_in_their_ranges(dataset):
    found = describe(dataset)

    for name, value in found.values.items():
        if name in found.reasons:
            continue
        if "Percentage" in name:
            assert 0 <= value <= 100
        elif name.endswith(("AUC", "ErrRate", "Share")) or name == "DefaultAccuracy":
            assert 0 <= value <= 1
        elif name.endswith(("Kappa", "R2", "AutoCorrelation")):
            assert -1 <= value <= 1
        elif name.endswith(("Entropy", "Information")):
            assert value >= 0
