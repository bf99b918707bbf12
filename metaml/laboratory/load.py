"""Loads recorded runs of a knowledge base as pools for simulations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from metaml.errors import BadRequest
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase
from metaml_kb.frames import hyperparameter_columns

LEAST = 20
"""A pool with fewer configurations is too small to compare optimizers."""


def pools_of(
    kb: KnowledgeBase,
    *,
    metric: str,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    least: int = LEAST,
    most: int = 500,
    seed: int = 0,
) -> dict[str, list[RecordedRuns]]:
    """Return the complete runs of each algorithm, a pool per data set, scored by a metric (higher is better).

    Repetitions of a configuration are averaged. Of a pool larger than `most`, a random sample is used. A pool
    smaller than `least`, or with equal scores only, is left out.
    """
    names = list(algorithms or kb.info()["runs_by_algorithm"])
    rng = np.random.default_rng(seed)
    pools: dict[str, list[RecordedRuns]] = {}
    for algorithm in names:
        frame = kb.runs(algorithm=algorithm, dataset=datasets, status="ok")
        scored = next((name for name in (metric, f"neg_{metric}") if name in frame), None)
        if scored is None:
            continue
        for dataset, runs in frame.dropna(subset=[scored]).groupby("dataset", sort=True):
            pool = _pool(str(dataset), algorithm, runs, scored, most, rng)
            if len(pool.configs) >= least and not pool.is_flat:
                pools.setdefault(algorithm, []).append(pool)
    if not pools:
        raise BadRequest(
            f"{kb.name} has no data set with {least} complete runs of one algorithm scored by {metric!r}. "
            "Make some with metaml bot, or choose another --metric."
        )
    return pools


def metafeatures_of(kb: KnowledgeBase) -> pd.DataFrame:
    """Return the metafeatures of each data set by its name; those of data sets that share a name are left out."""
    named = kb.datasets().drop_duplicates("name", keep=False).set_index("fingerprint")["name"]
    table = kb.metafeatures()
    table = table[table.index.isin(named.index)]
    return table.set_index(named.loc[table.index].to_numpy())


def _pool(
    dataset: str, algorithm: str, runs: pd.DataFrame, metric: str, most: int, rng: np.random.Generator
) -> RecordedRuns:
    scores: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    configs: dict[str, Config] = {}
    for config, score, spent in zip(
        configs_of(runs), runs[metric], runs["fit_seconds"].fillna(0) + runs["predict_seconds"].fillna(0), strict=True
    ):
        key = repr(sorted(config.items()))
        configs[key] = config
        scores.setdefault(key, []).append(float(score))
        seconds.setdefault(key, []).append(float(spent))
    keys = list(configs)
    if len(keys) > most:
        keys = [keys[place] for place in sorted(rng.permutation(len(keys))[:most])]
    spent = np.array([np.mean(seconds[key]) for key in keys])
    return RecordedRuns(
        dataset,
        algorithm,
        tuple(configs[key] for key in keys),
        np.array([np.mean(scores[key]) for key in keys]),
        spent if spent.all() else None,
    )


def configs_of(runs: pd.DataFrame) -> list[Config]:
    """Return the configuration of each run of a frame from `kb.runs`, inactive hyperparameters left out."""
    rows: list[dict[Any, Any]] = runs[hyperparameter_columns(runs)].astype(object).to_dict("records")
    return [
        {name.removeprefix("config."): value for name, value in row.items() if value is None or value == value}
        for row in rows
    ]
