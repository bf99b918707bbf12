"""Convert JSON arrays to columns, as fast as a csv reader.

A JSON array without its brackets is a line of comma-separated tokens. So a csv reader can split millions of them at
once, and each column is converted as a whole. If a word holds a comma or a backslash, the JSON parser does it instead.

Types are kept: a column of only floats, integers, booleans or words gets that type; a mixed one holds Python objects.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

INACTIVE = float("nan")
FEW = 1000
"""Fewer lines are parsed faster as JSON."""


def decode(lines: bytes, n_lines: int, n_values: int) -> list[Any]:
    """Return the columns of JSON arrays (UTF-8), each on a line of its own, with `n_values` values each.

    >>> [column.tolist() for column in decode(b'[1,"a"]\\n[2,"b"]', 2, 2)]
    [[1, 2], ['a', 'b']]
    """
    if n_values == 0 or n_lines == 0:
        return [np.array([], dtype=object)] * n_values
    tokens = _split(lines, n_values) if n_lines >= FEW and b"\\" not in lines else None
    if tokens is not None:
        return [_convert(column) for column in tokens]
    rows = json.loads(b"[" + lines.replace(b"\n", b",") + b"]")
    return [typed(list(column)) for column in zip(*rows, strict=True)]


def _split(lines: bytes, n_values: int) -> list[Any] | None:
    """Return one column of tokens for each position in the lines `[token,token,…]`; None if a word holds a comma."""
    import pyarrow as pa
    from pyarrow import compute, csv

    names = [str(place) for place in range(n_values)]
    try:
        table = csv.read_csv(
            pa.py_buffer(lines),
            read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=1 << 22),
            parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        # A comma inside a word is one token too many.
        return None
    columns = [column.combine_chunks() for column in table.columns]
    # Brackets are only at the ends of a line: a word has quotes around it, and arrays are not nested.
    columns[0] = compute.ascii_ltrim(columns[0], characters="[")
    columns[-1] = compute.ascii_rtrim(columns[-1], characters="]")
    return columns


def _convert(tokens: Any) -> Any:
    """Return one column of JSON tokens as values."""
    import pyarrow as pa
    from pyarrow import compute

    # A failed cast is expensive, so the first token decides which cast to try. A token without a decimal point is an
    # integer, an exponent (1e-05) or a word. Columns of floats without a point are rare; the general code below reads
    # them.
    first = tokens[0].as_py()
    wanted = pa.float64() if "." in first else pa.int64()
    if first[0] in "-0123456789" and (
        wanted == pa.int64() or compute.all(compute.match_substring(tokens, ".")).as_py()
    ):
        try:
            return tokens.cast(wanted).to_numpy()
        except pa.ArrowInvalid:
            pass
    coded = tokens.dictionary_encode()
    distinct = json.loads(f"[{','.join(coded.dictionary.to_pylist())}]")
    return typed(distinct, coded.indices.to_numpy())


def typed(values: list[Any], places: np.ndarray | None = None) -> Any:
    """Return values (those at `places`, if given) as a column that keeps their types."""
    kinds = set(map(type, values))
    column: Any
    if kinds == {str}:
        column = pd.array(values, dtype="str")
    elif kinds == {float} or kinds == {bool}:
        column = np.array(values)
    elif kinds == {int} and max(map(abs, values)) < 2**63:
        column = np.array(values, dtype=np.int64)
    else:
        column = np.empty(len(values), dtype=object)
        column[:] = values
    return column if places is None else column.take(places)


def scatter(pieces: Sequence[tuple[np.ndarray, Any]], size: int) -> Any:
    """Return one column of `size` rows from pieces, each with row positions and values; other rows are NaN.

    If the pieces fill all rows and have one type, the column has that type. Floats stay floats in any case.
    """
    if len(pieces) == 1 and len(pieces[0][0]) == size:
        return pieces[0][1]
    kinds = {str(column.dtype) for _, column in pieces}
    is_full = sum(len(places) for places, _ in pieces) == size
    if kinds == {"float64"} or (is_full and len(kinds) == 1 and isinstance(pieces[0][1], np.ndarray)):
        spread = (
            np.full(size, INACTIVE, dtype=np.float64) if kinds == {"float64"} else np.empty(size, next(iter(kinds)))
        )
    else:
        spread = np.full(size, INACTIVE, dtype=object)
    for places, column in pieces:
        spread[places] = column if spread.dtype != object else np.asarray(column, dtype=object)
    return pd.array(spread, dtype="str") if is_full and kinds == {"str"} else spread


def hexadecimal(joined: bytes) -> Any:
    """Return 16-byte values, one after the other, as a column of hexadecimal texts."""
    import pyarrow as pa

    ends = np.arange(len(joined) // 16 + 1, dtype=np.int64) * 32
    texts = pa.LargeStringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(joined.hex().encode()))
    return pd.array(texts, dtype="str")
