"""The target: which column, which task, which rows can be used, and its labels in their original type."""

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.cells import (
    LARGEST,
    WordColumn,
    category_text,
    floats_of,
    holds_floats,
    is_absent,
    numbers_of,
    text_of,
    without_extremes,
    words_of,
)
from metaml.data.columns import Repair, with_noun
from metaml.data.dates import ENOUGH
from metaml.data.names import first_names
from metaml.data.task import FEW, TASKS, Task, task_of_numbers
from metaml.errors import BadDataset, BadRequest


@dataclass(frozen=True, eq=False)
class Target:
    """A target that can be learnt: the positions of its usable rows, and `y` and `labels` as in `Dataset`."""

    name: str
    task: Task
    rows: npt.NDArray[np.intp]
    y: Array
    labels: Array | None
    repairs: tuple[Repair, ...]


def find_target(frame: pd.DataFrame, wanted: object, file_name: str, *, unnamed: Collection[str] = ()) -> str:
    """Return the name of the target column: the wanted one, else the last.

    An empty last column without a name comes from a trailing separator and is skipped.
    """
    names = [str(name) for name in frame.columns]
    if wanted is None:
        real = (name for name in reversed(names) if name not in unnamed or frame[name].notna().any())
        return next(real, names[-1])
    return find_column(names, wanted, file_name, "Choose one with --target.")


def find_column(names: list[str], wanted: object, file_name: str, what_to_do: str) -> str:
    """Return the name of the wanted column. Raises `BadDataset` that ends with `what_to_do` if there is none."""
    if str(wanted).strip() in names:
        return str(wanted).strip()
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(wanted).lower(), lower, n=2)
    hint = f" Did you mean {' or '.join(repr(lower[name]) for name in close)}?" if close else ""
    raise BadDataset(f"{file_name} has no column {str(wanted)!r}. Columns: {first_names(names)}.{hint} {what_to_do}")


def read_target(column: pd.Series, name: str, asked: str | None) -> Target:
    """Return the target in its raw column, for the task asked for or, if None, the one its values tell."""
    if asked is not None and asked not in TASKS:
        raise BadDataset(f"There is no task {asked!r}. Choose --task {', '.join(TASKS[:-1])} or {TASKS[-1]}.")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        raise BadDataset(f"The target {name!r} holds dates, which metaml cannot predict. Choose another with --target.")
    is_declared = isinstance(column.dtype, pd.CategoricalDtype)
    column = _unboxed(column)
    if holds_floats(column) and not pd.api.types.is_bool_dtype(column.dtype):
        return _read_numbers(column, name, asked, is_declared=is_declared)
    return _read_words(column, name, asked, is_declared=is_declared)


def ordered(target: Target, levels: Sequence[str] | None) -> Target:
    """Return a target whose classes are in the order of these levels, lowest first; the same one if there are none."""
    if levels is None:
        return target
    if target.labels is None:
        raise BadRequest(f"The target {target.name!r} is a number, and has an order. Leave it out of --ordinal.")
    words = [category_text(text_of(label)) for label in target.labels.tolist()]
    for word in words:
        if word not in levels:
            raise BadDataset(
                f"The target {target.name!r} has the class {word!r}, which is not among its levels "
                f"{' < '.join(levels)}. Add it to --ordinal."
            )
    order = np.array(sorted(range(len(words)), key=lambda code: levels.index(words[code])))
    told = Repair(target.name, "classes put in order", f"declared as ordinal: {' < '.join(levels)}")
    y = np.argsort(order)[target.y]
    return replace(target, y=y.astype(np.int64), labels=target.labels[order], repairs=(*target.repairs, told))


