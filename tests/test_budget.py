"""Time, as people write it."""

import pytest

from metaml.budget import Budget, in_words, seconds_of
from metaml.errors import BadRequest


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200), ("1h30m", 5400), ("1.5h", 5400), ("1D", 86400)],
)
def test_durations_are_read(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-3s", "10 parsecs", "0", "5m3"])
def test_a_wrong_duration_says_how_to_write_it(text):
    with pytest.raises(BadRequest, match=r"90s|more than 0"):
        seconds_of(text)


def test_words_name_the_two_largest_units():
    assert [in_words(s) for s in (0.04, 59, 60, 3599, 3600, 90000)] == [
        "0.0 s", "59 s", "1 min", "59 min 59 s", "1 h", "25 h",
    ]  # fmt: skip


def test_a_budget_runs_out():
    moments = iter([100.0, 104.0, 104.0, 111.0])
    budget = Budget(10, clock=lambda: next(moments))

    assert budget.used == 4
    assert budget.left == 6
    assert budget.is_used_up


def test_a_budget_without_end_never_does():
    assert Budget(None).left == float("inf")
