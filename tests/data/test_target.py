"""Which column is the target, which task it asks for, and its labels in their original type."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame, read_dataset
from metaml.errors import BadDataset

N_ROWS = 240
RNG = np.random.default_rng(3)


def frame_with(target: Any) -> pd.DataFrame:
    n_rows = len(target)
    return pd.DataFrame(
        {"a": np.random.default_rng(0).normal(size=n_rows), "b": ["u", "v"] * (n_rows // 2), "y": target}
    )


def cycled(*values: Any) -> list[Any]:
    return [values[row % len(values)] for row in range(N_ROWS)]


TARGETS: list[tuple[str, Any, str]] = [
    ("two words", cycled("yes", "no"), "binary"),
    ("three words", cycled("red", "green", "blue"), "multiclass"),
    ("truth values", cycled(True, False), "binary"),
    ("truth values with gaps", cycled(True, False, None), "binary"),
    ("0 and 1", cycled(0, 1), "binary"),
    ("-1 and 1", cycled(-1, 1), "binary"),
    ("two floats", cycled(0.5, 1.5), "binary"),
    ("0.0 and 1.0 with gaps", cycled(0.0, 1.0, np.nan), "binary"),
    ("five whole numbers", cycled(1, 2, 3, 4, 5), "multiclass"),
    ("whole floats", cycled(1.0, 2.0, 3.0), "multiclass"),
    ("ten digits", cycled(*range(10)), "multiclass"),
    ("skewed class codes 1-15", RNG.permutation(np.repeat(np.arange(1, 16), np.arange(9, 24))), "multiclass"),
    ("24 balanced codes", cycled(*range(100, 124)), "multiclass"),
    ("26 letters", cycled(*"abcdefghijklmnopqrstuvwxyz"), "multiclass"),
    ("declared category of numbers", pd.Categorical(cycled(*range(30))), "multiclass"),
    ("measurements", RNG.normal(size=N_ROWS), "regression"),
    ("few values with fractions", cycled(0.1, 0.2, 0.3, 0.4), "regression"),
    ("prices", RNG.integers(100, 100_000, N_ROWS), "regression"),
    ("marks 0-20", np.clip(RNG.normal(11, 4, N_ROWS).round(), 0, 20).astype(int), "regression"),
    ("tens from 0 to 100", RNG.choice(np.arange(0, 101, 10), N_ROWS, p=np.arange(1, 12) / 66), "regression"),
    ("counts with a thin tail", np.append(RNG.poisson(4, N_ROWS - 2), [17, 23]), "regression"),
    ("numbers as text", [f"{value:.3f}" for value in RNG.normal(size=N_ROWS)], "regression"),
    ("codes as text", cycled("1", "2", "3"), "multiclass"),
    ("ages", RNG.integers(18, 80, N_ROWS), "regression"),
]


@pytest.mark.parametrize(("target", "task"), [row[1:] for row in TARGETS], ids=[row[0] for row in TARGETS])
def test_the_values_of_a_target_tell_the_task(target: Any, task: str) -> None:
    assert from_frame(frame_with(target)).task == task


@pytest.mark.parametrize(
    ("target", "labels", "dtype"),
    [
        (cycled("yes", "no"), ["no", "yes"], object),
        (cycled(True, False), [False, True], np.bool_),
        (cycled(True, False, None), [False, True], np.bool_),
        (cycled(3, 1, 2), [1, 2, 3], np.int64),
        (np.array(cycled(3, 1, 2), dtype=np.uint8), [1, 2, 3], np.uint8),
        (cycled(1.0, 2.0), [1.0, 2.0], np.float64),
        (cycled(1.0, 2.0, np.nan), [1, 2], np.int64),
        (pd.Categorical(cycled(10, 9)), [9, 10], np.int64),
        (pd.array(cycled(5, 6, None), dtype="Int64"), [5, 6], np.int64),
        (cycled("1", "2"), ["1", "2"], object),
        (cycled(2**53 + 1, 2**53), [2**53, 2**53 + 1], np.int64),
        (pd.array(cycled(2**62 + 1, 5, None), dtype="Int64"), [5, 2**62 + 1], np.int64),
        (np.array(cycled(2**64 - 1, 2**64 - 2), dtype=np.uint64), [2**64 - 2, 2**64 - 1], np.uint64),
    ],
)
def test_labels_come_back_in_their_original_type(target: Any, labels: list[Any], dtype: Any) -> None:
    dataset = from_frame(frame_with(target))

    assert dataset.labels is not None
    assert dataset.labels.tolist() == labels
    assert dataset.labels.dtype == dtype
    assert dataset.y.dtype == np.int64
    kept = pd.Series(target)[dataset.rows]
    assert (dataset.labels[dataset.y] == kept.to_numpy()).all()


@pytest.mark.parametrize(
    ("codes", "labels"),
    [(["01", "02", "10"], ["01", "02", "10"]), (["01", "1", ""], ["01", "1"]), (["1", "2", "10"], [1, 2, 10])],
)
def test_codes_in_a_file_keep_their_zeros_as_labels(tmp_path: Path, codes: list[str], labels: list[Any]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("code,a,y\n" + "".join(f"0{row % 9},{row / 7},{code}\n" for row, code in enumerate(codes * 20)))

    dataset = read_dataset(path)

    assert dataset.labels is not None
    assert dataset.labels.tolist() == labels
    assert [column.kind for column in dataset.columns] == ["numeric", "numeric"]


def test_measurements_in_a_file_may_begin_with_zeros(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,y\n" + "".join(f"{row / 7},{row * row:05}\n" for row in range(60)))

    dataset = read_dataset(path)

    assert dataset.task == "regression"
    assert dataset.y.tolist() == [float(row * row) for row in range(60)]


def test_regression_targets_are_floats_without_gaps() -> None:
    target = np.append(RNG.normal(size=20), [np.nan, np.inf])

    dataset = from_frame(frame_with(target))

    assert dataset.y.dtype == np.float64
    assert dataset.labels is None
    assert np.array_equal(dataset.y, target[:20])
    assert [repair.what for repair in dataset.repairs] == ["1 row dropped", "1 row dropped"]


def test_the_last_column_is_the_target_unless_one_is_named() -> None:
    frame = frame_with(cycled("p", "q"))

    guessed, named = from_frame(frame), from_frame(frame, target="b")

    assert (guessed.target, guessed.target_was_guessed) == ("y", True)
    assert (named.target, named.target_was_guessed) == ("b", False)


def test_a_target_can_be_asked_to_be_classes_or_numbers() -> None:
    frame = frame_with(cycled(1, 2, 3))

    assert from_frame(frame, task="regression").y.dtype == np.float64
    assert from_frame(frame, task="multiclass").labels is not None
    assert from_frame(frame_with(RNG.choice([0.1, 0.2, 0.3], N_ROWS)), task="multiclass").task == "multiclass"


def test_two_labels_are_binary_even_if_multiclass_is_asked() -> None:
    dataset = from_frame(frame_with(cycled(1, 2)), task="multiclass")

    assert dataset.task == "binary"
    assert "y: taken as binary, not multiclass (it has two labels)" in map(str, dataset.repairs)


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (cycled("a", "b"), {"target": "yy"}, "no column 'yy'. Columns: a, b, y. Did you mean 'y'?"),
        (cycled("a", "b"), {"target": "Y"}, "Did you mean 'y'?"),
        (cycled("a", "b"), {"task": "regression"}, "holds words ('a', 'b')"),
        (cycled("a", "b"), {"task": "clustering"}, "no task 'clustering'"),
        (cycled(1, 2, 3), {"task": "binary"}, "has 3 labels, not two"),
        (cycled("a"), {}, "only one class ('a')"),
        (cycled(5.0), {"task": "binary"}, "only one class (5.0)"),
        ([*["a"] * (N_ROWS - 1), "b"], {}, "only one class ('a') with more than one row (1 row of others dropped), so"),
        (cycled(2.5), {}, "same value in every row"),
        (cycled(None), {"target": "y"}, "every cell is missing"),
        ([f"word{row}" for row in range(N_ROWS)], {}, "240 different labels in 240 rows"),
        (pd.date_range("2020-01-01", periods=N_ROWS), {}, "holds dates"),
        (["a", "b", "a", "b"], {}, "4 usable rows of 4"),
    ],
)
def test_a_hopeless_target_is_refused_in_a_sentence(target: Any, options: dict[str, str], says: str) -> None:
    with pytest.raises(BadDataset) as refused:
        from_frame(frame_with(target), **options)  # type: ignore[arg-type]

    assert says in str(refused.value)
    assert str(refused.value).endswith((".", "?"))
    assert "\n" not in str(refused.value)


def test_a_last_column_that_is_empty_is_not_passed_over_in_silence():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": list("xyxy"), "y": [None] * 4})

    with pytest.raises(BadDataset, match="The target 'y' has no value at all"):
        from_frame(frame)


def test_what_stands_behind_a_trailing_separator_is_no_target():
    frame = pd.DataFrame({"a": np.arange(6.0), "c": list("xyxyxy"), "Unnamed: 2": [None] * 6})

    assert from_frame(frame).target == "c"


@pytest.mark.parametrize(("as_text", "task"), [(False, None), (False, "regression"), (True, "regression")])
def test_a_target_of_huge_numbers_is_not_called_missing(as_text: bool, task: str | None) -> None:
    target = [f"{1 + row % 90}e305" if as_text else (1 + row % 90) * 1e305 for row in range(N_ROWS)]

    with pytest.raises(BadDataset, match=r"infinite or beyond ±1e\+300"):
        from_frame(frame_with(target), task=task)
