"""A program that fits each algorithm in a process that has imported no other, and prints what the fit imported."""

import importlib
import os
import sys

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
    algorithm.build(config, task=task, seed=0).fit(pd.DataFrame({"x": np.arange(60.0)}), np.arange(60) % 2)
    return [name for name in set(sys.modules) - before if name.split(".")[0] in LIBRARIES]


if __name__ == "__main__":
    # This process imports no library, so that a fork of it is as good as a new one.
    for found in ALGORITHMS.values():
        if os.fork() == 0:
            print(found.name, *first_fit(found), flush=True)
            os._exit(0)
        os.wait()
