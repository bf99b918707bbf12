"""What a model reads of a raw table: a table of features or, of a single row, only its cells."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from metaml.data import Applied
from metaml.data.row_reader import Row, RowReader
from metaml.errors import BadDataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from metaml.algorithms.categories import Columns
    from metaml.data import Schema

MOST_NAMED = 5


class TableReader:
    """Reads tables for the members of one model; with a second layer, which adds columns, always as a table."""

    def __init__(self, schema: Schema, *, has_layers: bool) -> None:
        self.schema, self._has_layers = schema, has_layers
        self._positions: dict[tuple[object, ...], npt.NDArray[np.int64]] = {}

    @cached_property
    def _rows(self) -> RowReader:
        return RowReader(self.schema)

    def read(self, frame: pd.DataFrame) -> tuple[pd.DataFrame | Columns, Applied | Row]:
        """Return the features of a raw table, together with what was missing or unreadable in it."""
        # Imported here because it takes a second: it imports scikit-learn.
        import pandas as pd

        from metaml.algorithms.categories import RowColumns

        if not self._has_layers and type(frame) is pd.DataFrame and len(frame) == 1:
            row = self._rows.read(frame)
            return RowColumns(row, self._positions), row
        applied = self.schema.read(frame)
        return applied.X, applied


def remarks(schema: Schema, read: Applied | Row) -> tuple[str, ...]:
    """Return sentences about what a table lacked; raise `BadDataset` if that is more than half of the columns."""
    notes = []
    if read.missing:
        listed, n_needed = _listed(read.missing), len({feature.source for feature in schema.features})
        if 2 * len(read.missing) > n_needed:
            raise BadDataset(
                f"The table lacks {len(read.missing)} of the {n_needed} columns that the model needs: {listed}. "
                "Give a table like the one it was trained on."
            )
        notes.append(f"The table has no column {listed}: read as missing values.")
    if read.unreadable:
        cells = [f"{name} ({count})" for name, count in read.unreadable.items()]
        notes.append(f"Cells with values that the training data did not have were read as missing: {_listed(cells)}.")
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
