"""Predictions as bytes: float16 or float32, compressed, with or without the truth.

What metaml 0.1 stored is a zlib stream of float32, which begins with the byte 0x78. Everything else begins with 1, or 2
if it holds the truth. Then follow the length of a header (4 bytes, little-endian), the header as JSON, the predictions
and the truth, each a zlib stream.
"""

import json
import math
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from metaml_kb.errors import BadRecord
from metaml_kb.predictions.single_precision import packed_probabilities, rounded_in_order, unpacked_probabilities

Form = Literal["float16", "float32"]
PLAIN, WITH_TRUTH = b"\x01", b"\x02"
_LENGTH = struct.Struct("<I")
_TYPES = {"float16": "<f2", "float32": "<f4"}
_TRUTH_TYPES = {"codes": "<i4", "values": "<f8"}


class PackedPredictions(NamedTuple):
    """Predictions as they are stored: `n_rows` rows of the data set, `n_columns` classes, or 1 for values."""

    n_rows: int
    n_columns: int
    data: bytes


@dataclass(frozen=True, eq=False)
class Truth:
    """The target of each row of a data set: codes of `labels`, or values (then there are no labels)."""

    y: np.ndarray
    labels: tuple[str, ...] = ()


def pack(predictions: np.ndarray, form: Form = "float16", truth: Truth | None = None) -> PackedPredictions:
    """Return predictions (a row per row of the data set, a column per class) compressed.

    float16 has 11 bits. Probabilities are stored as logarithms, so that one near 0 or 1 keeps its log loss and rank.
    The largest of a row stays the largest. As float32, a probability above one half is stored as what is left to 1,
    with a minus sign, and all numbers of a column keep their order. Values are stored less their mean, in units of
    their standard deviation, so that no unit is too large. NaN is kept.

    >>> packed = pack(np.array([[0.1, 0.9], [1.0, 0.0]]), truth=Truth(np.array([1, 0]), ("no", "yes")))
    >>> unpack(*packed).round(3).tolist()
    [[0.10000000149011612, 0.8999999761581421], [1.0, 0.0]]
    """
    matrix = np.asarray(predictions, dtype=np.float64).reshape(len(predictions), -1)
    n_rows, n_columns = matrix.shape
    header: dict[str, Any] = {"form": form, "offset": 0.0, "scale": 1.0}
    numbers: np.ndarray
    if n_columns == 1:
        known = matrix[np.isfinite(matrix)]
        if known.size:
            header |= _unit_of(known)
        scaled = (matrix - header["offset"]) / header["scale"]
        numbers = scaled.astype("<f2") if form == "float16" else rounded_in_order(scaled)
    elif form == "float32":
        header["complements"] = _are_probabilities(matrix)
        given = np.asarray(predictions).reshape(matrix.shape)
        numbers = packed_probabilities(given) if header["complements"] else rounded_in_order(matrix)
    else:
        with np.errstate(divide="ignore"):
            numbers = _with_same_labels(np.log(matrix).astype("<f2"), matrix)
    # High and low bytes apart: the high ones repeat, and so compress.
    planes = (
        np.frombuffer(numbers.astype(_TYPES[form], copy=False).tobytes(), dtype=np.uint8)
        .reshape(-1, numbers.itemsize)
        .T.tobytes()
    )
    body, tail = zlib.compress(planes, 6), b""
    header["size"] = len(body)
    if truth is not None:
        kind = "codes" if truth.labels else "values"
        header |= {"truth": kind, "labels": list(truth.labels)}
        tail = zlib.compress(np.asarray(truth.y).astype(_TRUTH_TYPES[kind]).tobytes(), 9)
    text = json.dumps(header).encode()
    return PackedPredictions(
        n_rows, n_columns, (WITH_TRUTH if tail else PLAIN) + _LENGTH.pack(len(text)) + text + body + tail
    )


