"""The first Ctrl-C is a request, the second an order; where somebody else handles it, nothing is changed."""

import signal
import threading

import pytest

from metaml.system.interrupts import interrupts_of_caller


@pytest.fixture(autouse=True)
def _handler_of_python():
    """Processes that share the tests among them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_interrupt_is_counted_and_the_second_raises():
    told = []

    with interrupts_of_caller(told.append) as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts()
        assert told == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_callers_own_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("own"))
    try:
        with interrupts_of_caller(lambda _: None) as interrupts:
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    assert seen == ["own"]
    assert not interrupts()


def test_another_thread_than_the_main_one_counts_nothing():
    answers = []

    def work() -> None:
        with interrupts_of_caller(lambda _: None) as interrupts:
            answers.append(interrupts())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert answers == [False]
