"""The data sets that we and OpenML both have, with OpenML's stored qualities beside our own.

What OpenML stored was computed over years by several versions of one engine. Three of its habits are
visible in the table itself and decide what can be compared (nothing here looks at our own values):

- *Options lost.* In about half of the rows RandomTreeDepth1, 2 and 3 agree to the last digit, as do the
  three CfsSubsetEval landmarkers: from its second data set on, a process ran every Weka learner with its
  default options. Landmarkers with options are compared on the other rows; on these rows we run the
  default learners instead, to show that the explanation holds.
- *Carried over.* In some rows the moments of numeric columns repeat those of another data set: a process
  went on adding columns to the statistics of the data sets before. Such rows say nothing about moments.
- *Mixed scales and placeholders.* Percentages are fractions in some rows, -1 stands for "undefined" in
  others; `repair_openml` deals with both.

Our own reading drops constant columns and reads a column of one level and holes as "filled or not". Here
both are put back as they were, since OpenML counts them.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.data import Dataset, from_frame
from metaml.metafeatures import GROUPS, Description, describe
from metaml.metafeatures.landmarkers import FAMILIES, halves
from metaml.metafeatures.openml import repair_openml
from metaml.metafeatures.scores import error_rate, kappa, weighted_auc
from metaml.metafeatures.subset import columns_worth_keeping
from metaml.metafeatures.trees import (
    encode,
    encoders,
    grow,
    leaf_shares,
    node_counts,
    pessimistic_leaves,
    reduced_error_leaves,
)
from metaml.metafeatures.view import View, n_distinct_values, scaled, small_sample, view_of

# Nominal at OpenML although the values are numbers; missing from coded_categoricals.json. None = all columns.
NOMINAL_AT_OPENML: dict[str, list[str] | None] = {
    "mfeat-pixel": None,
    "PhishingWebsites": None,
    "electricity": ["day"],
}


@dataclass(frozen=True)
class Pair:
    """One data set here and at OpenML."""

    task_id: int
    name: str
    openml: dict[str, float]
    ours: Description
    as_if_options_lost: dict[str, float]
    options_lost: bool
    carried_over: bool
    same_columns: bool
    nominal_levels: list[int]


def read_pairs(shared: Path) -> list[Pair]:
    table = pd.read_csv(shared / "metadata/openml100-sklearn/metafeatures.csv", index_col="task_id")
    manifest = pd.read_csv(shared / "datasets/manifest.csv")
    coded = json.loads((shared / "datasets/coded_categoricals.json").read_text())
    moments = [name for name in table if name.endswith("OfNumericAtts")]
    repeated = table[moments].apply(lambda c: c.duplicated(keep=False) & c.notna() & (c != 0)).any(axis=1)
    depths = table[[f"RandomTreeDepth{depth}AUC" for depth in (1, 2, 3)]]
    lost = depths.eq(depths.iloc[:, 0], axis=0).all(axis=1)
    pairs = []
    for task_id, row in table.iterrows():
        found = match(row, manifest, shared, coded)
        if found is None:
            continue
        name, dataset = found
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = describe(dataset)
        view = view_of(dataset)
        same = all(
            row[quality] == ours.values[quality]
            for quality in ("NumberOfInstances", "NumberOfFeatures", "NumberOfNumericFeatures")
        )
        pairs.append(
            Pair(
                task_id=int(task_id),
                name=name,
                openml=repair_openml(row.to_dict()),
                ours=ours,
                as_if_options_lost=default_learners(view) if lost[task_id] else {},
                options_lost=bool(lost[task_id]),
                carried_over=bool(repeated[task_id]),
                same_columns=same,
                nominal_levels=n_distinct_values(view.codes).tolist() or [0],
            )
        )
        flags = " ".join(
            word
            for word, is_so in (
                ("options-lost", lost[task_id]),
                ("carried-over", repeated[task_id]),
                ("other-columns", not same),
            )
            if is_so
        )
        print(f"task {task_id:6d} {name:34s} {time.perf_counter() - start:5.1f} s  {flags}", flush=True)
    return pairs


def match(
    row: pd.Series, manifest: pd.DataFrame, shared: Path, coded: dict[str, list[str]]
) -> tuple[str, Dataset] | None:
    """The data set of the pack with this size, these classes and this order of rows."""
    majority = manifest.majority_pct * manifest.n_rows / 100
    candidates = manifest[
        ((manifest.n_rows - row.NumberOfInstances).abs() <= 1)
        & (manifest.n_classes == row.NumberOfClasses)
        & ((majority - row.MajorityClassSize).abs() <= 0.01 * row.NumberOfInstances)
        & ((manifest.n_features + 1 - row.NumberOfFeatures).abs() <= 4)
    ]
    for entry in candidates.itertuples():
        frame = pd.read_csv(shared / "datasets" / f"{entry.name}.csv.gz")
        labels = frame.iloc[:, -1]
        if abs(np.mean(labels.to_numpy()[1:] == labels.to_numpy()[:-1]) - row.AutoCorrelation) > 1e-3:
            continue
        nominal = NOMINAL_AT_OPENML.get(str(entry.name), coded.get(str(entry.name), []))
        for column in frame.columns[:-1] if nominal is None else nominal:
            levels = frame[column].map(lambda value: value if pd.isna(value) else f"level {value}")
            frame[column] = levels.astype("category")
        task = "binary" if row.NumberOfClasses == 2 else "multiclass"
        dataset = from_frame(frame, target=frame.columns[-1], task=task, name=str(entry.name))
        return str(entry.name), as_at_openml(dataset, frame)
    return None


def as_at_openml(dataset: Dataset, frame: pd.DataFrame) -> Dataset:
    """The data set with all columns of the file, as the file has them."""
    assert len(frame) == len(dataset.X)
    columns = {}
    for name, column in frame.iloc[:, :-1].items():
        if isinstance(column.dtype, pd.CategoricalDtype) or not pd.api.types.is_numeric_dtype(column):
            columns[name] = column.astype("str").where(column.notna()).astype("category")
        else:
            columns[name] = column.astype(np.float64)
    return replace(dataset, X=pd.DataFrame(columns), columns=())


def default_learners(view: View) -> dict[str, float]:
    """What J48, REPTree, RandomTree and CfsSubsetEval + J48 score with Weka's default options."""
    view = scaled(small_sample(view, GROUPS["landmarkers"].max_rows or view.n_rows, view.n_columns))
    parts: dict[str, list[np.ndarray]] = {"J48": [], "REPTree": [], "RandomTree": [], "CfsSubsetEval": []}
    truth = []
    for train, test in halves(view):
        truth.append(test.y.astype(np.int64))
        parts["J48"].append(default_j48(train, test))
        parts["REPTree"].append(default_reptree(train, test))
        parts["RandomTree"].append(default_random_tree(train, test))
        chosen = columns_worth_keeping(train)
        parts["CfsSubsetEval"].append(default_j48(train.keep(*chosen), test.keep(*chosen)))
    y = np.concatenate(truth)
    found = {}
    for names, _ in FAMILIES.values():
        for name in names:
            kind = next((kind for kind in parts if name.startswith(kind)), None)
            if kind:
                guess = np.vstack(parts[kind])
                found[f"{name}AUC"] = weighted_auc(guess, y)
                found[f"{name}ErrRate"] = error_rate(guess, y)
                found[f"{name}Kappa"] = kappa(guess, y)
    return found


