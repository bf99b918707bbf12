"""The classes a model file may contain: those that the algorithms name in `saves`, and those that they share.

A file names classes by the names given there; it cannot name anything else, and no constructor or method of its
choice is called.
"""

from __future__ import annotations

from typing import Any

from metaml.algorithms import KNOWN
from metaml.algorithms.trusted_classes import SHARED, TrustedClass

TRUSTED: dict[str, TrustedClass] = {
    recipe.name: recipe for recipe in (*SHARED, *(recipe for algorithm in KNOWN for recipe in algorithm.saves))
}
"""Every class by its name in files."""

_NAMES = {
    (recipe.place.partition(":")[0].partition(".")[0], recipe.place.partition(":")[2]): name
    for name, recipe in TRUSTED.items()
}


def trusted_name(item: Any) -> str | None:
    """Return the name that an object's class has in files, None if it has none."""
    kind = type(item)
    # Package and name are compared first, so that no other library is imported to compare.
    name = _NAMES.get((kind.__module__.partition(".")[0], kind.__name__))
    return name if name is not None and TRUSTED[name].type is kind else None
