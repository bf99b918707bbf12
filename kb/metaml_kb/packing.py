"""Pack the scores of a run into single values for the database, and unpack them."""

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import repeat

import numpy as np

from metaml_kb.errors import BadRecord

Scores = Mapping[str, float | Sequence[float]]


@lru_cache(maxsize=256)
def _names_text(names: tuple[str, ...]) -> str:
    return json.dumps(names, ensure_ascii=False)


def _number(value: float) -> str:
    """Return the shortest exact text of a float; null if it is NaN or infinite, which JSON cannot express."""
    # A NumPy float is a subclass of float, but its repr is different.
    return float.__repr__(value) if math.isfinite(value) else "null"


def pack_scores(scores: Scores) -> tuple[str, str, bytes | None]:
    """Return the sorted names and the means of metrics as JSON arrays, and their values per fold (None if unknown).

    The mean is over the folds where a metric is defined; null if there are none. Raises `BadRecord` if the metrics have
    different numbers of folds.

    >>> pack_scores({"roc_auc": 0.75, "accuracy": 0.5})
    ('["accuracy", "roc_auc"]', '[0.5,0.75]', None)
    """
    names = tuple(sorted(scores))
    values = [scores[name] for name in names]
    if all(map(isinstance, values, repeat(float))):
        return _names_text(names), f"[{','.join(map(_number, values))}]", None  # type: ignore[arg-type]
    matrix = [np.atleast_1d(np.asarray(value, dtype="<f8")) for value in values]
    sizes = {name: row.size for name, row in zip(names, matrix, strict=True)}
    if len(set(sizes.values())) > 1:
        raise BadRecord(
            f"The metrics of a run have scores for {sizes} folds. Give each metric the same number of folds."
        )
    means = ",".join(_number(_mean_of_defined(row)) for row in matrix)
    has_folds = any(np.ndim(value) for value in values)
    return _names_text(names), f"[{means}]", np.stack(matrix).tobytes() if has_folds else None


def _mean_of_defined(row: np.ndarray) -> float:
    defined = row[~np.isnan(row)]
    return float(defined.mean()) if defined.size else math.nan


def unpack_folds(n_metrics: int, data: bytes | None) -> Sequence[np.ndarray | None]:
    """Return the values per fold of each metric; None for each metric if only the means are known."""
    if data is None:
        return [None] * n_metrics
    return list(np.frombuffer(data, dtype="<f8").reshape(n_metrics, -1))
