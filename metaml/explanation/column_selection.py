"""Which columns of a table matter for its target: by probing or by stability selection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from metaml.algorithms.componentwise.losses import loss_of
from metaml.algorithms.componentwise.selection import (
    EXPECTED_ERRORS,
    THRESHOLD,
    Probed,
    Rows,
    probe,
    stability,
)
from metaml.algorithms.preprocessing import Head
from metaml.arrays import Array, Floats, Positions
from metaml.data import Dataset
from metaml.data.given import dataset_in
from metaml.errors import BadRequest

By = Literal["probing", "stability"]
Effects = Literal["curves", "lines"]
PROBED = "Boosting stopped where the shuffled copy of a column would have helped more than any column."
STABLE = (
    "Each of {} half samples selected up to {} of {} columns. "
    "Among those that {:.0%} of the samples selected, at most {:.2g} irrelevant ones are expected."
)


def columns(
    data: str | Path | pd.DataFrame,
    target: str | None = None,
    *,
    by: By = "probing",
    task: str | None = None,
    ignore: str | Iterable[str] = (),
    effects: Effects = "curves",
    threshold: float = THRESHOLD,
    expected_errors: float = EXPECTED_ERRORS,
    seed: int = 0,
) -> pd.DataFrame:
    """Return which columns matter for the target: a row for each, the selected ones first.

    `data` is a csv, parquet or ARFF file or a frame, `target` a column, by default the last one, `task` binary,
    multiclass or regression, by default found out. `ignore` names columns to leave out. Columns are selected by
    boosting `effects` of single columns, "curves" or "lines"; `seed` decides how rows are shuffled or drawn.

    `by` "probing" boosts once and stops when a shuffled copy of a column would be selected. The table has `column`,
    `selected`, `first_round` (when it was selected first) and `share` (of what the selected columns took off the loss).

    `by` "stability" boosts 100 half samples and selects what `threshold` (a share above 0.5) of them select. At most
    `expected_errors` irrelevant columns are expected among these. The table has `column`, `selected` and `frequency`.

    Raises `BadDataset` for data that cannot be used and `BadRequest` for other values.

    >>> frame = pd.DataFrame({"noise": [1, 5, 2, 4, 3] * 20, "size": range(100), "price": range(0, 300, 3)})
    >>> table = columns(frame, "price")
    >>> table.loc[table["selected"], "column"].tolist()
    ['size']
    """
    found = select_columns(
        dataset_in(data, target, task, ignore=ignore),
        by=by,
        effects=effects,
        threshold=threshold,
        expected_errors=expected_errors,
        seed=seed,
    )
    return found.table


@dataclass(frozen=True, eq=False)
class SelectedColumns:
    """A table as `columns` returns it, and a sentence on what it means."""

    table: pd.DataFrame
    note: str


def select_columns(
    dataset: Dataset, *, by: str, effects: str, threshold: float, expected_errors: float, seed: int
) -> SelectedColumns:
    """Return which columns of a data set matter."""
    _check(by, effects, threshold, expected_errors)
    n_classes = None if dataset.task == "regression" else int(dataset.y.max()) + 1
    y = _standardised(dataset.y) if n_classes is None else dataset.y
    head = Head(encoding="native", precision="float64", seed=seed)
    Z, loss = head.fit_transform(dataset.X, y, n_classes), loss_of(n_classes)
    rows = Rows(Z, head.categorical_, np.ones(len(y)), loss.target(y))
    # One column may have become several, and one without any value none.
    sources = np.array([str(name) for name in head.sources()])
    names = [str(name) for name in dataset.X.columns]
    rng, curves = np.random.default_rng(seed), effects == "curves"
    if by == "probing":
        probed = probe(rows, loss, rng, curves=curves)
        return SelectedColumns(_probed_table(probed, names, sources), PROBED)
    found = stability(rows, loss, rng, curves=curves, threshold=threshold, expected_errors=expected_errors)
    frequency = [float(found.frequency[0, sources == name].max(initial=0.0)) for name in names]
    table = pd.DataFrame(
        {"column": names, "selected": [share >= threshold for share in frequency], "frequency": frequency}
    )
    note = STABLE.format(2 * found.n_pairs, found.n_per_sample, found.frequency.size, threshold, found.expected_errors)
    return SelectedColumns(_in_order(table, "frequency"), note)


def _probed_table(probed: Probed, names: list[str], sources: Array) -> pd.DataFrame:
    first = [_first(probed.first[sources == name]) for name in names]
    gain = np.array([probed.gain[sources == name].sum() for name in names])
    table = pd.DataFrame(
        {
            "column": names,
            "selected": [found is not None for found in first],
            "first_round": pd.array(first, dtype="Int64"),
            "share": gain / max(gain.sum(), 1e-300),
        }
    )
    return _in_order(table, "share")


def _check(by: str, effects: str, threshold: float, expected_errors: float) -> None:
    """Raise BadRequest for a value that means nothing."""
    if by not in ("probing", "stability"):
        raise BadRequest(f"Columns cannot be selected by {by!r}. Choose probing or stability.")
    if effects not in ("curves", "lines"):
        raise BadRequest(f"There are no effects {effects!r}. Choose curves or lines.")
    if not 0.55 <= threshold <= 1:
        raise BadRequest(f"The threshold is {threshold:g}, but must be between 0.55 and 1: a share of the samples.")
    if not expected_errors > 0:
        raise BadRequest(f"{expected_errors:g} errors cannot be expected. Give a number above 0, such as 1.")


def _first(rounds: Positions) -> int | None:
    found = rounds[rounds > 0]
    return int(found.min()) if len(found) else None


def _standardised(y: Floats) -> Floats:
    unit = float(np.abs(y).max()) or 1.0
    scaled = y / unit
    return np.asarray((scaled - scaled.mean()) / (scaled.std() or 1.0))


def _in_order(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the selected columns first, each part by what speaks for them, else in the order of the table."""
    return table.sort_values(["selected", by], ascending=False, kind="stable", ignore_index=True)