def _unboxed(column: pd.Series) -> pd.Series:
    """Return a category or object column as numbers, if that is what its values are stored as."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype != object:
        return column
    inside = pd.api.types.infer_dtype(column, skipna=True)
    is_number = inside in ("integer", "floating", "mixed-integer-float", "decimal")
    return pd.to_numeric(column) if is_number else column


def _read_numbers(column: pd.Series, name: str, asked: str | None, *, is_declared: bool) -> Target:
    values = floats_of(column)
    kept = without_extremes(values)
    rows = np.flatnonzero(~np.isnan(kept))
    n_missing = int(np.isnan(values).sum())
    repairs = _lost_rows(name, n_missing, "the target is missing")
    repairs += _lost_rows(name, len(values) - n_missing - len(rows), "the target is infinite or beyond ±1e300")
    _require_values(name, len(values) - n_missing)
    if not len(rows):
        raise _beyond_range(name)
    if asked == "regression" or (asked is None and not is_declared and task_of_numbers(kept[rows]) == "regression"):
        return _regression(name, rows, kept[rows], repairs)
    distinct, codes = np.unique(_labels_in_rows(column, kept, rows), return_inverse=True)
    return _classification(name, rows, codes, distinct, asked, repairs)


def _labels_in_rows(column: pd.Series, values: Floats, rows: npt.NDArray[np.intp]) -> Array:
    """Return the labels in their original type.

    pandas stores integers with missing cells as floats; they become integers again. Integers are never converted to
    floats, because beyond 2**53 they would change.
    """
    if pd.api.types.is_integer_dtype(column.dtype):
        stored = column.dtype if isinstance(column.dtype, np.dtype) else np.dtype(np.int64)
        return column.iloc[rows].to_numpy(dtype=stored)
    labels = values[rows]
    were_integers = bool(column.isna().any() and np.all(labels == np.floor(labels)))
    return labels.astype(np.int64) if were_integers else labels


def _read_words(column: pd.Series, name: str, asked: str | None, *, is_declared: bool) -> Target:
    words = words_of(column)
    _require_values(name, len(words.words))
    numbers = numbers_of(words.words)
    values = words.take(without_extremes(numbers))
    if asked == "regression" and (np.isnan(numbers).all() or not _are_numbers(words, numbers)):
        examples = ", ".join(repr(word) for word in words.words[:3])
        raise BadDataset(
            f"The target {name!r} holds words ({examples}), so regression cannot be asked of it. "
            "Choose a numeric target with --target or leave out --task."
        )
    is_measured = asked is None and not is_declared and _are_numbers(words, numbers)
    if asked == "regression" or (is_measured and task_of_numbers(values[~np.isnan(values)]) == "regression"):
        rows = np.flatnonzero(~np.isnan(values))
        repairs = _lost_rows(name, int((words.codes < 0).sum()), "the target is missing")
        n_stray = int(((words.codes >= 0) & np.isnan(values)).sum())
        repairs += _lost_rows(name, n_stray, "the target is not a finite number")
        return _regression(name, rows, values[rows], repairs)
    rows = np.flatnonzero(words.codes >= 0)
    repairs = _lost_rows(name, len(words.codes) - len(rows), "the target is missing")
    order = np.argsort(np.array(words.words, dtype=object))
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    labels = np.array(words.words, dtype=object)[order]
    if _is_boolean_storage(column):
        labels = labels == "True"
    return _classification(name, rows, places[words.codes[rows]], labels, asked, repairs)


def _is_boolean_storage(column: pd.Series) -> bool:
    return pd.api.types.is_bool_dtype(column.dtype) or (
        column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "boolean"
    )


def _are_numbers(words: WordColumn, numbers: Floats) -> bool:
    """Return whether a target of words is numbers, apart from at most 5 % stray words among many numbers."""
    counts = words.counts()
    is_word = np.isnan(numbers)
    if not is_word.any():
        return True
    is_stray = is_word & ~np.array([is_absent(word) for word in words.words])
    n_numbers, n_stray = int(counts[~is_word].sum()), int(counts[is_stray].sum())
    return len(np.unique(numbers[~is_word])) > FEW and n_stray <= (1 - ENOUGH) * (n_numbers + n_stray)


def _lost_rows(name: str, n_rows: int, why: str) -> list[Repair]:
    return [Repair(name, f"{with_noun(n_rows, 'row')} dropped", why)] if n_rows else []


def _beyond_range(name: str) -> BadDataset:
    return BadDataset(
        f"The target {name!r} has no number that can be learnt: all of them are infinite or beyond ±{LARGEST:g}. "
        "Scale it down, or choose another with --target."
    )


def _require_values(name: str, n_values: int) -> None:
    if n_values == 0:
        raise BadDataset(
            f"The target {name!r} has no value at all: every cell is missing. Choose another with --target."
        )


def _regression(name: str, rows: npt.NDArray[np.intp], y: Floats, repairs: list[Repair]) -> Target:
    if not len(rows):
        raise _beyond_range(name)
    if y.min() == y.max():
        raise BadDataset(
            f"The target {name!r} has the same value in every row, so there is nothing to learn. "
            "Choose another with --target."
        )
    return Target(name, "regression", rows, y, None, tuple(repairs))


def _classification(
    name: str,
    rows: npt.NDArray[np.intp],
    codes: npt.NDArray[np.intp],
    labels: Array,
    asked: str | None,
    repairs: list[Repair],
) -> Target:
    counts = np.bincount(codes, minlength=len(labels))
    lonely = counts < 2
    if len(labels) > 1 and lonely.sum() > 0.5 * len(rows):
        raise BadDataset(
            f"The target {name!r} has {len(labels)} different labels in {len(rows)} rows, most of them "
            "once, so classes cannot be learnt. Choose another with --target, or --task regression if it is a number."
        )
    if lonely.any() and len(labels) > 1:
        named = ", ".join(repr(label) for label in labels[lonely].tolist()[:3])
        more = " ..." if lonely.sum() > 3 else ""
        why = f"a class with one member cannot be cross-validated: {named}{more}"
        repairs = [*repairs, Repair(name, f"{with_noun(int(lonely.sum()), 'row')} dropped", why)]
        places = np.cumsum(~lonely) - 1
        stays = ~lonely[codes]
        rows, codes, labels = rows[stays], places[codes[stays]], labels[~lonely]
    if len(labels) < 2:
        if not len(labels):
            raise BadDataset(f"The target {name!r} has no class with two members. Choose another with --target.")
        alone = (
            f" with more than one row ({with_noun(int(lonely.sum()), 'row')} of others dropped)" if lonely.any() else ""
        )
        raise BadDataset(
            f"The target {name!r} has only one class ({labels.tolist()[0]!r}){alone}, so there is nothing to learn. "
            "Choose another with --target."
        )
    if asked == "binary" and len(labels) > 2:
        raise BadDataset(f"The target {name!r} has {len(labels)} labels, not two. Choose --task multiclass or omit it.")
    if asked == "multiclass" and len(labels) == 2:
        repairs = [*repairs, Repair(name, "taken as binary, not multiclass", "it has two labels")]
    task: Task = "binary" if len(labels) == 2 else "multiclass"
    return Target(name, task, rows, codes.astype(np.int64), labels, tuple(repairs))
