"""The fingerprint depends on content, and on nothing else."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame, read_dataset

N_ROWS = 30


def table() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=N_ROWS),
            "b": rng.integers(0, 9, N_ROWS),
            "c": rng.choice(["red", "green", "dark blue"], N_ROWS),
            "d": rng.choice([0.1, 1e-7, 12345.678], N_ROWS),
            "y": rng.choice(["p", "q"], N_ROWS),
        }
    )
    frame.loc[[2, 5], "a"] = np.nan
    return frame


def write_arff(frame: pd.DataFrame, path: Path) -> None:
    kinds = {"c": "{red,green,'dark blue'}", "y": "{q,p}"}
    header = ["@relation x", *(f"@attribute {name} {kinds.get(name, 'numeric')}" for name in frame), "@data"]
    rows = [
        ",".join("?" if value != value else f"'{value}'" if " " in str(value) else repr(value) for value in row)
        for row in frame.astype(object).itertuples(index=False)
    ]
    path.write_text("\n".join(header + rows))


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "other.csv": lambda frame, path: frame.to_csv(path, index=False),
    "x.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "x.csv.gz": lambda frame, path: frame.to_csv(path, index=False, na_rep="NA"),
    "x.csv.zip": lambda frame, path: frame.to_csv(path, index=False, na_rep="?"),
    "x.parquet": lambda frame, path: frame.to_parquet(path),
    "x.arff": write_arff,
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_file_format_path_or_name_changes_it(tmp_path: Path, name: str) -> None:
    WRITERS[name](table(), tmp_path / name)

    assert read_dataset(tmp_path / name).fingerprint == from_frame(table(), name="else").fingerprint


def test_it_is_32_hexadecimal_digits() -> None:
    assert re.fullmatch("[0-9a-f]{32}", from_frame(table()).fingerprint)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.astype({"b": float}),
        lambda frame: frame.astype({"b": "int8", "c": object}),
        lambda frame: frame[["d", "c", "y", "b", "a"]],
        lambda frame: frame.assign(constant=1),
        lambda frame: frame.set_axis(np.arange(100, 100 + N_ROWS)),
    ],
    ids=["integers as floats", "other storage", "order of columns", "an unused column", "index"],
)
def test_it_stays_when_content_stays(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    assert from_frame(change(table()), target="y").fingerprint == from_frame(table()).fingerprint


def changed_value(frame: pd.DataFrame) -> pd.DataFrame:
    frame.loc[9, "d"] = np.nextafter(frame.loc[9, "d"], 1)
    return frame


@pytest.mark.parametrize(
    "change",
    [
        changed_value,
        lambda frame: frame.assign(a=frame["a"].fillna(0.0)),
        lambda frame: frame.assign(c=frame["c"].replace("red", "rot")),
        lambda frame: frame.assign(y=frame["y"].replace("p", "z")),
        lambda frame: frame.assign(y=frame["y"].map({"p": "q", "q": "p"})),
        lambda frame: frame.rename(columns={"a": "aa"}),
        lambda frame: frame.rename(columns={"a": "d", "d": "a"}),
        lambda frame: frame[::-1],
        lambda frame: frame.drop(columns="b"),
        lambda frame: frame.head(N_ROWS - 1),
    ],
    ids=[
        "last bit",
        "missing",
        "category",
        "label",
        "labels swapped",
        "name",
        "names swapped",
        "rows",
        "column",
        "row",
    ],
)
def test_it_changes_with_content(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    assert from_frame(change(table()), target="y").fingerprint != from_frame(table()).fingerprint


def test_another_target_or_task_is_another_data_set() -> None:
    fingerprints = {
        from_frame(table(), target="y").fingerprint,
        from_frame(table(), target="c").fingerprint,
        from_frame(table(), target="b", task="regression").fingerprint,
        from_frame(table(), target="b", task="multiclass").fingerprint,
    }

    assert len(fingerprints) == 4


def test_numbers_and_words_as_labels_are_the_same_labels() -> None:
    labels = np.tile([2, 10, 3], N_ROWS // 3)

    as_numbers = from_frame(table().assign(y=labels))
    as_words = from_frame(table().assign(y=labels.astype(str)))

    assert as_numbers.labels is not None
    assert as_words.labels is not None
    assert as_numbers.labels.tolist() != as_words.labels.tolist()
    assert as_numbers.fingerprint == as_words.fingerprint
