"""Background writes: in order, waited for while there is time, and errors are never lost."""

import threading

import pytest

from metaml.system.background_writer import BackgroundWriter


def test_a_write_in_time_is_waited_for():
    written = []

    assert BackgroundWriter().write(lambda: written.append("run"))
    assert written == ["run"]


def test_a_late_write_is_not_waited_for_and_is_done_in_order_later():
    writer, is_free, written = BackgroundWriter(), threading.Event(), []

    first = writer.write(lambda: (is_free.wait(), written.append("first")), is_late=lambda: True)
    second = writer.write(lambda: written.append("second"), is_late=lambda: True)
    before = list(written)
    is_free.set()

    assert (first, second, before) == (False, False, [])
    assert writer.wait()
    assert written == ["first", "second"]


def test_an_error_is_raised_in_the_waiting_thread():
    writer, is_free = BackgroundWriter(), threading.Event()

    def refuse() -> None:
        is_free.wait()
        raise OSError("full")

    assert not writer.write(refuse, is_late=lambda: True)
    is_free.set()

    with pytest.raises(OSError, match="full"):
        writer.wait()
    assert writer.write(lambda: None)
