"""Circular imports and thread pools of libraries.

Modules of some libraries import one another in circles. If two threads enter a circle at different places, each sees an
incomplete module. During a search, every import that is not at the top of a file must therefore hold `importing`.
"""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from threading import RLock

from threadpoolctl import ThreadpoolController

importing = RLock()


def at_most_threads(n: int) -> AbstractContextManager[object]:
    """Return a context in which libraries use at most `n` threads; with more, small work is slower and less exact.

    >>> with at_most_threads(1):
    ...     pass
    """
    limited: AbstractContextManager[object] = _threads(len(sys.modules)).limit(limits=n)
    return limited


@lru_cache(maxsize=1)
def _threads(_n_modules: int) -> ThreadpoolController:
    """Return the thread pools of all libraries; the search takes milliseconds and is repeated after new imports."""
    return ThreadpoolController()
