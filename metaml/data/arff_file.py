"""ARFF, the format of Weka and OpenML, into a raw frame: dense and sparse, nominal columns as categories."""

import re
from typing import Any

import numpy as np
import pandas as pd

from metaml.data.raw import RawTable
from metaml.errors import BadDataset

_START = re.compile(r"(\s*(%[^\n]*)?\n)*\s*@relation\b", re.IGNORECASE)
_DATA = re.compile(r"^\s*@data[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"^(\s*@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s+)date\b[^\n]*$", re.IGNORECASE | re.MULTILINE)
_SPARSE = re.compile(r"(\s*(%[^\n]*)?\n)*\s*\{")


def is_arff(text: str) -> bool:
    """Return whether the text starts with @relation, after comments."""
    return _START.match(text) is not None


def parse_arff(text: str, name: str) -> RawTable:
    """Return the table in the text; `name` is for messages."""
    import arff

    body = _DATA.search(text)
    if body is None:
        raise BadDataset(f"{name} is an ARFF file without @data. Fetch it again.")
    is_sparse = _SPARSE.match(text, body.end()) is not None
    header = _DATE.sub(r"\1string", text[: body.end()])
    try:
        document = arff.loads(header + text[body.end() :], return_type=arff.LOD if is_sparse else arff.DENSE)
    except (arff.ArffException, ValueError) as error:
        # The parser's own exceptions name the line; an attribute without a type ends in one of Python.
        said = str(error).rstrip(".") if isinstance(error, arff.ArffException) else "a line cannot be read"
        raise BadDataset(f"{name} is not valid ARFF: {said}. Fix it or give a csv file.") from None
    rows: list[Any] = list(document["data"])
    if not rows:
        raise BadDataset(f"{name} has attributes but no rows. Give a table with data in it.")
    columns: dict[int, Any] = {}
    for place, (_, kind) in enumerate(document["attributes"]):
        zero = kind[0] if isinstance(kind, list) else 0  # what a sparse row does not name
        values = [row.get(place, zero) for row in rows] if is_sparse else [row[place] for row in rows]
        columns[place] = _column(values, kind)
    frame = pd.DataFrame(columns)
    frame.columns = pd.Index([attribute for attribute, _ in document["attributes"]], dtype=str)
    return RawTable(frame)


def _column(values: list[Any], kind: str | list[str]) -> Any:
    if isinstance(kind, list):
        return pd.Categorical(values, categories=pd.Index(dict.fromkeys(kind), dtype=str))
    if kind == "STRING":
        return pd.Series(values, dtype=str)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
