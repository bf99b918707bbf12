"""Minimum, mean, quartiles and maximum over columns, as Apache Commons Math computes them."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats


def quartile(values: Floats, which: int) -> float:
    """The first, second or third quartile at position (n + 1) q / 4: Commons Math's default, R's type 6.

    >>> quartile(np.array([1.0, 2.0, 3.0, 4.0]), 1)
    1.25
    """
    return float(np.quantile(values, which / 4, method="weibull"))


def summaries(values: Floats, *, reason: str) -> dict[str, float | str]:
    """The value of each prefix over the finite values, or the reason if there are none."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return dict.fromkeys(PREFIXES, reason)
    return {
        "Min": float(finite.min()),
        "Mean": float(finite.mean()),
        "Max": float(finite.max()),
        "Quartile1": quartile(finite, 1),
        "Quartile2": quartile(finite, 2),
        "Quartile3": quartile(finite, 3),
    }


PREFIXES = ("Min", "Mean", "Max", "Quartile1", "Quartile2", "Quartile3")
