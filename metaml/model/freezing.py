"""Fitted estimators as plain data and back: JSON for structure, one block of bytes for all arrays.

JSON scalars and lists stand for themselves; anything else is an object with one key that says what it is. Only
what `trusted` lists can be written, and only that is ever made from a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from metaml.arrays import Array
from metaml.errors import BadModel
from metaml.model.trusted import TRUSTED, trusted_name

Plain = Any
"""What JSON can hold."""

SLACK_BYTES = 1_000_000
_ALIGNMENT = 16
_DTYPE = re.compile(r"[<>|=]?([biuf][1248]|[US]\d{1,6}|[mM]8(\[[a-z]+\])?)")
_NUMBER_TYPES = ("bool", "float32", "float64", "int32", "int64", "uint8", "uint32", "uint64")


class Freezer:
    """Turns objects into plain structures, which refer to arrays by number.

    `arrays` describes these arrays, `content` holds their bytes.
    """

    def __init__(self) -> None:
        self.arrays: list[dict[str, Any]] = []
        self._blocks: list[bytes] = []
        self._size = 0

    @property
    def content(self) -> bytes:
        """Return the bytes of all arrays."""
        return b"".join(self._blocks)

    def freeze(self, item: Any) -> Plain:
        """Return the structure of an object."""
        if item is None or type(item) in (bool, int, float, str):
            return item
        if type(item) is list:
            return [self.freeze(value) for value in item]
        if type(item) is tuple:
            return {"tuple": [self.freeze(value) for value in item]}
        if type(item) is dict:
            return {"dict": [[self.freeze(key), self.freeze(value)] for key, value in item.items()]}
        if isinstance(item, np.ndarray):
            return {"array": self._keep(item)}
        if isinstance(item, np.generic):
            return {"number": self._keep(np.asarray(item))}
        if isinstance(item, slice):
            return {"slice": [item.start, item.stop, item.step]}
        if isinstance(item, pd.Index):
            return {"index": self._words(item)}
        if isinstance(item, type) and issubclass(item, np.generic):
            return {"type": np.dtype(item).name}
        name = trusted_name(item)
        if name is None:
            raise TypeError(f"a model file cannot hold a {type(item).__module__}.{type(item).__qualname__}")
        state = TRUSTED[name].state_of(item)
        return {"object": name, "state": {key: self.freeze(value) for key, value in state.items()}}

    def _keep(self, array: Array) -> int:
        if array.dtype.hasobject:
            raise TypeError("a model file cannot hold an array of Python objects")
        in_columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        block = array.tobytes(order="F" if in_columns else "C")
        self.arrays.append(
            {
                "dtype": _dtype_to_plain(array.dtype),
                "shape": list(array.shape),
                "order": "F" if in_columns else "C",
                "start": self._size,
            }
        )
        padding = -len(block) % _ALIGNMENT
        self._blocks += [block, bytes(padding)]
        self._size += len(block) + padding
        return len(self.arrays) - 1

    @staticmethod
    def _words(index: pd.Index) -> list[str]:
        words = index.tolist()
        if not all(type(word) is str for word in words):
            raise TypeError("a model file cannot hold names that are not text")
        return words


def thaw(plain: Plain, arrays: list[dict[str, Any]], content: bytes) -> Any:
    """Return the object whose structure this is; refuse what is not listed or does not fit together."""
    try:
        return _Thawer(arrays, content).thaw(plain)
    except BadModel:
        raise
    except ImportError as error:
        raise BadModel(f"The model needs {error.name}, which is not installed. Run: pip install {error.name}") from None
    except OSError as error:
        raise BadModel(f"The model cannot be loaded now: {error}. Try again when this machine is less busy.") from None
    except Exception as error:
        said = str(error).split("\n")[0]
        raise BadModel(
            f"The model does not fit together ({type(error).__name__}: {said}). Save it again with this version."
        ) from None


class _Thawer:
    def __init__(self, arrays: list[dict[str, Any]], content: bytes) -> None:
        self.arrays = arrays
        self.content = content
        # A file that was saved refers to each array once.
        self.left = len(content) + SLACK_BYTES

    def thaw(self, plain: Plain) -> Any:
        if plain is None or isinstance(plain, bool | int | float | str):
            return plain
        if isinstance(plain, list):
            return [self.thaw(value) for value in plain]
        if set(plain) == {"object", "state"}:
            return self._object(plain["object"], plain["state"])
        ((kind, value),) = plain.items()
        makers: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda values: tuple(self.thaw(one) for one in values),
            "dict": lambda pairs: {self.thaw(key): self.thaw(one) for key, one in pairs},
            "array": self._array,
            "number": lambda place: self._array(place)[()],
            "slice": lambda ends: slice(*[None if end is None else int(end) for end in ends]),
            "index": lambda words: pd.Index([str(word) for word in words], dtype=str),
            "type": _number_type,
        }
        return makers[kind](value)

    def _object(self, name: Any, state: dict[str, Plain]) -> Any:
        if name not in TRUSTED:
            raise BadModel(
                f"The model contains {name!r}, which metaml does not know. Load only models that metaml saved."
            )
        return TRUSTED[name].restored({key: self.thaw(value) for key, value in state.items()})

    def _array(self, place: int) -> Array:
        entry = self.arrays[place]
        dtype = _dtype_from_plain(entry["dtype"])
        shape = tuple(int(n) for n in entry["shape"])
        if dtype.hasobject or min(shape, default=0) < 0:
            raise ValueError("an array is not one of numbers or text")
        count = int(np.prod(shape, dtype=object))
        if count == 0:
            return np.empty(shape, dtype=dtype)
        self.left -= count * dtype.itemsize
        if self.left < 0:
            raise ValueError("its arrays are larger than the file")
        flat = np.frombuffer(self.content, dtype=dtype, count=count, offset=int(entry["start"]))
        return flat.copy().reshape(shape, order="F" if entry["order"] == "F" else "C")


def _number_type(name: str) -> type:
    if name not in _NUMBER_TYPES:
        raise ValueError(f"{name!r} is not a type of number")
    return np.dtype(name).type


def _dtype_to_plain(dtype: np.dtype[Any]) -> Plain:
    if dtype.names is None or dtype.fields is None:
        return dtype.str
    fields = [dtype.fields[name] for name in dtype.names]
    return {
        "names": list(dtype.names),
        "formats": [field[0].str for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
    }


def _dtype_from_plain(plain: Plain) -> np.dtype[Any]:
    """Return a type of plain numbers or text, or a record of such numbers as trees have them."""
    if isinstance(plain, str):
        return _plain_dtype(plain)
    if set(plain) != {"names", "formats", "offsets", "itemsize"}:
        raise ValueError("an array is of an unknown type")
    formats = [_plain_dtype(form) for form in plain["formats"]]
    settings: Any = {**plain, "formats": formats}
    dtype: np.dtype[Any] = np.dtype(settings)
    return dtype


def _plain_dtype(word: Any) -> np.dtype[Any]:
    if not isinstance(word, str) or not _DTYPE.fullmatch(word):
        raise ValueError("an array is of an unknown type")
    return np.dtype(word)
