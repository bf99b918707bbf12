"""Try in a child process what may crash: compiled code that reads a format of its own."""

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

TICK_SECONDS = 0.002


def survives(act: Callable[[], object], *, seconds: float = 10.0, megabytes: int = 4_000) -> bool:
    """Return whether a copy of this process does the act and neither raises, dies, nor takes too long.

    >>> survives(lambda: None), survives(lambda: os.abort())
    (True, False)
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            _limit_memory(megabytes)
            act()
            code = 0
        finally:
            os._exit(code)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(TICK_SECONDS)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


def _limit_memory(megabytes: int) -> None:
    """Let this process take so much memory more than it has; a stricter limit stays."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most, hard = pages * resource.getpagesize() + megabytes * 10**6, resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
