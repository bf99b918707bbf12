"""What the boosters share: the rows that decide when to stop, and the settings that go with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from metaml.algorithms.base import Booster, Matrix, Rows, Vector
from metaml.spaces import Choice, Float, Integer, Parameter, When
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.algorithms.preprocessing import Head
    from metaml.data import Task

REFIT = "refit"
"""The parameter that asks for training on all rows once early stopping has found the number of rounds."""
MAX_ROUNDS = 1000
"""The largest number of rounds; even the smallest learning rate of the spaces has converged by then."""

_MAX_TREES = 5000
_MIN_ROUNDS = 100
_FEWEST_ROWS = 50
_FEWEST_COLUMNS = 2.001  # libraries round down
_MAX_ROUNDS_WITHOUT_STOPPING = 300


FIXED_ROUNDS = "metaml stops by held-out rows; here the number of rounds is fixed."
"""What a plain booster does differently."""


def stopping_parameters(when: When | None = None, *, patience: tuple[int, int, int] = (5, 50, 20)) -> list[Parameter]:
    """Return the parameters of early stopping: patience in rounds, held-out fraction, refit on all rows.

    `patience` are its least, its most and its default.
    """
    low, high, default = patience
    return [
        Integer("early_stopping_rounds", low, high, default=default, log=True, when=when),
        Float("validation_fraction", 0.1, 0.3, default=0.1, when=when),
        Choice(REFIT, (False, True), default=False, when=when),
    ]


def for_all_rows(config: Config) -> Config:
    """Return a configuration that learns from all rows that it is fitted to, also those that early stopping holds out.

    >>> for_all_rows({"refit": False, "depth": 3}), for_all_rows({"C": 1.0})
    ({'refit': True, 'depth': 3}, {'C': 1.0})
    """
    return {**config, REFIT: True} if REFIT in config else dict(config)


def boosted(
    config: Config, head: Head, model: Booster, *, task: Task, seed: int, n_threads: int, seconds: float | None
) -> BaseEstimator:
    """Return head and booster as one estimator; `config` may ask for early stopping."""
    from metaml.algorithms.tabular import tabular

    return tabular(
        task,
        config,
        head,
        model,
        holdout=config.get("validation_fraction", 0.0),
        refit=config.get(REFIT, False),
        seed=seed,
        n_threads=n_threads,
        seconds=seconds,
    )


def two_columns(chances: Matrix) -> Matrix:
    """Return the probabilities of all classes where a library gives that of the second class alone."""
    return np.column_stack([1 - chances, chances]) if chances.ndim == 1 else chances


def split_rows(y: Vector, n_classes: int | None, fraction: float, rng: np.random.Generator) -> tuple[Rows, Rows] | None:
    """Return training and held-out rows, or None if there are too few rows to tell when to stop.

    Every class keeps a member among the training rows, and gives its share to the held-out rows.
    """
    n = len(y)
    if n < _FEWEST_ROWS or fraction == 0:
        return None
    order = rng.permutation(n)
    if n_classes is None:
        held_out = order[: round(fraction * n)]
    else:
        members = [order[y[order] == code] for code in range(n_classes)]
        parts = [rows[: min(round(fraction * len(rows)), len(rows) - 1)] for rows in members]
        if sum(len(part) >= 2 for part in parts) < 2:
            return None
        held_out = np.concatenate(parts)
    is_held_out = np.zeros(n, dtype=bool)
    is_held_out[held_out] = True
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def share_of_columns(share: float, n_columns: int) -> float:
    """Return the share of columns for each tree: at least two columns, because one shows no interaction.

    >>> share_of_columns(0.7, 10), share_of_columns(0.7, 2)
    (0.7, 1.0)
    """
    return max(share, min(1.0, _FEWEST_COLUMNS / n_columns))


def max_rounds(n_classes: int) -> int:
    """Return the largest number of rounds; with three or more classes, each round grows one tree per class.

    >>> max_rounds(2), max_rounds(10), max_rounds(100)
    (1000, 500, 100)
    """
    return min(MAX_ROUNDS, max(_MAX_TREES // (n_classes if n_classes > 2 else 1), _MIN_ROUNDS))


def rounds_without_stopping(learning_rate: float) -> int:
    """Return a number of rounds for training data too small for held-out rows: slower learning, more rounds.

    >>> rounds_without_stopping(0.1)
    100
    """
    return min(_MAX_ROUNDS_WITHOUT_STOPPING, math.ceil(10 / learning_rate))
