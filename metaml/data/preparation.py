"""From a raw table to a `Dataset`: target, rows, columns, in that order, with every repair listed."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.data.columns import Column, Repair
from metaml.data.content import NO_LIMITS, ReadingLimits
from metaml.data.dataset import Dataset
from metaml.data.declared import check_declared, check_directions, declared_finding, wanted_columns
from metaml.data.fingerprint import fingerprint
from metaml.data.kinds import InspectedColumn, inspect_columns, numbers_rows
from metaml.data.leaks import leak_warning
from metaml.data.names import free_name, is_unnamed, names_an_index, usable_names
from metaml.data.options import NO_OPTIONS, ColumnOptions
from metaml.data.raw import RawTable
from metaml.data.reading import read_table, table_name
from metaml.data.roles import check_roles, no_features, read_roles
from metaml.data.schema import Feature, Schema
from metaml.data.split_hints import split_hints
from metaml.data.target import Target, find_column, find_target, ordered, read_target
from metaml.errors import BadDataset

FEWEST_ROWS = 5


def read_dataset(
    path: str | Path,
    target: str | None = None,
    task: str | None = None,
    name: str | None = None,
    limits: ReadingLimits = NO_LIMITS,
    ignore: Collection[str] = (),
    options: ColumnOptions = NO_OPTIONS,
) -> Dataset:
    """Return the data set in a csv, parquet or ARFF file or pipe; other parameters are as in `from_frame`."""
    table = read_table(path, limits=limits)
    limits.check_columns(len(table.frame.columns), Path(path).name)
    return _prepare(table, target, task, name or table_name(path), ignore, options)


def from_frame(
    frame: pd.DataFrame,
    target: str | None = None,
    task: str | None = None,
    name: str = "data",
    ignore: Collection[str] = (),
    options: ColumnOptions = NO_OPTIONS,
) -> Dataset:
    """Return the data set in a frame.

    `target` is the name of a column. By default it is the last one, and `target_was_guessed` is True. `task` is
    "binary", "multiclass" or "regression"; by default the target's values decide (see `metaml.data.task`).
    `ignore` names columns to leave out, `options` say what others are for.
    """
    return _prepare(RawTable(frame), target, task, name, ignore, options)


def _prepare(
    table: RawTable, target: str | None, task: str | None, name: str, ignore: Collection[str], options: ColumnOptions
) -> Dataset:
    raw_names = list(table.frame.columns)
    if not raw_names or len(table.frame) == 0:
        raise BadDataset(
            f"{name} has {len(table.frame)} rows and {len(raw_names)} columns. Give a table with data in it."
        )
    names, renamed = usable_names(raw_names)
    frame = table.frame.set_axis(names, axis=1)
    unnamed = {new for new, old in zip(names, raw_names, strict=True) if is_unnamed(old)}
    target_name = find_target(frame, target, name, unnamed=unnamed)
    ignored = _ignored(names, target_name, ignore, name)
    options = check_declared(names, check_roles(frame, options, target_name, name), target_name, name)
    roles, usable, told = read_roles(frame, options)
    # Codes such as 007 keep their zeros as labels, but become numbers as features.
    labelled = table.codes.get(names.index(target_name), frame[target_name])
    learnt = read_target(labelled if len(usable) == len(frame) else labelled.iloc[usable], target_name, task)
    levels = dict(options.ordinal).get(target_name)
    learnt = ordered(learnt, levels)
    rows = usable[learnt.rows]
    if len(rows) < FEWEST_ROWS:
        raise BadDataset(
            f"{name} has {len(rows)} usable rows of {len(frame)}, but {FEWEST_ROWS} are needed. Give more rows."
        )

    roles = roles.only(learnt.rows).with_settled_weights()
    kept = frame if len(rows) == len(frame) else frame.iloc[rows]
    wanted, left_out = wanted_columns(names, {target_name, *no_features(options)}, options)
    findings = [
        _left_out(finding) if finding.column.name in ignored else finding
        for finding in _findings(frame, kept, wanted, unnamed, options)
    ]
    features = _distinctly_named([finding.feature for finding in findings if finding.feature is not None])
    made = [repair for finding in findings for repair in finding.repairs]
    repairs = (*table.repairs, *renamed, *told, *learnt.repairs, *left_out, *made)
    if not features:
        raise _without_features(name, repairs)
    check_directions(options, features, learnt.task)

    schema = _schema(features, learnt, table, names)
    X = schema.apply(kept)
    warning = leak_warning(X, learnt.y, schema)
    return Dataset(
        name=name,
        X=X,
        y=learnt.y,
        target=target_name,
        task=learnt.task,
        labels=learnt.labels,
        columns=tuple(finding.column for finding in findings),
        repairs=repairs,
        fingerprint=fingerprint(X, learnt.y, learnt.labels, target_name, roles, has_order=levels is not None),
        schema=schema,
        rows=rows,
        target_was_guessed=target is None,
        ignored=ignored,
        warnings=(warning,) if warning else (),
        roles=roles,
        hints=split_hints(kept, [finding.column for finding in findings], options),
    )


def _without_features(name: str, repairs: Sequence[Repair]) -> BadDataset:
    reasons = "; ".join(str(repair) for repair in repairs[-3:]) or "the target is its only column"
    return BadDataset(f"{name} has no usable feature: {reasons}. Give a table with columns that vary and repeat.")


def _ignored(names: list[str], target: str, ignore: Collection[str], file_name: str) -> tuple[str, ...]:
    ignored = tuple(find_column(names, wanted, file_name, "Leave out one with --ignore.") for wanted in ignore)
    if target in ignored:
        raise BadDataset(f"{target!r} is the target, so it cannot be left out. Choose another with --target.")
    return ignored


def _findings(
    frame: pd.DataFrame, kept: pd.DataFrame, candidates: list[str], unnamed: set[str], options: ColumnOptions
) -> list[InspectedColumn]:
    declared = {name: inspect for name in candidates if (inspect := declared_finding(options, name))}
    # A row number is recognised before rows are dropped, as dropping leaves gaps in it.
    likely = [name for name in candidates if name not in declared and names_an_index(name, was_empty=name in unnamed)]
    counters = {name for name in likely if numbers_rows(frame[name])}
    found = inspect_columns(kept, [name for name in candidates if name not in counters and name not in declared])
    return [
        declared[name](kept[name]) if name in declared else _row_number(name) if name in counters else next(found)
        for name in candidates
    ]


def _left_out(finding: InspectedColumn) -> InspectedColumn:
    return replace(finding, feature=None, repairs=(Repair(finding.column.name, "left out", "as asked for"),))


def _row_number(name: str) -> InspectedColumn:
    return InspectedColumn(Column(name, "text"), None, (Repair(name, "dropped", "it numbers the rows"),))


def _distinctly_named(features: list[Feature]) -> tuple[Feature, ...]:
    """Return the features with the columns made from dates renamed where a raw column has that name."""
    taken = {feature.source for feature in features}
    named = []
    for feature in features:
        if feature.how == "date":
            outputs = []
            for output in feature.outputs:
                outputs.append(free_name(output, taken))
                taken.add(outputs[-1])
            feature = replace(feature, outputs=tuple(outputs))
        named.append(feature)
    return tuple(named)


def _schema(features: tuple[Feature, ...], target: Target, table: RawTable, names: list[str]) -> Schema:
    labels = target.labels
    return Schema(
        features,
        target.name,
        target.task,
        labels=None if labels is None else tuple(labels.tolist()),
        label_dtype=None if labels is None else str(np.dtype(labels.dtype)),
        n_columns=None if table.has_header else len(names),
        decimal_commas=tuple(names[place] for place in table.decimal_commas),
    )
