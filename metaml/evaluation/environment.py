"""Where a run was made: the machine, its speed, and the versions that decide what a learner does."""

from __future__ import annotations

import json
import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from metaml.algorithms import ALGORITHMS
from metaml.evaluation import reference

SHARED_LIBRARIES = ("metaml", "numpy", "scipy", "pandas", "scikit-learn", "ConfigSpace")
"""What every run depends on, beside the library of its algorithm."""


def environment(cache: Path | None = None) -> dict[str, Any]:
    """Return the environment of a run as plain JSON.

    Keys: `host`, `platform`, `cpu`, `n_cpus`, `python`, `libraries` (versions) and `reference_seconds`, measured
    once for each host, Python, numpy and workload and kept in `cache`, by default a file among the user's caches.
    """
    facts: dict[str, Any] = {
        "host": platform.node(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "n_cpus": os.cpu_count() or 1,
        "python": platform.python_version(),
        "libraries": library_versions(),
    }
    return {**facts, "reference_seconds": _reference_seconds(facts, cache or _default_cache())}


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the installed libraries that matter, without importing them."""
    found = {}
    for name in dict.fromkeys((*SHARED_LIBRARIES, *(algorithm.library for algorithm in ALGORITHMS.values()))):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _reference_seconds(facts: dict[str, Any], cache: Path) -> float:
    key = "|".join(
        [facts["host"], facts["cpu"], facts["python"], facts["libraries"].get("numpy", ""), str(reference.VERSION)]
    )
    known = _read(cache)
    if key not in known:
        known = {**known, key: reference.reference_seconds()}
        _write(cache, known)
    return known[key]


def _read(cache: Path) -> dict[str, float]:
    """Return what is in the cache; a file that is missing or broken holds nothing."""
    try:
        content = json.loads(cache.read_text(encoding="utf-8"))
        return {str(key): float(seconds) for key, seconds in content.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _write(cache: Path, known: dict[str, float]) -> None:
    """Write the cache where possible; on a read-only system the workload runs again next time."""
    draft = cache.with_name(f"{cache.name}.{os.getpid()}")
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(known, indent=1), encoding="utf-8")
        draft.replace(cache)
    except OSError:
        return


def _default_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("metaml") / "reference_seconds.json"


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
