"""The bytes of an XGBoost model are checked before XGBoost reads them."""

import struct
from functools import cache

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.formats.xgboost_ubj import checked_model
from tests.model.conftest import model_of


@cache
def bytes_of(task: str = "binary", booster: str = "gbtree") -> bytes:
    space = ALGORITHMS["xgboost"].space(task)  # type: ignore[arg-type]
    configs = [space.default(), *space.sample(30, np.random.default_rng(0))]
    config = next(config for config in configs if config["booster"] == booster)
    model = model_of(task, ["xgboost"], configs=[config]).members[0].estimators[0].model_
    return bytes(model.booster_.save_raw("ubj"))


def with_first_number(name: str, value: int) -> bytes:
    """Return the bytes with another first number in the first list of 32-bit integers of this name."""
    content = bytearray(bytes_of())
    place = content.index(name.encode()) + len(name)
    assert content[place : place + 5] == b"[$l#L"
    start = place + 5 + 8
    content[start : start + 4] = struct.pack(">i", value)
    return bytes(content)


@pytest.mark.parametrize("booster", ["gbtree", "gblinear", "dart"])
@pytest.mark.parametrize(("task", "n_classes"), [("binary", 1), ("multiclass", 3), ("regression", 1)])
def test_what_xgboost_wrote_is_accepted(task: str, n_classes: int, booster: str) -> None:
    assert checked_model(bytes_of(task, booster))[1] == n_classes


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("left_children", 0, "points outside itself"),
        ("left_children", 99_999, "points outside itself"),
        ("right_children", -5, "points outside itself"),
        ("split_indices", 500, "columns that are not there"),
        ("split_indices", -1, "columns that are not there"),
    ],
)
def test_a_tree_that_leads_outside_is_refused(name: str, value: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        checked_model(with_first_number(name, value))


@pytest.mark.parametrize("n_bytes", [1, 20, 400])
def test_bytes_that_are_cut_are_refused(n_bytes: int) -> None:
    with pytest.raises((ValueError, KeyError)):
        checked_model(bytes_of()[:-n_bytes])


def test_bytes_that_follow_are_refused() -> None:
    with pytest.raises(ValueError, match="bytes follow"):
        checked_model(bytes_of() + b"Z")
