"""The text of a LightGBM model is checked before LightGBM reads it."""

import re
from functools import cache

import pytest

from metaml.algorithms.formats.lightgbm_text import checked_text
from tests.model.conftest import model_of


@cache
def text_of(task: str = "binary") -> str:
    booster = model_of(task, ["lightgbm"]).members[0].estimators[0].model_.booster_
    return str(booster.model_to_string())


def changed(key: str, value: str) -> str:
    """Return a text with another first value of a line of the first tree that has it, and sizes that fit."""
    text = text_of()
    before = re.search(rf"\n{key}=(\S+)", text)
    assert before is not None
    text = text.replace(before.group(0), f"\n{key}={value}", 1)
    trees = [f"Tree={piece}" for piece in text.split("\nend of trees")[0].split("\nTree=")[1:]]
    sizes = " ".join(str(len(tree.encode()) + 1) for tree in trees)
    return re.sub(r"tree_sizes=[\d ]+", f"tree_sizes={sizes}", text)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_what_lightgbm_wrote_is_accepted(task: str) -> None:
    assert checked_text(text_of(task)) == text_of(task)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("split_feature", "99", "columns that are not there"),
        ("split_feature", "-1", "columns that are not there"),
        ("left_child", "0", "points outside itself"),
        ("right_child", "9999", "points outside itself"),
        ("left_child", "-9999", "points outside itself"),
        ("num_leaves", "77", "list of the wrong length"),
        ("num_leaves", "99999999999", "not a whole number"),
        ("decision_type", "64", "unknown way"),
        ("is_linear", "1", "unknown kind"),
        ("num_class", "5", "impossible header"),
        ("max_feature_idx", "2", "name its columns"),
    ],
)
def test_a_text_that_leads_outside_is_refused(key: str, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        checked_text(changed(key, value))


def test_sizes_that_do_not_fit_are_refused() -> None:
    text = re.sub(r"tree_sizes=\d+", "tree_sizes=7", text_of())

    with pytest.raises(ValueError, match="other sizes"):
        checked_text(text)


def test_a_text_that_is_cut_is_refused() -> None:
    with pytest.raises(ValueError, match="cut short"):
        checked_text(text_of()[:500])
