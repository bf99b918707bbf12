"""The live line fits its terminal, shows phase and time at every tick, and does not flood a pipe."""

import io
import threading

from metaml_cli.live import LiveLine, fitted, ticking

LINE = "4 min 59 s of 5 min   120 runs   best balanced accuracy 0.8123 (gradient_boosting)   until 12:00:00"


def test_a_line_that_fits_stays_as_it_is():
    assert fitted(LINE, 120) == LINE


def test_a_line_that_is_too_long_loses_whole_parts():
    assert fitted(LINE, 85) == LINE.removesuffix("   until 12:00:00")
    assert fitted(LINE, 79) == "4 min 59 s of 5 min   120 runs   until 12:00:00"


def test_a_first_part_that_is_too_long_is_cut():
    assert fitted(LINE, 5) == "4 min"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """Standard error as a terminal, or as a pipe."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


def opened(monkeypatch, *, is_terminal: bool) -> tuple[LiveLine, Clock, Terminal]:
    clock, terminal = Clock(), Terminal(is_terminal=is_terminal)
    monkeypatch.setattr("sys.stderr", terminal)
    return LiveLine(used_before=2.0, clock=clock), clock, terminal


def drawn(terminal: Terminal) -> str:
    return terminal.getvalue().split("\r")[-1].rstrip()


def test_a_terminal_shows_the_phase_at_once_and_at_every_tick_the_time(monkeypatch):
    line, clock, terminal = opened(monkeypatch, is_terminal=True)

    line.phase("reading")
    first = drawn(terminal)
    clock.now = 17.0
    line.tick()

    assert first == "2.0 s   reading"
    assert drawn(terminal) == "19 s   reading"


def test_what_was_found_stays_on_the_line_in_later_phases(monkeypatch):
    line, clock, terminal = opened(monkeypatch, is_terminal=True)

    line.phase("search")
    line.follow(lambda passed: f"{30 + passed:.0f} s of 1 min   12 runs")
    line.phase("refit")
    clock.now = 5.0
    line.tick()

    assert drawn(terminal) == "35 s of 1 min   refit   12 runs"


def test_a_pipe_gets_one_line_for_each_phase_that_takes_long_and_none_for_others(monkeypatch):
    line, clock, terminal = opened(monkeypatch, is_terminal=False)

    line.phase("reading")
    for clock.now in range(1, 70):
        line.tick()
    line.phase("describing")
    clock.now += 1
    line.tick()
    line.phase("report")
    clock.now += 20
    line.tick()

    assert terminal.getvalue() == "7.0 s   reading\n1 min 32 s   report\n"


def test_a_line_ticks_while_other_work_is_done_and_is_removed_at_its_end(monkeypatch):
    line, clock, terminal = opened(monkeypatch, is_terminal=True)
    has_ticked = threading.Event()
    monkeypatch.setattr(line, "tick", lambda: (LiveLine.tick(line), has_ticked.set()))

    with ticking(line, seconds=0.001):
        line.phase("report")
        clock.now = 66.0
        assert has_ticked.wait(30)

    assert "report" in terminal.getvalue()
    assert drawn(terminal) == ""


def test_a_message_is_printed_above_the_line(monkeypatch):
    line, _, terminal = opened(monkeypatch, is_terminal=True)

    line.phase("reading")
    line.say("iris.csv: 150 rows")
    line.tick()

    assert "\riris.csv: 150 rows\n" in terminal.getvalue()
    assert drawn(terminal) == "2.0 s   reading"
