"""float32 that keeps the order of float64: scores that rest on ranks are the same before and after."""

import numpy as np

_HALF = int(np.float32(0.5).view(np.int32))


def rounded_in_order(values: np.ndarray) -> np.ndarray:
    """Return each column as float32; values that are equal stay so, and those that differ stay in their order.

    Where rounding makes different values equal, the larger becomes the next larger float32. NaN is kept.

    >>> rounded_in_order(np.array([[0.3], [0.3 + 1e-12], [0.1]])).argsort(axis=0)[:, 0].tolist()
    [2, 0, 1]
    """
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    for column in range(numbers.shape[1]):
        known = np.flatnonzero(np.isfinite(numbers[:, column]))
        keys = _in_order(_keys(numbers[known, column]), values[known, column])
        numbers[known, column] = _numbers(keys)
    return numbers


def packed_probabilities(probabilities: np.ndarray) -> np.ndarray:
    """Return probabilities as `rounded_in_order`, but those above one half as what is left to 1, with a minus sign.

    float32 is fine next to 0 and coarse next to 1. If probabilities of two classes were float32 before, the other
    class says what is left.
    """
    wide = probabilities.astype(np.float64)
    is_single = probabilities.dtype == np.float32 and wide.shape[1] == 2
    left = wide[:, ::-1] if is_single else 1 - wide
    is_large, packed = wide > 0.5, np.full(wide.shape, np.nan, dtype=np.float32)
    for column in range(wide.shape[1]):
        known = np.flatnonzero(~np.isnan(wide[:, column]))
        large, rest = is_large[known, column], left[known, column]
        exact = np.where(large, 1 - rest, wide[known, column])
        keys = _keys(np.where(large, rest, exact).astype(np.float32))
        # What is left falls where the probability rises: both sides of one half make one scale.
        keys = np.minimum(_in_order(np.where(large, 2 * _HALF - keys, keys), exact), 2 * _HALF)
        above = keys > _HALF
        sizes = _numbers(np.where(above, 2 * _HALF - keys, keys))
        packed[known, column] = np.where(above, -sizes, sizes)
    return packed


def unpacked_probabilities(packed: np.ndarray) -> np.ndarray:
    """Return the probabilities that `packed_probabilities` packed, as float64."""
    wide = packed.astype(np.float64)
    return np.where(np.signbit(wide), 1 + wide, wide)


def _keys(numbers: np.ndarray) -> np.ndarray:
    """Return integers in the order of float32 numbers: the next larger number has the next larger integer."""
    bits = (numbers + np.float32(0)).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _numbers(keys: np.ndarray) -> np.ndarray:
    """Return the float32 numbers of such integers."""
    sizes = np.abs(keys).astype(np.int32).view(np.float32)
    numbers: np.ndarray = np.where(keys < 0, -sizes, sizes)
    return numbers


def _in_order(keys: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the keys raised as little as needed for them to rise wherever the exact values do."""
    if not len(keys):
        return keys
    order = np.lexsort((keys, exact))
    steps = np.concatenate([[0], np.cumsum(np.diff(exact[order]) > 0)])
    raised = np.empty_like(keys)
    raised[order] = np.maximum.accumulate(keys[order] - steps) + steps
    return raised
