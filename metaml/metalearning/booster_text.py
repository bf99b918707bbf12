"""LightGBM models as compact text: parts that prediction and explanation do not need are left out (about half)."""

from typing import TYPE_CHECKING

from metaml.system.threads import importing

if TYPE_CHECKING:
    from lightgbm import Booster

UNREAD = ("leaf_weight", "internal_value", "internal_weight", "tree_sizes")
DIGITS = {"leaf_value": 6, "threshold": 8, "split_gain": 3}
"""Significant digits to write, by the name of the entry."""
END = "end of trees"


def compact_text(booster: "Booster") -> str:
    """Return a model as text that `Booster(model_str=...)` reads, its numbers rounded."""
    trees, _, _ = booster.model_to_string().partition(END)
    lines = []
    for line in trees.split("\n"):
        word, _, values = line.partition("=")
        if word in DIGITS:
            line = f"{word}=" + " ".join(f"{float(value):.{DIGITS[word]}g}" for value in values.split())
        if word not in UNREAD:
            lines.append(line)
    return "\n".join(lines) + END + "\n"


def booster_of(text: str) -> "Booster":
    """Return the model that was written as text; raise ValueError if it cannot be read."""
    with importing:
        import lightgbm
    try:
        return lightgbm.Booster(model_str=text)
    except lightgbm.basic.LightGBMError as error:
        raise ValueError(str(error)) from error
