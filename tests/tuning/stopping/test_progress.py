"""Progress in words: the same in a terminal, a pipe and a notebook."""

from dataclasses import replace

from metaml.search.settings import TuneSettings
from metaml.tuning.stopping.forecast import Forecast
from metaml.tuning.stopping.progress import is_notebook, listeners, progress_text
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
        on_progress, on_note = listeners(verbose)
        on_progress(SOON)
        on_note(f"note {verbose}")

    assert not is_notebook()
    assert capsys.readouterr().err.splitlines() == [progress_text(SOON), "note 1"]
