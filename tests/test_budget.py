"""Time: as people write it, and how much of it is left."""

import subprocess
import sys
import time

import pytest

from metaml.budget import Budget, Drag, in_words, seconds_of
from metaml.errors import BadRequest
from metaml.search.settings import TuneSettings
from metaml.tuning.closing import closing_seconds


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


def test_waiting_for_others_is_drag_and_work_is_none():
    waiting, working = Drag(), Drag()
    with waiting.watch():
        time.sleep(0.2)
    working.note(wall=0.5, busy=0.9)

    assert waiting.factor > 1.1
    assert working.factor == 1.0


def test_a_busy_machine_gets_more_time_for_the_end():
    settings = TuneSettings(seconds=30.0)
    alone, busy = Budget(30.0), Budget(30.0, drag=Drag(wall=9.0, busy=3.0))

    assert closing_seconds(settings, busy) == pytest.approx(3 * closing_seconds(settings, alone))
    assert closing_seconds(TuneSettings(seconds=None, n_iterations=3), busy) == 0.0


def test_a_long_search_on_a_busy_machine_is_not_ended_minutes_before_its_time():
    busy = Budget(300.0, drag=Drag(wall=10.0, busy=1.0))

    assert closing_seconds(TuneSettings(seconds=300.0), busy) < 0.1 * 300


@pytest.mark.parametrize(("seconds", "left"), [(3600.0, 3.0), (None, 3.0), (62.0, 2.0)])
def test_who_wants_to_stop_waits_for_a_moment_and_never_for_longer_than_the_budget(seconds, left):
    budget = Budget(seconds, clock=lambda: 100.0, used_before=60.0)

    end = budget.ending_in(3.0)

    assert (end.left, end.used) == (left, budget.used)


def test_seconds_alive_is_exact_to_a_fraction_of_a_second():
    program = "import time; time.sleep(0.3); from metaml.budget import seconds_alive; print(seconds_alive())"

    start = time.monotonic()
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    most = time.monotonic() - start

    assert 0.3 <= float(printed) <= most + 0.02
