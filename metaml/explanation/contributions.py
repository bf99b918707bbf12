"""What each column adds to predictions, as values that can be added, weighed and passed through a link."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats

LARGEST_RATIO = 10.0
"""How far a link may stretch contributions; what is left is shared by their sizes."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """A prediction taken apart: `base` (outputs) + the sum over columns of `values` (rows × columns × outputs)."""

    base: Floats
    values: Floats

    @property
    def total(self) -> Floats:
        """Return the predictions, rows × outputs."""
        return np.asarray(self.base + self.values.sum(axis=1))

    def reaching(self, base: Floats, total: Floats) -> Contributions:
        """Return contributions, in the same proportions, that lead from another base to other predictions.

        Each output is stretched by the ratio of the distances. Where a distance is almost 0 and the ratio would be
        extreme, the remainder is shared by the sizes of the contributions.

        >>> found = Contributions(np.array([1.0]), np.array([[[1.0], [2.0]]]))
        >>> found.reaching(np.array([0.0]), np.array([[6.0]])).values.ravel().tolist()
        [2.0, 4.0]
        """
        before = self.values.sum(axis=1)
        wanted = total - base
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.nan_to_num(np.where(before != 0, wanted / before, 1.0), nan=1.0, posinf=1.0, neginf=1.0)
        values = self.values * np.clip(ratio, -LARGEST_RATIO, LARGEST_RATIO)[:, None]
        rest = wanted - values.sum(axis=1)
        sizes = np.abs(self.values)
        whole = sizes.sum(axis=1, keepdims=True)
        shares = np.where(whole > 0, sizes / np.where(whole > 0, whole, 1.0), 1 / max(self.values.shape[1], 1))
        return Contributions(np.asarray(base, dtype=np.float64), values + shares * rest[:, None])


def weighted_sum(parts: Iterable[tuple[Contributions, float]]) -> Contributions:
    """Return the contributions to a weighted sum of predictions.

    >>> one = Contributions(np.array([1.0]), np.array([[[2.0]]]))
    >>> weighted_sum([(one, 0.25), (one, 0.75)]).total.tolist()
    [[3.0]]
    """
    listed = list(parts)
    base = np.asarray(sum(weight * part.base for part, weight in listed))
    return Contributions(base, np.asarray(sum(weight * part.values for part, weight in listed)))
