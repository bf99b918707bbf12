"""Interaction columns: a hyperparameter relative to the size of the data set, or to another hyperparameter.

Ten rows in a leaf are many out of fifty and few out of a million. A tree needs many splits to learn this from two
columns, and one split if the ratio is a column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.encoding import Encoder
from metaml.encoding.resolvers import plain_name

SIZES = {
    "rows": "NumberOfInstances",
    "columns": "NumberOfFeatures",
    "classes": "NumberOfClasses",
    "minority": "MinorityClassSize",
}
"""The sizes used in interactions, and the metafeature for each."""


@dataclass(frozen=True)
class DerivedColumn:
    """A column computed from hyperparameters and sizes: its name, its inputs and its formula."""

    name: str
    parameters: tuple[str, ...]
    sizes: tuple[str, ...]
    compute: Callable[..., Floats]


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms: Floats = np.where(values > 0, np.log(values), np.nan)
    return logarithms


def _log2(values: Floats) -> Floats:
    binary: Floats = _log(values) / np.log(2.0)
    return binary


NAMED: tuple[DerivedColumn, ...] = (
    DerivedColumn("max_features × columns", ("max_features",), ("columns",), lambda h, p: h * p),
    DerivedColumn(
        "log(max_features × columns) / log(columns)",
        ("max_features",),
        ("columns",),
        lambda h, p: _log(h * p) / np.maximum(_log(p), 1e-9),
    ),
    DerivedColumn("min_samples_leaf / rows", ("min_samples_leaf",), ("rows",), lambda h, n: h / n),
    DerivedColumn("min_samples_split / rows", ("min_samples_split",), ("rows",), lambda h, n: h / n),
    DerivedColumn("min_samples_leaf / minority class", ("min_samples_leaf",), ("minority",), lambda h, m: h / m),
    DerivedColumn(
        "log learning_rate + log n_estimators",
        ("learning_rate", "n_estimators"),
        (),
        lambda h, t: _log(h) + _log(t),
    ),
    DerivedColumn("max_depth - log2 rows", ("max_depth",), ("rows",), lambda h, n: h - _log2(n)),
    DerivedColumn(
        "max_depth + log2 n_estimators - log2 rows",
        ("max_depth", "n_estimators"),
        ("rows",),
        lambda h, t, n: h + _log2(t) - _log2(n),
    ),
    DerivedColumn("max_depth - log2 columns", ("max_depth",), ("columns",), lambda h, p: h - _log2(p)),
    DerivedColumn("max_depth - log2 classes", ("max_depth",), ("classes",), lambda h, c: h - _log2(c)),
    DerivedColumn("log gamma + log columns", ("gamma",), ("columns",), lambda h, p: _log(h) + _log(p)),
    DerivedColumn("log C + log gamma", ("C", "gamma"), (), lambda c, g: _log(c) + _log(g)),
    DerivedColumn(
        "log C + log gamma + log columns", ("C", "gamma"), ("columns",), lambda c, g, p: _log(c) + _log(g) + _log(p)
    ),
    DerivedColumn("log C + log rows", ("C",), ("rows",), lambda h, n: _log(h) + _log(n)),
)
"""Interactions that were found to help, by scikit-learn's names of the hyperparameters."""


def generic(name: str, *, is_log: bool, is_share: bool) -> tuple[DerivedColumn, ...]:
    """Return the interactions of a hyperparameter that has no named one.

    A log-scale hyperparameter is treated as an amount that grows or shrinks with the data, a number in [0, 1] as a
    share of the columns, and any other number as a count of rows or a depth.
    """
    if is_log:
        return (
            DerivedColumn(f"log {name} + log rows", (name,), ("rows",), lambda h, n: _log(h) + _log(n)),
            DerivedColumn(f"log {name} - log columns", (name,), ("columns",), lambda h, p: _log(h) - _log(p)),
        )
    if is_share:
        return (DerivedColumn(f"{name} × columns", (name,), ("columns",), lambda h, p: h * p),)
    return (
        DerivedColumn(f"{name} / rows", (name,), ("rows",), lambda h, n: h / n),
        DerivedColumn(f"{name} - log2 rows", (name,), ("rows",), lambda h, n: h - _log2(n)),
    )


def amounts(encoder: Encoder, rows: Floats) -> dict[str, Floats]:
    """Return the numeric hyperparameters of encoded rows, in their own unit, by full name."""
    found: dict[str, Floats] = {}
    column = 0
    for coding in encoder.codings_:
        if coding.has_numbers and coding.kind != "boolean" and 0 in coding.kept:
            numbers = rows[:, column]
            if encoder.unit:
                numbers = coding.low + coding.span * numbers
            found[coding.name] = np.exp(numbers) if coding.is_log else numbers
        column += len(coding.kept)
    return found


def interactions_for(encoder: Encoder) -> tuple[DerivedColumn, ...]:
    """Return the interactions that the hyperparameters of an encoder allow."""
    numeric = {
        coding.name: coding
        for coding in encoder.codings_
        if coding.has_numbers and coding.kind != "boolean" and 0 in coding.kept
    }
    plain = {plain_name(name): name for name in numeric}
    chosen = [item for item in NAMED if all(name in plain for name in item.parameters)]
    covered = {name for item in chosen for name in item.parameters}
    for short, name in plain.items():
        coding = numeric[name]
        if short not in covered:
            is_share = not coding.is_log and coding.low >= 0 and coding.low + coding.span <= 1.0
            chosen += generic(short, is_log=coding.is_log, is_share=is_share)
    return tuple(chosen)


def interaction_columns(
    interactions: Sequence[DerivedColumn], encoder: Encoder, rows: Floats, sizes: Mapping[str, Floats]
) -> Floats:
    """Return a column for each interaction; `sizes` gives `rows`, `columns`, `classes`, `minority` for each row."""
    values = {plain_name(name): column for name, column in amounts(encoder, rows).items()}
    columns = [
        item.compute(*(values[name] for name in item.parameters), *(sizes[name] for name in item.sizes))
        for item in interactions
    ]
    table = np.column_stack(columns) if columns else np.zeros((len(rows), 0))
    return np.where(np.isfinite(table), table, np.nan)
