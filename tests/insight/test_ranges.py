from dataclasses import replace

import numpy as np

from metaml.insight import suggested_ranges
from tests.insight.made_runs import made_runs


def test_the_range_is_where_the_best_runs_are():
    found = {item.name: item for item in suggested_ranges(made_runs(200))}

    # The best value of `a` is at a fifth of its scale, 0.025; 0.5 is the default.
    assert 0.01 <= found["a"].low < 0.025 < found["a"].high < 0.3
    assert found["a"].kept < 0.8
    assert found["kind"].choices == ("good",)
    assert found["b"].kept > 0.8


def test_without_random_runs_nothing_is_suggested():
    runs = made_runs()

    assert suggested_ranges(replace(runs, weights=np.zeros(len(runs.scores)))) == ()
