"""Writing beside a search: in order, waited for while there is time, and never silently lost."""

import threading

import pytest

from metaml.scribe import Scribe


def test_what_is_written_in_time_is_waited_for():
    written = []

    assert Scribe().write(lambda: written.append("run"))
    assert written == ["run"]


def test_what_takes_too_long_is_left_to_itself_and_done_in_order_later():
    scribe, is_free, written = Scribe(), threading.Event(), []

    first = scribe.write(lambda: (is_free.wait(), written.append("first")), is_late=lambda: True)
    second = scribe.write(lambda: written.append("second"), is_late=lambda: True)
    before = list(written)
    is_free.set()

    assert (first, second, before) == (False, False, [])
    assert scribe.wait()
    assert written == ["first", "second"]


def test_what_goes_wrong_is_raised_by_whoever_waits():
    scribe, is_free = Scribe(), threading.Event()

    def refuse() -> None:
        is_free.wait()
        raise OSError("full")

    assert not scribe.write(refuse, is_late=lambda: True)
    is_free.set()

    with pytest.raises(OSError, match="full"):
        scribe.wait()
    assert scribe.write(lambda: None)
