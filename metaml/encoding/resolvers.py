"""Words that stand for a number once the data set is known: thesis section 3.1.1, table 3.4."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt

from metaml.spaces.config import Value

UNLIMITED_DEPTH = 20.0
"""What `max_depth=None` counts as: deep enough, without exaggerating (van Hoof 2018, section 3.1.1)."""


@dataclass(frozen=True)
class Facts:
    """What a word may depend on: the size of the data set."""

    n_rows: int
    n_columns: int
    n_classes: int = 0


Resolver = Callable[[Value, Facts | None], float | None]


def max_features(value: Value, facts: Facts | None) -> float | None:
    """Return the share of the columns: table 3.4 has 0.0576 for log2 and 0.0913 for sqrt at 120 columns.

    >>> round(max_features("log2", Facts(1000, 120)), 4), round(max_features("sqrt", Facts(1000, 120)), 4)
    (0.0576, 0.0913)
    """
    if value is None or value == "all":
        return 1.0
    if facts is None or isinstance(value, bool):
        return None
    p = max(facts.n_columns, 1)
    if value in ("sqrt", "auto"):
        return sqrt(p) / p
    if value == "log2":
        return max(log2(p), 1.0) / p
    return _share(value, p)


def max_depth(value: Value, facts: Facts | None) -> float | None:  # noqa: ARG001 - one signature for all
    """Return 20 for an unlimited depth."""
    return UNLIMITED_DEPTH if value is None else None


def gamma(value: Value, facts: Facts | None) -> float | None:
    """Return 1/p for `auto`, and for `scale`, which equals it on standardised columns."""
    if value in ("auto", "scale") and facts is not None:
        return 1.0 / max(facts.n_columns, 1)
    return None


def min_samples(value: Value, facts: Facts | None) -> float | None:
    """Return a count of rows as the share of the rows."""
    return None if facts is None or isinstance(value, bool) else _share(value, max(facts.n_rows, 1))


def _share(value: Value, whole: int) -> float | None:
    return min(value / whole, 1.0) if isinstance(value, int) else None


RESOLVERS: dict[str, Resolver] = {
    "max_features": max_features,
    "max_depth": max_depth,
    "gamma": gamma,
    "min_samples_leaf": min_samples,
    "min_samples_split": min_samples,
}

COUNTS_OR_SHARES = frozenset({"max_features", "min_samples_leaf", "min_samples_split"})
"""Parameters whose whole numbers are counts and whose fractions are shares."""


def plain_name(name: str) -> str:
    """Return a parameter's name without the steps of a pipeline before it.

    >>> plain_name("classifier__max_features")
    'max_features'
    """
    return name.rpartition("__")[2]
