"""A small table with numbers, categories, dates and holes, and models of it."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.model import Model, fit_member


def table(task="binary", n=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 50, size=n),
            "colour": rng.choice(["red", "green", "blue"], size=n),
            "zone": rng.choice(["1", "2", "3", "4"], size=n),
            "open": rng.choice(["yes", "no"], size=n),
        }
    )
    signal = frame["size"] + (frame["colour"] == "red") + 0.3 * rng.normal(size=n)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    if task == "regression":
        frame["y"] = 1000 * signal
    elif task == "binary":
        frame["y"] = np.where(signal > 0.3, "good", "bad")
    else:
        frame["y"] = np.digitize(signal, [-0.2, 0.8]) * 10
    return frame


LIGHT = [("n_estimators", 10), ("width", 16), ("batch_size", 256), ("early_stopping_rounds", 5)]
LIGHT += [("learning_rate", 0.03), ("learning_rate", 0.3)]


def cheap(config, task, name):
    """The same configuration with little work to do, as far as its space allows."""
    space = ALGORITHMS[name].space(task)
    for parameter, value in LIGHT:
        lighter = {**config, parameter: value}
        config = lighter if parameter in config and space.is_valid(lighter) else config
    return config


def model_of(task="binary", names=("decision_tree",), *, n_rows=70, configs=None, **options):
    dataset = from_frame(table(task, n=n_rows), target="y", name="toys")
    members = [
        fit_member(dataset, ALGORITHMS[name], cheap(config, task, name), seed=1)
        for name in names
        for config in configs or [ALGORITHMS[name].space(task).default()]
    ]
    return Model.of(dataset, members, metric="accuracy", **options)


@pytest.fixture
def make_table():
    """The function that makes the table."""
    return table


@pytest.fixture
def make_model():
    """The function that makes a model of the table."""
    return model_of
