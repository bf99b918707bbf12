"""Parent and child processes: ending with a parent, adopting orphans, killing whole process trees."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable

import psutil

# From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

WATCH_SECONDS = 0.5


def die_with(parent: int) -> None:
    """End this process, and its process group, when process `parent` is gone."""
    if not _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parents have died, where the kernel can do that (Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def has_children() -> bool:
    """Return whether this process has a child, alive or dead."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def descendants(pid: int) -> list[psutil.Process]:
    """Return the children of a process, their children and so on; none if it is gone."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def started_with(variable: str, value: str) -> list[psutil.Process]:
    """Return the processes that were started with this environment variable, or inherited it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(variable) == value:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def kill_all(processes: Iterable[psutil.Process]) -> None:
    """Kill processes that may already be gone."""
    for process in processes:
        try:
            process.kill()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


def kill_group(leader: int) -> None:
    """Kill a process and the group it leads, if it leads one."""
    for kill in (os.killpg, os.kill):
        try:
            kill(leader, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _prctl(option: int, value: int) -> bool:
    """Return whether the kernel granted a process option."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)
