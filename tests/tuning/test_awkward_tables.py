"""Tables as they come: whatever the csv looks like, a model that predicts comes out."""

import uuid

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.evaluation import Limits, LocalExecutor
from metaml.search.settings import TuneSettings
from metaml.tuning.run import tune
from tests.tuning.sessions import FAST


def table(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["x", "y", "z"], n)})
    return frame.assign(y=np.where(frame["a"] + 0.3 * rng.normal(size=n) > 0, "yes", "no"))


def tuned(frame: pd.DataFrame, one_worker: LocalExecutor, **changes):
    dataset = from_frame(frame, target="y")
    fields = {"algorithms": FAST, "seconds": None, "n_iterations": 2, "n_folds": 3, "limits": Limits(60.0)}
    return tune(dataset, TuneSettings(**{**fields, **changes}), executor=one_worker)


def rare_classes() -> pd.DataFrame:
    y = np.repeat(["a", "b", "c", "d"], [500, 30, 3, 1])
    return pd.DataFrame({"x": np.arange(534.0) + (y == "b") * 1000, "z": np.arange(534) % 7, "y": y})


def with_dates() -> pd.DataFrame:
    days = pd.date_range("2024-01-01", periods=120).astype(str)
    return table().assign(day=days, empty=np.nan, same=1, y=np.arange(120.0) + np.arange(120) % 7)


def wide() -> pd.DataFrame:
    columns = pd.DataFrame(np.random.default_rng(3).normal(size=(40, 200))).add_prefix("w")
    return columns.assign(y=table(40)["y"])


TARGETS = {
    "numbers": np.arange(60) * 1.5,
    "whole numbers": np.arange(60),
    "negative numbers": -(np.arange(60.0) ** 2),
    "numbers as words": [f"{k}.5" for k in range(60)],
    "numbers with units that repeat": ["5 kg", "6 kg"] * 30,
    "thousands": [f"{k},000" for k in range(60)],
    "huge numbers": 1e200 * np.arange(60.0),
    "tiny numbers": 1e-200 * (1 + np.arange(60.0)),
    "zero and one": [0, 1] * 30,
    "one and two": [1, 2] * 30,
    "minus one and one": [-1, 1] * 30,
    "zero and one as fractions": [0.0, 1.0] * 30,
    "booleans": [True, False] * 30,
    "words": ["yes", "no"] * 30,
    "words with spaces": [" a", "b "] * 30,
    "unicode words": ["ä", "日本"] * 30,
    "three numbers": [1, 2, 3] * 20,
    "grades": ["A", "B", "C", "D", "E"] * 12,
    "ten digits": list(range(10)) * 6,
    "some missing": [*["yes", "no"] * 29, None, None],
    "categories": pd.Categorical(["low", "high"] * 30),
    "mixed words and numbers": ["1", "two"] * 30,
}


@pytest.mark.parametrize("kind", TARGETS)
def test_every_kind_of_target_gets_a_model(kind, one_worker):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": np.arange(60.0) % 2 + 0.1 * rng.normal(size=60), "y": TARGETS[kind]})

    result = tuned(frame, one_worker, algorithms=("decision_tree",), n_iterations=1)

    predictions = result.finished.model.predict(frame.drop(columns="y"))
    assert result.finished.kind == "single"
    assert len(predictions) == 60


@pytest.mark.parametrize(
    "frame",
    [
        table(5).assign(y=["yes", "no", "yes", "no", "yes"]),
        table()[["a", "y"]],
        rare_classes(),
        with_dates(),
        wide(),
    ],
    ids=["five rows", "one feature", "rare classes", "dates and empty columns", "more columns than rows"],
)
def test_awkward_shapes_get_a_model(frame, one_worker):
    result = tuned(frame, one_worker)

    predictions = result.finished.model.predict(frame.drop(columns="y"))
    assert result.finished.kind in ("single", "ensemble")
    assert len(predictions) == len(frame)


def test_identifiers_change_nothing(one_worker):
    plain = table(200)
    numbers = np.random.default_rng(2).permutation(200) + 10_000
    words = [str(uuid.UUID(int=int(k), version=4)) for k in numbers]

    with_ids = tuned(plain.assign(id=np.arange(200), key=words)[["id", "key", "a", "b", "c", "y"]], one_worker)

    assert with_ids.finished.score == pytest.approx(tuned(plain, one_worker).finished.score, abs=1e-12)


def test_a_rare_positive_class_gets_its_own_threshold(one_worker):
    rng = np.random.default_rng(0)
    a = rng.normal(size=600)
    frame = pd.DataFrame({"a": a, "y": np.where(a + rng.normal(size=600) > 2.2, "rare", "usual")})

    result = tuned(frame, one_worker, metric="f1", algorithms=("k_neighbors",), n_iterations=3)

    assert result.found.metric == "f1"
    assert result.finished.score >= max(trial.score for trial in result.found.trials)
