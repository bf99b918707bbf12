"""Columns that alone nearly determine the target: often it was made from them, or they from it."""

import shlex

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.names import first_names
from metaml.data.schema import Schema

NEARLY = 0.98
"""A column is suspicious if it predicts this share of what the most frequent class, or the mean rank, gets wrong."""
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 4_000, 300, 2_000_000
"""How many rows are looked at: fewer in a wide table, so that reading stays quick."""
FEWEST_ERRORS = 8.0
"""With fewer rows to get wrong, a column may be right by chance."""

Codes = npt.NDArray[np.intp]


def leak_warning(X: pd.DataFrame, y: Array, schema: Schema) -> str:
    """Return a sentence about the columns that alone nearly determine the target; empty if there are none."""
    names = list(
        dict.fromkeys(_source(name, schema) for name in suspicious_columns(X, y, is_classes=schema.labels is not None))
    )
    if not names:
        return ""
    which = (
        f"The column {names[0]!r} alone nearly determines"
        if len(names) == 1
        else f"Each of {len(names)} columns alone nearly determines"
    )
    listed = "" if len(names) == 1 else f" ({first_names(names)})"
    what = "it" if len(names) == 1 else "them"
    options = " ".join(f"--ignore {shlex.quote(name)}" for name in names[:2]) + (" ..." if len(names) > 2 else "")
    return (
        f"{which} {schema.target!r}{listed}. If {what} will not be known when you predict, the score is an illusion: "
        f"leave {what} out with {options}."
    )


def suspicious_columns(X: pd.DataFrame, y: Array, *, is_classes: bool) -> list[str]:
    """Return the columns from each of which at least 98 % of the errors of a constant prediction can be avoided.

    A sample of the rows is cut in two. The value of a row is looked up among those of the other half: its prediction is
    that of the nearest value there, the most frequent class or the mean of the target's ranks.

    >>> X = pd.DataFrame({"leak": np.arange(200) % 2 + 5.0, "noise": np.arange(200) * 7 % 31 + 0.0})
    >>> suspicious_columns(X, np.arange(200) % 2, is_classes=True)
    ['leak']
    """
    n_rows = min(len(y), MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // max(X.shape[1], 1)))
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    if is_classes:
        _, target = np.unique(y[rows], return_inverse=True)
    else:
        target = np.unique(y[rows], return_inverse=True)[1].astype(np.float64)
    worst = _errors_of_constant(target, is_classes=is_classes)
    if worst < (FEWEST_ERRORS if is_classes else 1e-12) or n_rows < 2 * FEWEST_ERRORS:
        return []
    sample = X.iloc[rows]
    halves = (slice(0, n_rows // 2), slice(n_rows // 2, n_rows))
    found = []
    for place, name in enumerate(X.columns):
        values = _numbers(sample.iloc[:, place])
        errors = 0.0
        for learnt, asked in (halves, halves[::-1]):
            predicted = _looked_up(values[learnt], target[learnt], values[asked], is_classes=is_classes)
            errors += _errors(predicted, target[asked], is_classes=is_classes)
            if errors > (1 - NEARLY) * worst:
                break
        else:
            found.append(str(name))
    return found


def _numbers(column: pd.Series) -> Floats:
    """Return a column as numbers that can be sorted; missing cells are a value of their own."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.float64)
    values: Floats = column.to_numpy(dtype=np.float64)
    return np.where(np.isnan(values), -np.inf, values)


def _looked_up(values: Floats, target: Array, asked: Floats, *, is_classes: bool) -> Array:
    """Return what the rows with the nearest known value say about each asked one."""
    known, groups = np.unique(values, return_inverse=True)
    above = np.searchsorted(known, asked).clip(0, len(known) - 1)
    below = (above - 1).clip(0)
    with np.errstate(invalid="ignore"):
        nearest = np.where(np.abs(asked - known[below]) < np.abs(known[above] - asked), below, above)
    if not is_classes:
        return (np.bincount(groups, weights=target) / np.bincount(groups))[nearest]
    n_classes = int(target.max()) + 1
    counts = np.bincount(groups * n_classes + target, minlength=len(known) * n_classes).reshape(len(known), n_classes)
    answers: Array = counts.argmax(axis=1)[nearest]
    return answers


def _errors(predicted: Array, truth: Array, *, is_classes: bool) -> float:
    return float((predicted != truth).sum() if is_classes else ((predicted - truth) ** 2).sum())


def _errors_of_constant(target: Array, *, is_classes: bool) -> float:
    best = float(np.bincount(target).argmax() if is_classes else target.mean())
    return _errors(np.full(len(target), best), target, is_classes=is_classes)


def _source(name: str, schema: Schema) -> str:
    """Return the raw column that a feature was made from."""
    return next((feature.source for feature in schema.features if name in feature.outputs), name)
