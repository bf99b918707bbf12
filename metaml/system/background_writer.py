"""Writes to the knowledge base in a background thread, so that a slow disk or a lock never delays a search."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

TICK_SECONDS = 0.1


class BackgroundWriter:
    """Runs writes one after the other in a thread; the caller waits for them only while there is time.

    If a write fails, its error is raised by that call of `write` or `wait`, or by the next one.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="metaml-writer")
        self._open: list[Future[object]] = []

    def write(self, act: Callable[[], object], *, is_late: Callable[[], bool] = lambda: False) -> bool:
        """Write after all earlier writes; return True as soon as all are done, False if it is late before.

        >>> BackgroundWriter().write(lambda: None)
        True
        """
        self._open.append(self._thread.submit(act))
        return self.wait(is_late=is_late)

    def wait(self, *, is_late: Callable[[], bool] = lambda: False) -> bool:
        """Return True as soon as everything is written, False if it is late before."""
        while self._open:
            done, _ = wait(self._open[:1], timeout=TICK_SECONDS)
            if done:
                self._open.pop(0).result()
            elif is_late():
                return False
        return True
