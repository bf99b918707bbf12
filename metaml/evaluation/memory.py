"""The memory of this process: now, and the peak since an evaluation started."""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

import psutil

MEGABYTE = 1_000_000
_CLEAR_REFS = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


class MemoryMeter:
    """Measures how much memory use has grown since the meter was made, in megabytes.

    On Linux the kernel records the true peak. Elsewhere it is the largest value at any call of `peak`.
    """

    def __init__(self) -> None:
        self.baseline = resident_bytes()
        self._highest = self.baseline
        self._kernel_counts = _reset_kernel_peak()

    def peak(self) -> float:
        """Return the largest growth so far."""
        now = _kernel_peak_bytes() if self._kernel_counts else resident_bytes()
        self._highest = max(self._highest, now)
        return (self._highest - self.baseline) / MEGABYTE


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(psutil.Process().memory_info().rss)


def release_memory() -> None:
    """Return freed memory to the system, so that it does not count for the next evaluation."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _reset_kernel_peak() -> bool:
    """Return whether the kernel now counts the peak from this moment on (proc(5), clear_refs)."""
    try:
        _CLEAR_REFS.write_text("5")
        return _kernel_peak_bytes() > 0
    except OSError:
        return False


def _kernel_peak_bytes() -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
