"""Runs whose answer is known: `a` decides the score, `b` hardly, and small data sets want a small `leaves`."""

import numpy as np
import pandas as pd

from metaml.insight import AlgorithmRuns
from metaml.spaces import Choice, Float, Integer, Space

SPACE = Space(
    [
        Float("a", 0.01, 1.0, default=0.5, log=True),
        Float("b", 0.0, 1.0, default=0.5),
        Integer("leaves", 2, 64, default=31, log=True),
        Choice("kind", ("good", "bad"), default="good"),
    ]
)


def datasets(sizes: list[int]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "fingerprint": [f"f{k}" for k in range(len(sizes))],
            "name": [f"set {k}" for k in range(len(sizes))],
            "task": "binary",
            "n_rows": [float(size) for size in sizes],
            "n_columns": 10.0,
            "n_classes": 2.0,
        }
    )


def made_runs(n: int = 40, sizes: tuple[int, ...] = (100, 200, 1000, 2000), seed: int = 0) -> AlgorithmRuns:
    rng = np.random.default_rng(seed)
    configs, scores, groups, is_default = [], [], [], []
    for k, size in enumerate(sizes):
        drawn = [SPACE.default(), *SPACE.sample(n, rng)]
        for config in drawn:
            unit = SPACE.parameters[0].to_unit(config["a"])
            leaves = SPACE.parameters[2].to_unit(config["leaves"])
            wanted = 0.1 if size < 500 else 0.9
            score = 0.9 - 0.3 * (unit - 0.2) ** 2 - 0.05 * (leaves - wanted) ** 2 - 0.001 * float(config["b"])
            configs.append(config)
            scores.append(score - 0.1 * (config["kind"] == "bad"))
            groups.append(k)
        is_default += [True] + [False] * n
    flags = np.array(is_default)
    return AlgorithmRuns(
        "made",
        "accuracy",
        tuple(configs),
        np.array(scores),
        np.array(groups),
        np.where(flags, 0.0, 1.0),
        flags,
        datasets(list(sizes)),
        {"binary": SPACE},
    )


def made_grid(sizes: tuple[int, ...] = (100, 200, 1000, 2000)) -> AlgorithmRuns:
    """A full grid of two hyperparameters, on which small data sets want 2 leaves and large ones 6."""
    points = [{"leaves": leaves, "rate": rate} for leaves in (2, 3, 6, 11) for rate in (0.01, 0.05, 0.1)]
    configs = [dict(point) for _ in sizes for point in points]
    groups = np.repeat(np.arange(len(sizes)), len(points))
    wanted = np.array([2 if size < 500 else 6 for size in sizes])[groups]
    scores = [
        0.9 - 0.01 * abs(config["leaves"] - want) - abs(config["rate"] - 0.1)
        for config, want in zip(configs, wanted, strict=True)
    ]
    n = len(configs)
    return AlgorithmRuns(
        "grid",
        "accuracy",
        tuple(configs),
        np.array(scores),
        groups,
        np.ones(n),
        np.zeros(n, bool),
        datasets(list(sizes)),
    )
