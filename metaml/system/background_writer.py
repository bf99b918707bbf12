"""Writing to the knowledge base beside a search, so that a disk that hangs or a lock of others never makes it late."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

TICK_SECONDS = 0.1


class BackgroundWriter:
    """Writes one thing after the other, and is waited for as long as there is time.

    What goes wrong is raised by whoever waits, then or later.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="metaml-writer")
        self._open: list[Future[object]] = []

    def write(self, act: Callable[[], object], *, is_late: Callable[[], bool] = lambda: False) -> bool:
        """Write, once what was to be written before is; return whether that is done, as soon as it is or it is late.

        >>> BackgroundWriter().write(lambda: None)
        True
        """
        self._open.append(self._thread.submit(act))
        return self.wait(is_late=is_late)

    def wait(self, *, is_late: Callable[[], bool] = lambda: False) -> bool:
        """Return whether all is written, as soon as it is or it is late."""
        while self._open:
            done, _ = wait(self._open[:1], timeout=TICK_SECONDS)
            if done:
                self._open.pop(0).result()
            elif is_late():
                return False
        return True
