"""The information-theoretic group: entropies in bits of the categorical columns and of the class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.quartiles import PREFIXES, summaries
from metaml.metafeatures.view import Ints, View

NAMES = (
    "ClassEntropy",
    *(f"{prefix}AttributeEntropy" for prefix in PREFIXES),
    *(f"{prefix}MutualInformation" for prefix in PREFIXES),
    "EquivalentNumberOfAtts",
    "MeanNoiseToSignalRatio",
)
_BLOCK_CELLS = 4_000_000


def information(view: View) -> Iterator[tuple[str, float | str]]:
    """Each information-theoretic quality; numeric columns take no part, as at OpenML."""
    if view.is_regression:
        for name in NAMES:
            yield name, "regression target"
        return
    y = view.y.astype(np.int64)
    class_entropy = float(segment_entropies(np.bincount(y).astype(np.float64), np.zeros(1, dtype=np.int64))[0])
    yield "ClassEntropy", class_entropy
    entropies, shared = entropies_and_information(view.codes, y, view.n_classes)
    reason = "no categorical columns"
    for prefix, value in summaries(entropies, reason=reason).items():
        yield f"{prefix}AttributeEntropy", value
    for prefix, value in summaries(shared, reason=reason).items():
        yield f"{prefix}MutualInformation", value
    if not shared.size:
        yield "EquivalentNumberOfAtts", reason
        yield "MeanNoiseToSignalRatio", reason
        return
    mean_shared = float(shared.mean())
    if mean_shared > 0:
        yield "EquivalentNumberOfAtts", class_entropy / mean_shared
        yield "MeanNoiseToSignalRatio", (float(entropies.mean()) - mean_shared) / mean_shared
    else:
        yield "EquivalentNumberOfAtts", "no categorical column tells anything about the class"
        yield "MeanNoiseToSignalRatio", "no categorical column tells anything about the class"


def entropies_and_information(codes: Ints, y: Ints, n_classes: int) -> tuple[Floats, Floats]:
    """Of each column its entropy and the information it shares with the class, in bits.

    A missing value counts as the most frequent level. (OpenML's engine takes it for the first level that
    the ARFF header declares, which only that header could tell; this comes nearest.)
    """
    n_rows, n_columns = codes.shape
    width = max(1, _BLOCK_CELLS // max(1, n_rows))
    blocks = [codes[:, start : start + width] for start in range(0, n_columns, width)]
    pairs = [_block(block, y, n_classes) for block in blocks]
    if not pairs:
        return np.zeros(0), np.zeros(0)
    own, shared = zip(*pairs, strict=True)
    return np.concatenate(own), np.concatenate(shared)


def _block(codes: Ints, y: Ints, n_classes: int) -> tuple[Floats, Floats]:
    n_levels = codes.max(axis=0, initial=0) + 1
    level_starts = np.concatenate([[0], np.cumsum(n_levels)[:-1]]).astype(np.int64)
    known = codes >= 0
    cell = (level_starts + codes) * n_classes + y[:, None]
    joint = np.bincount(cell[known], minlength=int(n_levels.sum()) * n_classes).astype(np.float64)
    table = joint.reshape(-1, n_classes)
    for position in np.flatnonzero(~known.all(axis=0)):
        start = level_starts[position]
        usual = start + int(table[start : start + n_levels[position]].sum(axis=1).argmax())
        table[usual] += np.bincount(y[~known[:, position]], minlength=n_classes)
    own = segment_entropies(table.sum(axis=1), level_starts)
    both = segment_entropies(joint, level_starts * n_classes)
    classes = np.add.reduceat(table, level_starts, axis=0)
    of_class = segment_entropies(classes.ravel(), np.arange(len(classes)) * n_classes)
    # Independent columns share nothing; a rest from rounding would make the ratios explode.
    return own, np.maximum(np.round(own + of_class - both, 14), 0.0)


def segment_entropies(counts: Floats, starts: Ints) -> Floats:
    """Shannon entropy in bits of each segment of a row of counts; 0 for an empty one.

    >>> segment_entropies(np.array([2.0, 1.0, 1.0, 5.0, 5.0]), np.array([0, 3])).tolist()
    [1.5, 1.0]
    """
    totals = np.add.reduceat(counts, starts)
    logs = np.log2(np.where(counts > 0, counts, 1.0))
    spent = np.add.reduceat(counts * logs, starts) / np.maximum(totals, 1.0)
    bits: Floats = np.maximum(np.log2(np.maximum(totals, 1.0)) - spent, 0.0)
    return bits
