"""Predictions as bytes: small, exact enough, and never trusted."""

import math
import zlib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml_kb.errors import BadRecord
from metaml_kb.predictions import Truth, pack, truth_in, unpack


def chances(n: int = 500, n_classes: int = 3, seed: int = 0) -> np.ndarray:
    logits = np.random.default_rng(seed).normal(scale=6, size=(n, n_classes))
    values = np.exp(logits)
    return values / values.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("form", "within"), [("float16", 1e-3), ("float32", 1e-6)])
def test_probabilities_survive(form, within):
    original = chances()

    stored = unpack(*pack(original, form))

    assert np.abs(stored - original).max() < within
    assert np.abs(np.log(stored) - np.log(original)).max() < 20 * within


@pytest.mark.parametrize(("form", "within"), [("float16", 1e-3), ("float32", 1e-6)])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_values_survive_in_any_unit(form, within, unit):
    original = unit * (np.random.default_rng(0).normal(size=300) + 3)

    stored = unpack(*pack(original, form))[:, 0]

    assert np.abs(stored - original).max() < 4 * within * unit


def same_order(stored: np.ndarray, original: np.ndarray) -> bool:
    """Whether values that differ are in the same order, and equal ones are equal."""
    ranks = [np.unique(item, return_inverse=True)[1] for item in (stored, original)]
    return bool((ranks[0] == ranks[1]).all())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(2, 4))
def test_probabilities_keep_their_order_in_float32(drawn, n_classes):
    first = np.repeat(np.array(drawn), 2)
    original = np.column_stack([1 - first, first] + [np.zeros(len(first))] * (n_classes - 2))

    stored = unpack(*pack(original, "float32"))

    assert all(same_order(stored[:, k], original[:, k]) for k in range(n_classes))
    assert np.abs(stored - original).max() < 1e-6


def test_probabilities_next_to_1_keep_their_order_if_they_were_float32_before():
    left = np.sort(10.0 ** np.random.default_rng(0).uniform(-12, -1, size=400))
    original = np.column_stack([left, 1 - left])

    stored = unpack(*pack(original.astype(np.float32), "float32"))

    assert same_order(stored[:, 1], original[:, 1])
    assert np.abs(stored - original).max() < 1e-7


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30), st.sampled_from([0.0, 1e6]))
def test_values_keep_their_order_in_float32(drawn, offset):
    original = 1e-6 * np.array(drawn) + offset

    stored = unpack(*pack(original, "float32"))[:, 0]

    assert same_order(stored, original)
    assert np.abs(stored - original).max() <= 1e-5 * max(np.ptp(original), 1e-12)


@pytest.mark.parametrize("original", [[[0.0, 1.0], [1.0, -0.0]], [[-1.0, 2.0], [0.7, -0.3]], [[1e308], [-1e308]]])
def test_certain_ones_and_numbers_that_are_no_probabilities_survive(original):
    assert unpack(*pack(np.array(original), "float32")) == pytest.approx(np.array(original), rel=1e-6)


def test_float32_without_complements_is_read_as_before():
    header = b'{"form": "float32", "offset": 0.0, "scale": 1.0, "size": %d}'
    numbers = np.array([[0.25, 0.75], [np.nan, np.nan]], dtype="<f4")
    body = zlib.compress(np.frombuffer(numbers.tobytes(), dtype=np.uint8).reshape(-1, 4).T.tobytes())
    header %= len(body)

    stored = unpack(2, 2, b"\x01" + len(header).to_bytes(4, "little") + header + body)

    assert np.array_equal(stored, numbers, equal_nan=True)


def test_no_row_changes_its_class():
    close = np.full((2000, 3), 1 / 3) + np.random.default_rng(0).normal(scale=1e-5, size=(2000, 3))

    assert unpack(*pack(close)).argmax(axis=1).tolist() == close.argmax(axis=1).tolist()


def test_rows_without_a_prediction_stay_so():
    original = chances(4)
    original[2] = math.nan

    stored = unpack(*pack(original))

    assert np.isnan(stored).all(axis=1).tolist() == [False, False, True, False]


def test_float16_takes_less_than_two_bytes_a_number_and_half_of_float32():
    original = chances(5000, 2)

    small, large = len(pack(original).data), len(pack(original, "float32").data)

    assert small < 2 * original.size
    assert small < 0.6 * large


def test_what_metaml_0_1_stored_is_read():
    original = chances(10).astype("<f4")

    assert unpack(10, 3, zlib.compress(original.tobytes())).tolist() == original.tolist()


@pytest.mark.parametrize("truth", [Truth(np.array([0, 2, 1]), ("a", "b", "ü")), Truth(np.array([0.5, 1e9, -3.0]))])
def test_the_truth_is_read_beside_the_predictions(truth):
    packed = pack(chances(3, 3 if truth.labels else 1), truth=truth)

    found = truth_in(packed.n_rows, packed.data)

    assert found.y.tolist() == truth.y.tolist()
    assert found.labels == truth.labels


def test_without_a_truth_there_is_none():
    assert truth_in(3, pack(chances(3)).data) is None


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x01", b"\x02", b"\x02\x02\x00\x00\x00{}", b"x\x9c"]))
def test_foreign_bytes_are_refused_in_a_sentence(rest, beginning):
    data = beginning + rest

    # Whatever the bytes are, there is an answer or a sentence, never another exception.
    for read in (lambda: unpack(5, 2, data), lambda: truth_in(5, data)):
        assert read_or_refused(read)


def read_or_refused(read) -> bool:
    with suppress(BadRecord):
        read()
    return True


def test_a_stream_that_unpacks_to_more_than_it_says_is_refused():
    with pytest.raises(BadRecord, match="do not unpack to 40 bytes"):
        unpack(5, 2, zlib.compress(bytes(10_000_000)))
