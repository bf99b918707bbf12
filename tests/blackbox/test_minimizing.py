"""minimize: calls a function as often as asked, keeps its errors, and finds its minimum."""

import pytest

from metaml.blackbox import minimize
from metaml.errors import BadRequest


def test_one_objective_is_minimised():
    result = minimize(lambda config: (config["x"] - 0.3) ** 2, {"x": (0.0, 1.0)}, n=20)

    assert len(result.evaluations) == 20
    assert result.best.config["x"] == pytest.approx(0.3, abs=0.05)
    assert result.front == (result.best,)


def test_what_the_function_raises_is_kept():
    def function(config):
        if config["x"] > 0.5:
            raise ValueError("too large")
        return config["x"]

    result = minimize(function, {"x": (0.0, 1.0)}, n=8)

    assert {evaluation.error for evaluation in result.evaluations} == {None, "ValueError: too large"}
    assert result.best.config["x"] <= 0.5


def test_if_nothing_worked_there_is_no_best():
    result = minimize(lambda _: None, {"x": (0.0, 1.0)}, n=3, objectives=2)

    with pytest.raises(BadRequest, match="No evaluation worked"):
        _ = result.best


def test_starts_come_first_and_progress_is_told():
    seen = []

    minimize(lambda c: c["x"], {"x": (0, 9)}, n=3, starts=[{"x": 7}], on_evaluation=lambda result: seen.append(result))

    assert seen[0].evaluations[0].config == {"x": 7}
    assert [len(result.evaluations) for result in seen] == [1, 2, 3]


def test_no_evaluation_is_not_enough():
    with pytest.raises(BadRequest, match="at least 1"):
        minimize(lambda c: c["x"], {"x": (0, 9)}, n=0)
