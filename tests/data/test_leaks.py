"""A column that gives the target away is named; one that merely helps is not."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import Dataset, from_frame
from metaml.errors import BadDataset

RNG = np.random.default_rng(1)
N_ROWS = 600
HELPFUL = RNG.normal(size=N_ROWS)
CLASSES = np.where(HELPFUL + RNG.normal(size=N_ROWS) > 0, "yes", "no")
RARE = np.where(np.arange(N_ROWS) % 40 == 0, "rare", "common")
NUMBER = 3 * HELPFUL + RNG.normal(size=N_ROWS)


def dataset_with(target: object, **columns: object) -> Dataset:
    frame = pd.DataFrame({"helpful": HELPFUL, "noise": RNG.normal(size=N_ROWS), **columns})
    return from_frame(frame.assign(y=target), "y")


@pytest.mark.parametrize(
    ("target", "leak"),
    [
        (CLASSES, np.where(CLASSES == "yes", "paid", "open")),
        (CLASSES, (CLASSES == "yes") * 10 + RNG.normal(size=N_ROWS)),
        (CLASSES, np.where(CLASSES == "yes", 7.5, np.nan)),
        (RARE, np.where(RARE == "rare", 1.0, 0.0)),
        (NUMBER, NUMBER * 1.19),
        (NUMBER, np.exp(NUMBER / 5)),
    ],
    ids=["words", "noisy numbers", "missing cells", "a rare class", "a multiple", "another scale"],
)
def test_a_column_made_from_the_target_is_named(target: object, leak: object) -> None:
    (warning,) = dataset_with(target, **{"the leak": leak}).warnings

    assert warning.startswith("The column 'the leak' alone nearly determines 'y'.")
    assert warning.endswith("leave it out with --ignore 'the leak'.")


@pytest.mark.parametrize("target", [CLASSES, RARE, NUMBER], ids=["classes", "a rare class", "numbers"])
def test_columns_that_merely_help_are_not_suspicious(target: object) -> None:
    assert dataset_with(target).warnings == ()


def test_many_columns_are_named_together() -> None:
    columns = {f"leak{place}": CLASSES for place in range(12)}

    (warning,) = dataset_with(CLASSES, **columns).warnings

    assert warning.startswith("Each of 12 columns alone nearly determines 'y' (leak0, leak1, leak2")


def test_few_rows_do_not_prove_a_leak() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3, 4, 5, 6, 7, 8] * 1, "y": list("aaaabbbb")})

    assert from_frame(frame, "y").warnings == ()


def test_an_ignored_column_is_no_feature_and_no_leak() -> None:
    frame = pd.DataFrame({"leak": CLASSES, "helpful": HELPFUL, "y": CLASSES})

    dataset = from_frame(frame, "y", ignore=["leak"])

    assert dataset.X.columns.tolist() == ["helpful"]
    assert dataset.warnings == ()
    assert [str(repair) for repair in dataset.repairs] == ["leak: left out (as asked for)"]


@pytest.mark.parametrize(("ignore", "said"), [("leek", "Did you mean 'leak'"), ("y", "is the target")])
def test_a_column_that_cannot_be_ignored_is_refused(ignore: str, said: str) -> None:
    frame = pd.DataFrame({"leak": CLASSES, "helpful": HELPFUL, "y": CLASSES})

    with pytest.raises(BadDataset, match=said):
        from_frame(frame, "y", ignore=[ignore])
