"""The words that many runs share: names of data sets and algorithms, statuses, origins.

Fetching a text per run is the most expensive part of a large query. So the database packs the row numbers of these
words into one integer per run, and this module unpacks all rows at once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sqlalchemy import BigInteger, ColumnElement, Connection, case, cast, func, select

from metaml_kb import tables
from metaml_kb.records import ORIGINS, STATUSES

LARGEST = 2**62


def names_of(connection: Connection, table: Any, column: str = "name") -> dict[int, str]:
    """Return the name of each row of a small table, by row number."""
    return {number: name for number, name in connection.execute(select(table.c.id, table.c[column]))}


@dataclass(frozen=True)
class Words:
    """The word for each number of each kind. Number 0 means that a run has no such word."""

    names: Mapping[str, Mapping[int, str]]

    @classmethod
    def of(cls, connection: Connection) -> Self:
        """Return the words that a knowledge base holds now."""
        return cls(
            {
                "dataset": names_of(connection, tables.dataset),
                "algorithm": names_of(connection, tables.algorithm),
                "fold_plan": names_of(connection, tables.fold_plan, "key"),
                "session": names_of(connection, tables.session, "key"),
                "metric_set": names_of(connection, tables.metric_set, "names"),
                "parameter_set": names_of(connection, tables.parameter_set, "names"),
                "status": dict(enumerate(STATUSES)),
                "origin": dict(enumerate(ORIGINS)),
            }
        )

    def _number(self, kind: str) -> ColumnElement[int]:
        """Return the SQL for the number of a run's word of this kind."""
        run = tables.run
        if kind in ("status", "origin"):
            return case({word: number for number, word in self.names[kind].items()}, value=run.c[kind], else_=0)
        if kind == "parameter_set":
            return tables.configuration.c.parameter_set_id
        number = run.c[f"{kind}_id"]
        return func.coalesce(number, 0) if number.nullable else number

    def _layout(self) -> list[list[tuple[str, int]]]:
        """Return which kinds share an integer, each with its number of possible values."""
        layout: list[list[tuple[str, int]]] = [[]]
        for kind, names in self.names.items():
            size = max(names, default=0) + 1
            if size * math.prod(taken for _, taken in layout[-1]) >= LARGEST:
                layout.append([])
            layout[-1].append((kind, size))
        return layout

    def packed(self) -> dict[str, ColumnElement[int]]:
        """Return the SQL of the integers that encode all words of a run."""
        packed: dict[str, ColumnElement[int]] = {}
        for place, kinds in enumerate(self._layout()):
            code: ColumnElement[int] = cast(self._number(kinds[0][0]), BigInteger)
            for kind, size in kinds[1:]:
                code = code * size + self._number(kind)
            packed[f"code_{place}"] = code
        return packed

    def unpack(self, table: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
        """Return the numbers of each kind, one per run."""
        numbers: dict[str, np.ndarray] = {}
        for place, kinds in enumerate(self._layout()):
            code = np.array(table[f"code_{place}"], dtype=np.int64)
            for kind, size in reversed(kinds):
                code, numbers[kind] = np.divmod(code, size)
        return numbers

    def column(self, kind: str, numbers: np.ndarray) -> Any:
        """Return the word for each number; missing where a run has none."""
        codes, distinct = pd.factorize(numbers)
        return pd.array([self.names[kind].get(int(number)) for number in distinct], dtype="str").take(codes)
