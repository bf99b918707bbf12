"""Recorded runs of other people as pools for look-up simulations; reads the shared folder beside the
repository.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.spaces.config import Config, Value

METADATA = Path(__file__).resolve().parents[2] / "shared" / "metadata"
MAX_POOL = 500

DECLARED_LOG: dict[str, tuple[str, ...]] = {
    "openml100 random_forest": (),
    "openml100 adaboost": ("learning_rate",),
    "openml100 svc": ("C", "gamma", "tol"),
    "hyperbench RandomForest": ("max_depth", "min_samples_split"),
    "hyperbench XGBoost": ("eta", "reg_lambda"),
    "hyperbench SVC": ("C", "gamma"),
    "hyperbench SGD": ("alpha", "eta0"),
    "optimus": (),
}
"""Parameters the authors of a table sampled on a log scale."""

SEVEN = tuple(name for name in DECLARED_LOG if name != "optimus")


def pools(table: str, metadata: Path = METADATA) -> list[RecordedRuns]:
    """Return the pools of one table, one for each data set, in the order of their names."""
    family, _, algorithm = table.partition(" ")
    reader: Callable[[str, Path], Iterator[RecordedRuns]] = {
        "openml100": _openml100,
        "hyperbench": _hyperbench,
        "optimus": _optimus,
    }[family]
    return list(reader(algorithm, metadata))


def _openml100(algorithm: str, metadata: Path) -> Iterator[RecordedRuns]:
    frame = pd.read_csv(metadata / "openml100-sklearn" / f"runs_{algorithm}.csv.gz")
    parameters = [c for c in frame.columns if c not in ("task_id", "predictive_accuracy")]
    for task, rows in frame.groupby("task_id"):
        yield RecordedRuns(
            f"openml:{task}", algorithm, _configs(rows[parameters]), rows["predictive_accuracy"].to_numpy()
        )


def _hyperbench(algorithm: str, metadata: Path) -> Iterator[RecordedRuns]:
    frame = pd.read_csv(metadata / "hyperboost-hyperbench" / f"runs_{algorithm}.csv.gz")
    frame = frame[frame["optimizer"] == "roar_x2"].drop_duplicates(["dataset", "config_id"])
    seen = frame.groupby("config_id")["dataset"].nunique()
    dense = np.sort(seen.index[seen == frame["dataset"].nunique()].to_numpy())
    if len(dense) > MAX_POOL:
        dense = np.sort(np.random.default_rng(0).choice(dense, MAX_POOL, replace=False))
    frame = frame[frame["config_id"].isin(dense)].sort_values("config_id")
    known = {"dataset", "optimizer", "seed", "config_index", "config_id", "n_evals", "loss", "time"}
    parameters = [c for c in frame.columns if c not in known]
    for dataset, rows in frame.groupby("dataset"):
        scores, seconds = 1.0 - rows["loss"].to_numpy(), rows["time"].to_numpy()
        yield RecordedRuns(str(dataset), algorithm, _configs(rows[parameters]), scores, seconds)


def _optimus(algorithm: str, metadata: Path) -> Iterator[RecordedRuns]:
    path = metadata / "optimus-rf-runtime" / "runs_random_forest.csv.gz"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[])
    known = {"task_id", "score", "time", "failed"}
    parameters = [c for c in frame.columns if c not in known]
    frame = frame.drop_duplicates(["task_id", *parameters])
    if algorithm == "measured":
        frame = frame[frame["failed"].astype(int) == 0]
    for task, rows in frame.groupby("task_id"):
        scores, seconds = rows["score"].to_numpy(float), rows["time"].to_numpy(float)
        yield RecordedRuns(f"openml:{task}", "random_forest", _configs(rows[parameters]), scores, seconds)


def _configs(frame: pd.DataFrame) -> tuple[Config, ...]:
    return tuple({str(k): _value(v) for k, v in row.items()} for row in frame.to_dict("records"))


def _value(value: object) -> Value:
    if value == "None":
        return None
    if isinstance(value, str):
        return {"True": True, "False": False}.get(value) if value in ("True", "False") else _number(value)
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]


def _number(text: str) -> Value:
    try:
        return int(text)
    except ValueError:
        return text
