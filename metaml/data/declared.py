"""What a user declares about features: which columns are used, what they are, and which may only push one way.

A declared column is used as declared, whatever it looks like: cells that do not fit are missing, and a repair says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaml.data.cells import category_text, floats_of, holds_floats, is_absent, numbers_of, without_extremes, words_of
from metaml.data.columns import Column, Repair, with_noun
from metaml.data.kinds import InspectedColumn
from metaml.data.options import ColumnOptions
from metaml.data.schema import Feature
from metaml.data.target import find_column
from metaml.data.task import Task
from metaml.errors import BadDataset, BadRequest

KINDS = ("categorical", "numeric", "ordinal")
FEWEST_LEVELS = 2
ONE_WAY: tuple[str, ...] = ("number", "boolean", "presence", "ordinal")
"""How a column may become a feature that a prediction can rise or fall with."""


def check_declared(names: list[str], options: ColumnOptions, target: str, file_name: str) -> ColumnOptions:
    """Return the options with the names as the table has them; raise an error for what it has not, or that clashes."""
    found = {
        role: _found(names, getattr(options, role), role, target, file_name)
        for role in ("columns", "categorical", "numeric", "increasing", "decreasing")
    }
    ordinal = tuple(_ordinal(names, name, levels, file_name) for name, levels in options.ordinal)
    kinds = {"categorical": found["categorical"], "numeric": found["numeric"], "ordinal": [name for name, _ in ordinal]}
    _check_apart(kinds, "is either of these")
    _check_apart({role: found[role] for role in ("increasing", "decreasing")}, "can do only one of these")
    if found["columns"]:
        told = [name for group in (*kinds.values(), found["increasing"], found["decreasing"]) for name in group]
        for name in told:
            if name not in (*found["columns"], target):
                raise BadRequest(f"The column {name!r} is not among --columns. Add it there, or say nothing of it.")
    named: dict[str, Any] = {role: tuple(given) for role, given in found.items()}
    return replace(options, ordinal=ordinal, **named)


def _found(names: list[str], given: Sequence[str], role: str, target: str, file_name: str) -> list[str]:
    """Return the columns in texts that hold one name, or several with commas between them."""
    words: list[str] = []
    for text in given:
        words += [text] if text.strip() in names else [word for word in text.split(",") if word.strip()]
    columns = [find_column(names, word, file_name, f"Choose with --{role}.") for word in words]
    if target in columns:
        raise BadRequest(f"The column {target!r} is the target, so it is no feature. Leave it out of --{role}.")
    return list(dict.fromkeys(columns))


def _ordinal(names: list[str], name: str, levels: tuple[str, ...], file_name: str) -> tuple[str, tuple[str, ...]]:
    """Return a column and its levels; a name or a level may itself contain a colon."""
    text = f"{name}:{'<'.join(levels)}"
    colons = [place for place, letter in enumerate(text) if letter == ":" and text[:place].strip() in names]
    if name not in names and colons:
        name, levels = text[: colons[0]], tuple(text[colons[0] + 1 :].split("<"))
    column = find_column(names, name, file_name, "Choose with --ordinal.")
    words = tuple(category_text(level.strip()) for level in levels)
    if len(set(words)) < max(len(words), FEWEST_LEVELS) or "" in words:
        raise BadRequest(
            f"The levels of {column!r} are {', '.join(map(repr, words))}. Give two or more different ones, "
            f"lowest first: --ordinal '{column}:low<high'."
        )
    return column, words


def _check_apart(groups: dict[str, list[str]], rule: str) -> None:
    seen: dict[str, str] = {}
    for role, columns in groups.items():
        for name in columns:
            if name in seen:
                raise BadRequest(f"The column {name!r} is named by --{seen[name]} and --{role}, but it {rule}.")
            seen[name] = role


def wanted_columns(
    names: Sequence[str], others: Collection[str], options: ColumnOptions
) -> tuple[list[str], tuple[Repair, ...]]:
    """Return the columns that may be features, none of `others` among them, and what is said of the rest."""
    candidates, named = [name for name in names if name not in others], set(options.columns)
    if not named:
        return candidates, ()
    left_out = [name for name in candidates if name not in named]
    first = ", ".join(left_out[:3]) + (" …" if len(left_out) > 3 else "")
    what = f"{with_noun(len(left_out), 'column')} left out: {first}"
    told = (Repair(None, what, "not among the columns asked for"),) if left_out else ()
    return [name for name in candidates if name in named], told


def declared_finding(options: ColumnOptions, name: str) -> Callable[[pd.Series], InspectedColumn] | None:
    """Return what inspects a column whose kind was declared; None if nothing was said of it."""
    levels = dict(options.ordinal).get(name)
    if levels is not None:
        return lambda column: _as_ordinal(column, name, levels)
    if name in options.categorical:
        return lambda column: _as_category(column, name)
    return (lambda column: _as_number(column, name)) if name in options.numeric else None


def _as_category(column: pd.Series, name: str) -> InspectedColumn:
    levels = tuple(sorted({category_text(word) for word in words_of(column).words}))
    _check_varies(name, len(levels), "category")
    why = f"declared as categorical, with {with_noun(len(levels), 'level')}"
    told = (Repair(name, "read as a category", why),)
    return InspectedColumn(Column(name, "category"), Feature(name, "category", (name,), levels), told)


def _as_number(column: pd.Series, name: str) -> InspectedColumn:
    if holds_floats(column):
        values, n_lost = without_extremes(floats_of(column)), 0
    else:
        words = words_of(column)
        read = without_extremes(numbers_of(words.words))
        is_word = np.array([not is_absent(word) for word in words.words], dtype=bool) & np.isnan(read)
        values, n_lost = words.take(read), int(words.counts()[is_word].sum())
    _check_varies(name, len(np.unique(values[~np.isnan(values)])), "number")
    lost = (Repair(name, f"{with_noun(n_lost, 'cell')} made missing", "no number, but declared as numeric"),)
    return InspectedColumn(
        Column(name, "numeric"), Feature(name, "number", (name,)), lost if n_lost else (_as_said(name, "numeric"),)
    )


def _as_said(name: str, kind: str) -> Repair:
    return Repair(name, "read as a number", f"declared as {kind}")


def _as_ordinal(column: pd.Series, name: str, levels: tuple[str, ...]) -> InspectedColumn:
    words = words_of(column)
    is_other = np.array([category_text(word) not in levels for word in words.words], dtype=bool)
    counts = words.counts()
    seen = {category_text(word) for word in words.words} & set(levels)
    _check_varies(name, len(seen), f"level {' < '.join(levels)}")
    told = [Repair(name, f"read as a number, 0 to {len(levels) - 1}", f"declared as ordinal: {' < '.join(levels)}")]
    if is_other.any():
        strange = [word for word, other in zip(words.words, is_other, strict=True) if other]
        examples = ", ".join(map(repr, strange[:3])) + (" …" if len(strange) > 3 else "")
        n_cells = with_noun(int(counts[is_other].sum()), "cell")
        told.append(Repair(name, f"{n_cells} made missing: {examples}", "not among the levels that were declared"))
    return InspectedColumn(Column(name, "numeric"), Feature(name, "ordinal", (name,), levels), tuple(told))


def _check_varies(name: str, n_values: int, what: str) -> None:
    if n_values < 2:
        raise BadDataset(
            f"The column {name!r} has {n_values or 'no'} different {what}{'' if n_values == 1 else 's'}, so nothing "
            f"can be learnt from it. Leave it out of {' or '.join(f'--{kind}' for kind in KINDS)}."
        )


def check_directions(options: ColumnOptions, features: Sequence[Feature], task: Task) -> None:
    """Raise an error if a prediction cannot rise or fall with a constrained column."""
    if not options.directions:
        return
    if task == "multiclass":
        raise BadRequest(
            "Among three or more classes no single probability could rise, so --increasing and --decreasing are for "
            "two classes or a number. Leave them out, or predict one class against the rest."
        )
    how = {feature.source: feature.how for feature in features}
    for name in options.directions:
        if name not in how:
            raise BadRequest(
                f"The column {name!r} is no feature, so no prediction can rise or fall with it. Leave it out of "
                "--increasing and --decreasing, or declare it as --numeric."
            )
        if how[name] not in ONE_WAY:
            what = "dates" if how[name] == "date" else "categories without an order"
            raise BadRequest(
                f"The column {name!r} holds {what}, so no prediction can rise or fall with it. "
                f"Declare its order with --ordinal '{name}:low<middle<high', or leave it out."
            )