def default_j48(train: View, test: View) -> np.ndarray:
    y = train.y.astype(np.int64)
    if not train.n_columns:
        return np.tile(np.bincount(y, minlength=train.n_classes) / y.size, (test.n_rows, 1))
    places = encoders(train)
    tree = grow(encode(train, places), y, train.n_classes, min_leaf=2)
    stands_for = tree.cut(pessimistic_leaves(tree, 0.25))
    return leaf_shares(tree, stands_for, tree.reach(encode(test, places)))


def default_reptree(train: View, test: View) -> np.ndarray:
    places, y = encoders(train), train.y.astype(np.int64)
    X = encode(train, places)
    growing = np.ones(y.size, dtype=bool)
    growing[np.argsort(y, kind="stable")[2::3]] = False
    tree = grow(X[growing], y[growing], train.n_classes, min_leaf=2)
    leaves = tree.reach(X)
    held_out = node_counts(tree, leaves[~growing], y[~growing])
    stands_for = tree.cut(reduced_error_leaves(tree, held_out, 10**6))
    return leaf_shares(tree, stands_for, tree.reach(encode(test, places)), node_counts(tree, leaves, y))


def default_random_tree(train: View, test: View) -> np.ndarray:
    places = encoders(train)
    n_features = min(train.n_columns, int(np.log2(train.n_columns)) + 1)
    tree = grow(encode(train, places), train.y.astype(np.int64), train.n_classes, min_leaf=1, max_features=n_features)
    return leaf_shares(tree, np.arange(tree.left.size), tree.reach(encode(test, places)))