def _unit_of(known: np.ndarray) -> dict[str, float]:
    """Return mean and standard deviation of values; 0 and the largest size where these leave the range of floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        offset, scale = float(known.mean()), float(known.std()) or 1.0
    is_possible = math.isfinite(offset) and math.isfinite(scale)
    return {"offset": offset, "scale": scale} if is_possible else {"offset": 0.0, "scale": float(abs(known).max())}


def _are_probabilities(matrix: np.ndarray) -> bool:
    """Return whether each row that has no NaN has probabilities that sum to 1."""
    known = matrix[~np.isnan(matrix).any(axis=1)]
    return bool(((known >= 0) & (known <= 1)).all() and np.allclose(known.sum(axis=1), 1.0, rtol=0, atol=1e-5))


def _with_same_labels(rounded: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return rounded numbers whose largest in each row is where it was: rounding must not change a predicted class."""
    best = matrix.argmax(axis=1)
    rows = np.flatnonzero((rounded.argmax(axis=1) != best) & ~np.isnan(matrix).any(axis=1))
    rounded[rows, best[rows]] = np.nextafter(rounded[rows].max(axis=1), np.float16(np.inf))
    return rounded


def unpack(n_rows: int, n_columns: int, data: bytes) -> np.ndarray:
    """Return stored predictions, a row per row of the data set; NaN where a row was not predicted.

    They are float64 if they were stored as float32 (their order near 1 needs it), else float32. Raises `BadRecord` if
    the bytes are not what `pack` writes.
    """
    shape = (n_rows, n_columns)
    if data[:1] not in (PLAIN, WITH_TRUTH):
        return np.frombuffer(_inflated(data, 4 * n_rows * n_columns), dtype="<f4").reshape(shape)
    header, body, _ = _parts(data)
    kind = np.dtype(_TYPES[header["form"]])
    planes = np.frombuffer(_inflated(body, kind.itemsize * n_rows * n_columns), dtype=np.uint8)
    numbers = np.ascontiguousarray(planes.reshape(kind.itemsize, -1).T).view(kind).reshape(shape)
    is_small = header["form"] == "float16"
    if n_columns == 1:
        values: np.ndarray = numbers.astype(np.float64) * header["scale"] + header["offset"]
        return values.astype(np.float32) if is_small else values
    if not is_small:
        return unpacked_probabilities(numbers) if header.get("complements") else numbers.astype(np.float64)
    chances: np.ndarray = np.exp(numbers.astype(np.float32))
    sums = chances.sum(axis=1, keepdims=True)
    np.divide(chances, sums, out=chances, where=sums > 0)
    return chances


def truth_in(n_rows: int, data: bytes) -> Truth | None:
    """Return the truth that is stored with predictions; None if there is none."""
    if data[:1] != WITH_TRUTH:
        return None
    header, _, tail = _parts(data)
    kind = np.dtype(_TRUTH_TYPES[header["truth"]])
    y = np.frombuffer(_inflated(tail, kind.itemsize * n_rows), dtype=kind)
    labels = tuple(map(str, header["labels"]))
    if labels and (y.min(initial=0) < 0 or y.max(initial=0) >= len(labels)):
        raise BadRecord("The truth beside stored predictions is damaged: it has a class without a name.")
    return Truth(y, labels)


def _parts(data: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """Return the header and both streams; raise `BadRecord` if the header is not ours."""
    try:
        start = 1 + _LENGTH.size
        body = start + _LENGTH.unpack_from(data, 1)[0]
        header = json.loads(data[start:body])
        size = int(header["size"])
        is_ours = header["form"] in _TYPES and math.isfinite(header["offset"]) and math.isfinite(header["scale"])
        if data[:1] == WITH_TRUTH:
            is_ours = is_ours and header["truth"] in _TRUTH_TYPES and isinstance(header["labels"], list)
    except (struct.error, ValueError, LookupError, TypeError) as error:
        raise BadRecord(f"Stored predictions are damaged: {error}.") from None
    if not is_ours:
        raise BadRecord("Stored predictions are damaged: their header is not what metaml writes.")
    return header, data[body : body + size], data[body + size :]


def _inflated(data: bytes, n_bytes: int) -> bytes:
    """Return what was compressed; raise `BadRecord` unless it has exactly so many bytes. Never unpacks more."""
    try:
        found = zlib.decompressobj().decompress(data, n_bytes + 1)
    except zlib.error as error:
        raise BadRecord(f"Stored predictions are damaged: {error}.") from None
    if len(found) != n_bytes:
        raise BadRecord(f"Stored predictions are damaged: they do not unpack to {n_bytes} bytes.")
    return found
