"""Progress in words: the same in a terminal, a pipe and a notebook."""

import itertools
import threading
from dataclasses import replace

from metaml.search.settings import TuneSettings
from metaml.tuning.stopping.forecast import Forecast
from metaml.tuning.stopping.progress import SearchDisplay, display_of, is_notebook, progress_text
from metaml.tuning.trials import TuneProgress

SOON = TuneProgress(12, 30.0, "roc_auc", None, None, TuneSettings(seconds=60.0))


def test_the_line_says_what_the_time_left_should_gain():
    worth = replace(SOON, forecast=Forecast(0.01, 0.002, 12))
    vain = replace(SOON, forecast=Forecast(0.0001, 0.002, 12))

    assert progress_text(SOON).startswith("30 s of 1 min   12 runs   until ")
    assert progress_text(worth).endswith("   rest: about 0.0100 better")
    assert progress_text(vain).endswith("   rest: hardly any gain")


def test_a_script_is_silent_unless_it_is_asked_to_speak(capsys):
    for verbose in (None, 0, 1):
        with display_of(verbose, lambda: 0.0) as display:
            display.phase("search")
            display.progress(SOON)
            display.say(f"note {verbose}")

    assert not is_notebook()
    assert capsys.readouterr().err.splitlines() == [progress_text(SOON), "note 1"]


def test_a_notebook_shows_phase_and_time_while_nothing_is_finished_and_the_result_at_the_end():
    shown, said, seconds, is_enough = [], [], itertools.count(), threading.Event()

    def show(text):
        shown.append(text)
        if len(shown) > 4:
            is_enough.set()

    with SearchDisplay(show, said.append, used=lambda: float(next(seconds)), tick_seconds=0.001) as display:
        display.phase("describing")
        is_enough.wait(30)
        display.progress(SOON)

    assert {"describing"} == {line.split("   ")[1] for line in shown[1:5]}
    assert len(set(shown[:4])) == 4
    assert "12 runs" in shown[-1]
    assert "describing" not in shown[-1]
