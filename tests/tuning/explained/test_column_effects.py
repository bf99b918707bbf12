"""Curves of the whole model, from each fold's models on rows that they were not fitted to."""

import numpy as np
import pandas as pd
import pytest

import metaml
from metaml.tuning import column_importance
from metaml.tuning.explained import column_effects

pytestmark = pytest.mark.usefixtures("one_pool")


def test_an_ensemble_has_a_curve_for_each_fold_and_pairs_that_act_together(monkeypatch):
    for module in (column_effects, column_importance):
        monkeypatch.setattr(module, "UNTIMED_SECONDS", 600.0)
    rng = np.random.default_rng(0)
    a, b, c = (rng.uniform(-1, 1, 300) for _ in range(3))
    kind = rng.choice(["x", "y"], 300)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "kind": kind, "y": 4 * a * b + 2 * c + (kind == "y")})

    result = metaml.tune(frame, "y", iterations=2, folds=3, algorithms=["lightgbm", "decision_tree"], kb=":memory:")

    effects = {effect.column: effect for effect in result.facts.effects}
    assert set(effects) == {"a", "b", "c", "kind"}
    assert all(len(effect.curves) == 3 for effect in effects.values())
    assert effects["c"].mean[-1] - effects["c"].mean[0] > 2
    assert dict(zip(effects["kind"].places, effects["kind"].mean, strict=True))["y"] > 0.3
    strongest = result.facts.interactions[0]
    assert {strongest.first, strongest.second} == {"a", "b"}
    low, *_, high = [curve for _, curve in strongest.curves]
    assert low[-1] < low[0] - 1
    assert high[-1] > high[0] + 1
    assert all(item.is_of_all for item in result.facts.features)
    page = result.html()
    assert "Columns that act together" in page
    assert page.count('class="band"') >= 3


def test_without_time_there_are_no_curves_and_the_report_has_no_such_part(monkeypatch):
    monkeypatch.setattr(column_effects, "UNTIMED_SECONDS", 0.0)
    frame = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40.0)})

    result = metaml.tune(frame, "y", iterations=1, folds=2, algorithms="decision_tree", kb=":memory:")

    assert not result.facts.effects
    assert not result.facts.interactions
    assert "What the columns do" not in result.html()
