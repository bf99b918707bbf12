"""Tables of Polars, Arrow, DuckDB and others as pandas frames, by Arrow's interface that all of them have."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd

from metaml.errors import BadDataset


class ArrowTable(Protocol):
    """A table that can be read as a stream of Arrow batches, such as a Polars frame."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream."""
        ...


def as_pandas(table: Any) -> Any:
    """Return a table that speaks Arrow as a pandas frame; anything else, such as a path or an array, as it is.

    Raises `BadDataset` for a query that holds no rows yet, and for columns that pandas cannot hold.

    >>> import pyarrow
    >>> as_pandas(pyarrow.table({"x": [1, 2]}))["x"].tolist(), as_pandas("data.csv")
    ([1, 2], 'data.csv')
    """
    if isinstance(table, pd.DataFrame | pd.Series):
        return table
    if callable(getattr(table, "collect_schema", None)) and callable(getattr(table, "collect", None)):
        raise BadDataset(f"A {type(table).__name__} is a query without rows. Give what its collect() returns.")
    if not hasattr(table, "__arrow_c_stream__"):
        return table
    import pyarrow

    try:
        return _plain(pyarrow.table(table)).to_pandas(date_as_object=False)
    except pyarrow.ArrowException as error:
        why = str(error).strip().splitlines()[0][:200]
        raise BadDataset(f"The {type(table).__name__} cannot be read: {why}. Give a pandas frame.") from None


def _plain(table: Any) -> Any:
    """Return an Arrow table in which decimals, which pandas holds as objects, are floats."""
    import pyarrow

    fields = [
        field.with_type(pyarrow.float64()) if pyarrow.types.is_decimal(field.type) else field for field in table.schema
    ]
    return table.cast(pyarrow.schema(fields))
