"""Are new rows like those that a model was trained on? The answer as a value, a table and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.data.arrow import as_pandas
from metaml.data.cells import category_text, words_of
from metaml.ensemble.thresholds import decide
from metaml.errors import BadDataset, BadRequest
from metaml.shift.comparison import ColumnShift, Separation, column_shifts, separation, share_shift, value_shift

if TYPE_CHECKING:
    import pandas as pd

    from metaml.model.fitted import Model
    from metaml.model.sample import Sample

LIMIT = 0.6
"""Area under the curve from which old and new rows can be told apart well enough to matter."""
CONFIDENCE = 2.0
"""Standard errors by which it must exceed the limit."""
FEWEST_ROWS = 20
MOST_NEW, MOST_LOST = 0.05, 0.5
"""Shares of cells with a new category, and of columns that are absent, beyond which rows differ by themselves."""
UNLIKELY, FAR = 0.001, 0.1
"""A column moved if that is so unlikely by chance and it moved so far."""
MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Check:
    """What a comparison of new rows with training rows found.

    `n_rows` were compared. `separation` says how well a classifier tells them apart, `columns` how far each moved. The
    classifier does not see the column of `--time`: later rows are later.
    `new_categories` has, for each raw column, the words that the training data did not have with their number of cells;
    `missing` are raw columns that are not there. `target` is how far the target moved if the rows have one, else how
    far the predictions did, which `is_target_known` tells. `reasons` are sentences; rows differ if there is one.

    >>> import metaml
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> result = metaml.tune(frame, iterations=1, algorithms="decision_tree", folds=2, kb=":memory:")
    >>> found = metaml.check(result.model, frame.assign(**{"petal width (cm)": frame["petal width (cm)"] + 9}))
    >>> found.differs, found.table()["column"][0]
    (True, 'petal width (cm)')
    >>> found.to_dict()["target"]["is_known"]
    True
    """

    n_rows: int
    separation: Separation
    columns: tuple[ColumnShift, ...]
    new_categories: Mapping[str, Mapping[str, int]]
    missing: tuple[str, ...]
    target: ColumnShift
    is_target_known: bool
    reasons: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Return whether the rows differ from the training rows."""
        return bool(self.reasons)

    def table(self) -> pd.DataFrame:
        """Return a row for each column: how far it moved, and its share in what tells the rows apart."""
        import pandas as pd

        rows = [
            {
                "column": shift.column,
                "distance": shift.distance,
                "chance": shift.chance,
                "share": self.separation.shares.get(shift.column, 0.0),
                "missing before": shift.missing[0],
                "missing now": shift.missing[1],
            }
            for shift in self.columns
        ]
        return pd.DataFrame(rows).sort_values("share", ascending=False, kind="stable", ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain JSON values."""
        return {
            "n_rows": self.n_rows,
            "differs": self.differs,
            "reasons": list(self.reasons),
            "auc": self.separation.auc,
            "auc_error": self.separation.error,
            "columns": self.table().to_dict(orient="records"),
            "new_categories": {name: dict(words) for name, words in self.new_categories.items()},
            "missing_columns": list(self.missing),
            "target": {
                "name": self.target.column,
                "is_known": self.is_target_known,
                "distance": self.target.distance,
                "chance": self.target.chance,
            },
        }


def check(model: Model, frame: pd.DataFrame, *, limit: float = LIMIT, seed: int = 0) -> Check:
    """Return whether the rows of a raw table are like the training rows of a model."""
    if not 0.5 <= limit < 1:
        raise BadRequest(f"The limit is an area under the curve from 0.5 to 1, not {limit:g}.")
    if model.sample is None:
        raise BadRequest(
            "The model was saved without training rows to compare with. Run metaml tune without --no-sample."
        )
    frame = as_pandas(frame)
    if len(frame) < FEWEST_ROWS:
        raise BadDataset(
            f"{len(frame)} rows are too few to compare with the training data. Give {FEWEST_ROWS} at least."
        )
    old = model.sample.frame(model.schema)
    read = model.schema.read(frame)
    compared = [name for name in read.X.columns if name not in _of_time(model)] or list(read.X.columns)
    apart = separation(old[compared], read.X[compared], seed=seed)
    moved = tuple(column_shifts(old, read.X))
    fresh = new_categories(model, frame)
    target, is_known = _target_shift(model, model.sample, frame, read.X)
    reasons = _reasons(apart, moved, fresh, read.missing, target, is_known, len(frame), limit)
    return Check(len(frame), apart, moved, fresh, read.missing, target, is_known, reasons)


def _of_time(model: Model) -> set[str]:
    """Return the features that were made from the column by which rows were split in time."""
    column = model.facts.get("time")
    return {name for feature in model.schema.features if feature.source == column for name in feature.outputs}


def new_categories(model: Model, frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return, for each raw column of categories, the words that the training data did not have, most frequent first."""
    names = model.schema.names_of(frame.columns)
    found: dict[str, dict[str, int]] = {}
    for feature in model.schema.features:
        if feature.how not in ("category", "ordinal") or feature.source not in names:
            continue
        words = words_of(frame.iloc[:, names.index(feature.source)])
        counts = words.counts()
        texts = [category_text(word) for word in words.words]
        fresh = {text: int(n) for text, n in zip(texts, counts, strict=False) if text not in feature.categories and n}
        if fresh:
            found[feature.source] = dict(sorted(fresh.items(), key=lambda item: (-item[1], item[0])))
    return found


def _target_shift(model: Model, sample: Sample, frame: pd.DataFrame, X: pd.DataFrame) -> tuple[ColumnShift, bool]:
    """Return how far the target moved, or the predictions if the rows have no target."""
    import pandas as pd

    name = model.schema.target
    names = model.schema.names_of(frame.columns)
    given = frame.iloc[:, names.index(name)] if name in names else None
    if given is not None and given.notna().any():
        if model.labels is None:
            values = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
            return ColumnShift(name, *value_shift(sample.target, values), (0.0, float(np.isnan(values).mean()))), True
        codes = pd.Index([str(label) for label in model.labels]).get_indexer(pd.Index(given.dropna().astype(str)))
        return ColumnShift(name, *share_shift(sample.target, codes), (0.0, float(given.isna().mean()))), True
    outputs = model.outputs(X)
    known = np.isfinite(sample.outputs).all(axis=1)
    if model.labels is None:
        before = sample.outputs[known, 0] if known.any() else sample.target
        return ColumnShift(name, *value_shift(before, outputs), (0.0, 0.0)), False
    factors = None if model.multipliers is None else np.array(model.multipliers)
    codes_before = decide(sample.outputs[known], factors) if known.any() else sample.target
    return ColumnShift(name, *share_shift(codes_before, model.decided(outputs)), (0.0, 0.0)), False


def _reasons(
    apart: Separation,
    moved: tuple[ColumnShift, ...],
    fresh: Mapping[str, Mapping[str, int]],
    missing: tuple[str, ...],
    target: ColumnShift,
    is_known: bool,
    n_rows: int,
    limit: float,
) -> tuple[str, ...]:
    """Return in sentences why the rows differ; none if they do not."""
    reasons = []
    if apart.auc - CONFIDENCE * apart.error > limit:
        strongest = sorted(apart.shares.items(), key=lambda item: -item[1])[:3]
        by = ", ".join(f"{name} ({share:.0%})" for name, share in strongest if share >= 0.01)
        score = f"AUC {apart.auc:.3f} ± {apart.error:.3f}"
        reasons.append(f"A classifier tells these rows from the training rows ({score}), mostly by {by}.")
    if missing:
        reasons.append(f"Columns are missing: {_listed(list(missing))}.")
    for name, words in fresh.items():
        n_cells = sum(words.values())
        if n_cells > MOST_NEW * n_rows:
            shown = _listed([repr(word) for word in words])
            reasons.append(f"{name} has categories that the training data did not have, in {n_cells:,} cells: {shown}.")
    gaps = [shift.column for shift in moved if abs(shift.missing[1] - shift.missing[0]) > MOST_LOST]
    if gaps:
        reasons.append(f"Values are missing far more or less often than before in {_listed(gaps)}.")
    if target.chance < UNLIKELY and target.distance > FAR:
        what = f"The target {target.column}" if is_known else f"What the model predicts for {target.column}"
        reasons.append(f"{what} is distributed differently (distance {target.distance:.2f}).")
    return tuple(reasons)


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
