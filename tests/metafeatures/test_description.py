"""What a data set is like, within a time allowance."""

import numpy as np
import pandas as pd

from metaml.data import from_frame
from metaml.metafeatures import GROUPS, OUT_OF_TIME, describe
from metaml.metafeatures.group import Cost, Group
from metaml.metafeatures.view import view_of


def wide(n_columns: int):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=60) for i in range(n_columns)}
    return from_frame(pd.DataFrame({**columns, "y": rng.choice(["a", "b"], 60)}), target="y", task="binary")


def test_without_any_time_the_simple_group_is_still_there(shop):
    found = describe(shop, seconds=0.0)

    assert found.values["NumberOfInstances"] == 8
    assert {found.reasons[name] for name in GROUPS["landmarkers"].names} == {OUT_OF_TIME}
    assert found.n_rows_used["landmarkers"] == 0


def test_every_group_tells_its_seconds_and_rows(shop):
    found = describe(shop)

    assert list(found.seconds) == list(found.n_rows_used) == list(GROUPS)
    assert set(found.n_rows_used.values()) == {8}


def test_class_qualities_of_a_regression_target_say_so():
    frame = pd.DataFrame({"x": np.arange(20) + 0.5, "y": np.arange(20) ** 1.5})

    found = describe(from_frame(frame, target="y", task="regression"))

    for name in ("MajorityClassSize", "ClassEntropy", "NaiveBayesAUC"):
        assert np.isnan(found.values[name])
        assert found.reasons[name] == "regression target"
    assert found.values["LinearR2"] > 0.9


def test_costly_groups_plan_with_fewer_rows_then_fewer_columns():
    group = Group((), lambda view: iter(()), Cost(per_cell=1e-3), max_rows=1000)
    view = view_of(wide(200))

    plenty, little = group.affordable(view, 100.0), group.affordable(view, 3.0)

    assert plenty == (60, 200)
    assert little == (60, 50)


def test_a_group_that_breaks_leaves_a_reason_and_the_others_alone(shop, monkeypatch):
    def broken(view):
        yield "ClassEntropy", 1.0
        raise ZeroDivisionError("no luck")

    monkeypatch.setitem(GROUPS, "information", Group(GROUPS["information"].names, broken))

    found = describe(shop)

    assert found.values["ClassEntropy"] == 1.0
    assert found.reasons["MeanAttributeEntropy"] == "could not be computed: ZeroDivisionError: no luck"
    assert found.values["kNN1NErrRate"] >= 0
