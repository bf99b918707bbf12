"""A program that fits each algorithm in a process that has imported no other, and prints what the fit imported."""

import importlib
import os
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS, Algorithm

LIBRARIES = {"sklearn", "lightgbm", "xgboost", "catboost"}


def first_fit(algorithm: Algorithm) -> list[str]:
    """Return the modules of learning libraries that building and fitting import after those that are named."""
    for name in algorithm.modules:
        importlib.import_module(name)
    before = set(sys.modules)
    task = algorithm.tasks[0]
    config = algorithm.space(task).default()
    # How many trees there are does not change what is imported.
    config |= {name: min(config[name], 12) for name in ("n_estimators",) if name in config}
    algorithm.build(config, task=task, seed=0).fit(pd.DataFrame({"x": np.arange(60.0)}), np.arange(60) % 2)
    return [name for name in set(sys.modules) - before if name.split(".")[0] in LIBRARIES]


def in_a_fork(act: Callable[[], None]) -> None:
    """Do something in a process that has imported what this one has."""
    if os.fork() == 0:
        act()
        os._exit(0)
    os.wait()


def fit_each(algorithms: list[Algorithm]) -> None:
    """Fit each algorithm in a process of its own, and print its name and what the fit imported."""
    for algorithm in algorithms:
        in_a_fork(lambda found=algorithm: print(found.name, *first_fit(found), flush=True))


def fit_each_after_their_library(algorithms: list[Algorithm]) -> None:
    """The same for those that name modules of scikit-learn, each of which imports what is imported here once."""
    importlib.import_module("sklearn.base")
    fit_each(algorithms)


if __name__ == "__main__":
    # This process imports no library, so that a fork of it is as good as a new one.
    sharing = [found for found in ALGORITHMS.values() if any(name.startswith("sklearn.") for name in found.modules)]
    in_a_fork(lambda: fit_each_after_their_library(sharing))
    fit_each([found for found in ALGORITHMS.values() if found not in sharing])
