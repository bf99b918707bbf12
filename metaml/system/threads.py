"""What libraries do behind one's back: importing one another in circles, and starting threads.

Their modules import one another in circles: two threads that enter a circle at different places see half a module each.
Where a search runs, every import of them that is not at the top of a file is made holding `importing`.
"""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from threading import RLock

from threadpoolctl import ThreadpoolController

importing = RLock()


def at_most_threads(n: int) -> AbstractContextManager[object]:
    """Return a block in which libraries use so many threads: small work is slower with more, and less exact to repeat.

    >>> with at_most_threads(1):
    ...     pass
    """
    limited: AbstractContextManager[object] = _threads(len(sys.modules)).limit(limits=n)
    return limited


@lru_cache(maxsize=1)
def _threads(_n_modules: int) -> ThreadpoolController:
    """Return the threads of all libraries; they are looked for, which takes milliseconds, when one may be new."""
    return ThreadpoolController()
