"""Check the file of a CatBoost model before CatBoost reads it: compiled code follows its numbers without a check.

The format is `CBM1`, the size of the core, the core, and the tables of category statistics. The core and each table are
FlatBuffers, described by model.fbs, features.fbs and ctr_data.fbs in CatBoost's source.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from metaml.arrays import Array

MOST_DEPTH, MOST_OUTPUTS = 16, 1_000_000
_VALUES_PER_BIN = 254
_WITH_CLASSES, _MEANS, _COUNTS = (0, 1), (2, 3), (4, 5)
"""The kinds of category statistics by what CatBoost keeps of a category: counts by class, a mean, or a count."""
_BUCKET = np.dtype([("hash", "<u8"), ("place", "<u4")])
_EMPTY = 2**64 - 1
_BIN = np.dtype([("feature", "<u2"), ("mask", "u1"), ("split", "u1")])
_STATISTICS_PART = b"static_provider_v1"
Key = tuple[bytes, bytes, bytes, int]


class _Table:
    """A table of a FlatBuffer; whatever is read lies inside it, or there is a ValueError."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self._place = content, place
        offsets = place - _number(content, place, "<i4")
        n_fields = max(0, _number(content, offsets, "<u2") // 2 - 2)
        self._fields = [_number(content, offsets + 4 + 2 * field, "<u2") for field in range(n_fields)]

    @classmethod
    def root(cls, content: bytes) -> _Table:
        return cls(content, _number(content, 0, "<u4"))

    def number(self, field: int, form: str, default: int = 0) -> int:
        """Return a number; a field that is not there has the default."""
        place = self._at(field)
        return default if place is None else _number(self._content, place, form)

    def array(self, field: int, form: str | np.dtype[Any]) -> Array:
        """Return the numbers of a vector; none if it is not there."""
        place = self._at(field)
        if place is None:
            return np.empty(0, dtype=form)
        place += _number(self._content, place, "<u4")
        size = _number(self._content, place, "<u4")
        found: Array = np.frombuffer(_part(self._content, place + 4, size * np.dtype(form).itemsize), dtype=form)
        return found

    def raw(self, field: int) -> bytes:
        """Return the bytes of a string or vector of bytes."""
        return self.array(field, "u1").tobytes()

    def table(self, field: int) -> _Table:
        """Return a table that must be there."""
        place = self._at(field)
        if place is None:
            raise ValueError("a part of a CatBoost model is missing")
        return _Table(self._content, place + _number(self._content, place, "<u4"))

    def tables(self, field: int) -> list[_Table]:
        """Return the tables of a vector."""
        return [_Table(self._content, place) for place in self._pointed(field)]

    def strings(self, field: int) -> list[bytes]:
        """Return the strings of a vector."""
        content = self._content
        return [_part(content, place + 4, _number(content, place, "<u4")) for place in self._pointed(field)]

    def _pointed(self, field: int) -> Iterator[int]:
        place = self._at(field)
        if place is None:
            return
        first = place + _number(self._content, place, "<u4") + 4
        for number, offset in enumerate(self.array(field, "<u4").tolist()):
            yield first + 4 * number + offset

    def _at(self, field: int) -> int | None:
        offset = self._fields[field] if field < len(self._fields) else 0
        return self._place + offset if offset else None


class _Statistics(NamedTuple):
    """What the statistics of categories are of, and how many classes they count."""

    key: Key
    n_classes: int


def checked_model(content: bytes) -> bytes:
    """Return the content if its trees stay within its columns, leaves and statistics; else raise ValueError."""
    if content[:4] != b"CBM1":
        raise ValueError("a CatBoost model does not begin like one")
    size = _number(content, 4, "<u4")
    core = _Table.root(_part(content, 8, size))
    trees = core.table(1)
    parts = core.strings(3)
    if parts not in ([], [_STATISTICS_PART]) or any(len(trees.array(field, "<u4")) for field in (10, 11, 12, 13, 18)):
        raise ValueError("a CatBoost model has parts that metaml does not make")
    statistics = {one.key: one.n_classes for one in _statistics(content[8 + size :])} if parts else {}
    _check_columns(trees)
    _check_statistics_used(trees, statistics)
    _check_trees(trees)
    return content


def _check_columns(trees: _Table) -> None:
    """Refuse columns that are not numbered one after the other."""
    numeric, categorical = trees.tables(5), trees.tables(4)
    places = [(_at(column, 1), _at(column, 2)) for column in numeric]
    category_places = [(_at(column, 0), _at(column, 1)) for column in categorical]
    for found in (places, category_places):
        if [own for own, _ in found] != list(range(len(found))):
            raise ValueError("a CatBoost model does not number its columns")
    if sorted(place for _, place in places + category_places) != list(range(len(places) + len(category_places))):
        raise ValueError("a CatBoost model does not number its columns")
    if any(not 0 <= column.number(5, "i1") <= 2 for column in numeric):
        raise ValueError("a CatBoost model treats missing numbers in an unknown way")
    used = {number for number, column in enumerate(categorical) if column.number(3, "u1", 1)}
    asked = {_at(one, 0) for one in trees.tables(6)}
    for statistics in trees.tables(7):
        asked |= set(statistics.table(0).table(0).table(0).array(0, "<i4").tolist())
    if not asked <= used:
        raise ValueError("a CatBoost model asks for columns that are not there")


def _check_trees(trees: _Table) -> None:
    """Refuse trees that point outside their splits or leaves."""
    n_outputs = trees.number(0, "<i4")
    splits, sizes, starts = (trees.array(field, "<i4").astype(np.int64) for field in (1, 2, 3))
    if not 1 <= n_outputs <= MOST_OUTPUTS or (sizes < 0).any() or (sizes > MOST_DEPTH).any():
        raise ValueError("a CatBoost model has an impossible header")
    if starts.tolist() != (np.cumsum(sizes) - sizes).tolist() or len(splits) != sizes.sum():
        raise ValueError("the trees of a CatBoost model have other sizes than it says")
    n_leaves = int((1 << sizes).sum())
    n_weights = len(trees.array(9, "<f8"))
    if len(trees.array(8, "<f8")) != n_outputs * n_leaves or n_weights not in (0, n_leaves):
        raise ValueError("a CatBoost model has other leaves than it says")
    bins = _bins(trees)
    if (splits < 0).any() or (splits >= len(bins)).any():
        raise ValueError("a tree of a CatBoost model asks for splits that are not there")
    packed = trees.array(17, _BIN)
    if len(packed) and packed.tobytes() != bins[splits].tobytes():
        raise ValueError("a CatBoost model has other splits than it says")


def _bins(trees: _Table) -> Array:
    """Return how compiled code finds the answer to each split: all columns are cut into bins, one after the other."""
    cuts = [(len(column.array(3, "<f4")), False) for column in trees.tables(5)]
    cuts += [(len(one.array(1, "<i4")), True) for one in trees.tables(6)]
    cuts += [(len(one.array(1, "<f4")), False) for one in trees.tables(7)]
    bins: Array = np.zeros(sum(n for n, _ in cuts), dtype=_BIN)
    first = n_features = 0
    for n, is_equal in cuts:
        part, numbers = bins[first : first + n], np.arange(n)
        split = numbers % _VALUES_PER_BIN + 1
        part["feature"] = n_features + numbers // _VALUES_PER_BIN
        part["mask"], part["split"] = (~split & 255, 255) if is_equal else (0, split)
        first, n_features = first + n, n_features + -(-n // _VALUES_PER_BIN)
    if n_features > 2**16:
        raise ValueError("a CatBoost model has too many columns")
    return bins


def _check_statistics_used(trees: _Table, statistics: dict[Key, int]) -> None:
    """Refuse statistics of categories that are not there, or of classes that were not counted."""
    for column in trees.tables(7):
        asked = column.table(0)
        key, border = _key(asked.table(0)), asked.number(1, "<i4")
        if key not in statistics or (key[3] in _WITH_CLASSES and not 0 <= border < statistics[key]):
            raise ValueError("a CatBoost model asks for statistics that are not there")


def _statistics(content: bytes) -> Iterator[_Statistics]:
    """Yield what each table is about; each has an empty bucket, and points to what it has."""
    place = 4
    for _ in range(_number(content, 0, "<u4")):
        size = _number(content, place, "<u4")
        table = _Table.root(_part(content, place + 4, size))
        place += 4 + size
        key, n_classes = _key(table.table(0)), table.number(4, "<i4")
        if key[3] not in _WITH_CLASSES + _MEANS + _COUNTS or not 0 <= n_classes <= MOST_OUTPUTS:
            raise ValueError("a CatBoost model has impossible statistics")
        row = 8 if key[3] in _MEANS else 4 if key[3] in _COUNTS else 4 * max(n_classes, 2)
        n_rows, rest = divmod(len(table.raw(2)), row)
        raw = table.raw(1)
        n_buckets = len(raw) // _BUCKET.itemsize
        if rest or len(raw) % _BUCKET.itemsize or n_buckets < 1 or n_buckets & (n_buckets - 1):
            raise ValueError("a CatBoost model has impossible statistics")
        buckets = np.frombuffer(raw, dtype=_BUCKET)
        is_empty = buckets["hash"] == _EMPTY
        if not is_empty.any() or (buckets["place"][~is_empty] >= n_rows).any():
            raise ValueError("the statistics of a CatBoost model point outside themselves")
        yield _Statistics(key, n_classes)
    if place != len(content):
        raise ValueError("a CatBoost model has parts that metaml does not make")


def _key(base: _Table) -> Key:
    """Return which columns and splits statistics are of, and their kind."""
    of = base.table(0)
    return (
        of.array(0, "<i4").tobytes(),
        of.array(1, "<u8").tobytes(),
        of.array(2, "<u8").tobytes(),
        base.number(1, "i1"),
    )


def _at(column: _Table, field: int) -> int:
    return column.number(field, "<i4", -1)


def _number(content: bytes, place: int, form: str) -> int:
    """Return the number at a place."""
    return int(np.frombuffer(_part(content, place, np.dtype(form).itemsize), dtype=form)[0])


def _part(content: bytes, place: int, size: int) -> bytes:
    """Return so many bytes from a place on."""
    if not 0 <= place <= place + size <= len(content):
        raise ValueError("a CatBoost model points outside itself")
    return content[place : place + size]
