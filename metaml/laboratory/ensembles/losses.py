"""The losses of ensembles on many data sets, from kept predictions, and the portfolio that makes them least."""

from collections.abc import Sequence

import numpy as np

from metaml.arrays import Array, Floats, Positions
from metaml.ensemble.selection import batch_scores
from metaml.laboratory.ensembles.kept_runs import UNUSED, KeptRuns
from metaml.metrics import metric

MOST_ROWS = 400
"""Rows of each data set by which a portfolio is chosen."""
WIDEST = 0.5
"""Log ratios of losses are clipped here, so that no data set decides alone."""


class EnsembleLosses:
    """Log losses of the plain mean of some candidates and one more, for each data set and candidate.

    `places` has, for each data set and candidate, the position of its run; -1 if there is none. What was asked for once
    is kept: leaving out one data set after the other asks for nearly the same sets.
    """

    def __init__(self, kept: Sequence[KeptRuns], places: Positions, *, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self._parts = [_part(item, rng) for item in kept]
        self._places = places
        self._known: dict[frozenset[int], Floats] = {}

    def after(self, chosen: Sequence[int]) -> Floats:
        """Return data sets × candidates: the loss of those chosen with the candidate; NaN where it was not run."""
        key = frozenset(chosen)
        if key not in self._known:
            self._known[key] = np.array(
                [self._row(part, places, chosen) for part, places in zip(self._parts, self._places, strict=True)]
            )
        return self._known[key]

    def _row(self, part: tuple[Array, Array, str], places: Positions, chosen: Sequence[int]) -> Floats:
        predictions, truth, metric_name = part
        members = [places[k] for k in chosen if places[k] >= 0]
        total = predictions[members].sum(axis=0) if members else 0.0
        known = places >= 0
        found = np.full(len(places), np.nan)
        batch = (predictions[places[known]] + total) / (len(members) + 1)
        gaps = metric(metric_name).highest - batch_scores(batch, truth, metric_name)
        found[known] = np.log(np.maximum(gaps, 1e-6))
        return found


def _part(item: KeptRuns, rng: np.random.Generator) -> tuple[Array, Array, str]:
    """Return the predictions and the truth of some rows, new ones if there are any."""
    unused = np.flatnonzero(item.folds == UNUSED)
    rows = unused if len(unused) >= MOST_ROWS // 2 else np.arange(len(item.folds))
    rows = np.sort(rng.permutation(rows)[:MOST_ROWS])
    return item.predictions[:, rows].astype(np.float64), item.truth[rows], item.metric


def ensemble_order(
    losses: EnsembleLosses,
    datasets: Sequence[int],
    weights: Floats,
    n: int,
    *,
    given: Sequence[int] = (),
    usable: Array | None = None,
) -> list[int]:
    """Return up to `n` candidates, each the one with which the ensemble loses least on these data sets.

    They are chosen one after the other, those `given` first. `weights` say how much each data set counts, `usable`
    which candidates may be chosen.
    """
    chosen = list(given)
    share = weights / weights.sum()
    base = np.nanmedian(losses.after([])[list(datasets)], axis=1, keepdims=True)
    while True:
        found = losses.after(chosen)[list(datasets)] - base
        if usable is not None:
            found[:, ~usable] = np.nan
        # Where a candidate was not run, it is taken to change what its data set usually gains.
        usual = np.nanmedian(np.where(np.isfinite(found), found, np.nan), axis=1, keepdims=True)
        clipped = np.clip(np.where(np.isfinite(found), found, usual), -WIDEST, WIDEST)
        means = share @ clipped
        means[chosen] = np.inf
        if usable is not None:
            means[~usable] = np.inf
        place = int(np.argmin(means))
        if len(chosen) >= n or not np.isfinite(means[place]):
            return chosen[:n]
        chosen.append(place)
