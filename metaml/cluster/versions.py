"""What a worker of a cluster is, and whether it may evaluate jobs of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_COMPARED = ("ConfigSpace",)
"""Libraries that decide nothing about an evaluation."""


def host_facts() -> dict[str, Any]:
    """Return the environment of this machine, and its memory in megabytes, which a container may limit."""
    from distributed.system import MEMORY_LIMIT

    from metaml.evaluation.environment import environment

    return {**environment(), "megabytes": MEMORY_LIMIT / 1e6}


def mismatch(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return what a worker has in another version than this machine, empty if nothing: it would score differently.

    >>> mismatch({"python": "3.11.2", "libraries": {"lightgbm": "4.5"}}, {"python": "3.12.1", "libraries": {}})
    'Python 3.12 instead of 3.11, no lightgbm instead of 4.5'
    """
    found = []
    minor, other = (str(facts["python"]).rpartition(".")[0] for facts in (ours, theirs))
    if minor != other:
        found.append(f"Python {other} instead of {minor}")
    here, there = ours["libraries"], theirs["libraries"]
    for name in dict.fromkeys([*here, *there]):
        if name not in NOT_COMPARED and here.get(name) != there.get(name):
            what = f"{name} {there[name]}" if name in there else f"no {name}"
            found.append(f"{what} instead of {here.get(name, 'none')}")
    return ", ".join(found)


def scale(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """Return what one second of a worker is worth here, by the reference workload.

    >>> scale({"reference_seconds": 0.2}, {"reference_seconds": 0.6}).__round__(3)
    0.333
    """
    return float(ours["reference_seconds"]) / float(theirs["reference_seconds"])
