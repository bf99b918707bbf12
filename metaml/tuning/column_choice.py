"""A data set with only its most useful columns, for a model whose number of columns is limited."""

from dataclasses import replace

import numpy as np

from metaml.data import Dataset
from metaml.data.columns import Repair
from metaml.data.fingerprint import fingerprint
from metaml.evaluation.best_columns import only_columns, sources_of, worth_of_columns


def with_best_columns(dataset: Dataset, n: int, *, seed: int = 0) -> Dataset:
    """Return the data set with its `n` most useful raw columns; the others are listed as left out.

    A boosted model is fitted, and its score falls more or less as a column is shuffled on rows that it has not seen. Of
    those to leave out, the less useful half goes. Then the rest is judged anew: one of two similar columns gains when
    the other is gone.
    """
    sources = sources_of(dataset)
    rng = np.random.default_rng(seed)
    kept = sources
    while len(kept) > n:
        worth = worth_of_columns(only_columns(dataset, kept), rng)
        n_gone = -(-(len(kept) - n) // 2)
        gone = set(sorted(kept, key=lambda name: worth[name])[:n_gone])
        kept = [name for name in kept if name not in gone]
    if kept == sources:
        return dataset
    why = f"not among the {n} most useful columns"
    repairs = tuple(Repair(name, "left out", why) for name in sources if name not in kept)
    reduced = only_columns(dataset, kept)
    return replace(
        reduced,
        repairs=(*dataset.repairs, *repairs),
        ignored=(*dataset.ignored, *(repair.column or "" for repair in repairs)),
        fingerprint=fingerprint(reduced.X, dataset.y, dataset.labels, dataset.target, dataset.roles),
    )
