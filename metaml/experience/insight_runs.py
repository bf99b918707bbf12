"""Reads from a knowledge base what `metaml.insight` computes with: runs of an algorithm, scores of all, sizes."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.experience.run_frames import Configs, value_codes, with_fingerprints
from metaml.insight import AlgorithmRuns, draw_weight, expected_best
from metaml.insight.runs import DATASET_COLUMNS
from metaml.metalearning.scales import comparable, within_groups
from metaml.spaces import Space
from metaml_kb import KnowledgeBase
from metaml_kb.frames import hyperparameter_columns

Rows = tuple[float, float]
"""The least and the largest number of rows of a data set, both included."""
ADDED = ("fingerprint", "score")
OTHER_SIZES = {"NumberOfInstances": "n_rows", "NumberOfFeatures": "n_columns", "NumberOfClasses": "n_classes"}
"""Metafeatures that tell the size of a data set whose record does not."""


def dataset_sizes(kb: KnowledgeBase) -> pd.DataFrame:
    """Return a row per data set (index: fingerprint): name, task and size. Metafeatures fill in unknown sizes."""
    known = kb.datasets().set_index("fingerprint", drop=False)
    sizes = known[["name", "task"]].assign(
        **{name: pd.to_numeric(known[name]).astype(np.float64) for name in OTHER_SIZES.values()}
    )
    described = kb.metafeatures().reindex(sizes.index)
    for quality, name in OTHER_SIZES.items():
        for source in (quality, name):
            if source in described:
                # OpenML counts the target as a feature.
                less = 1 if source == "NumberOfFeatures" else 0
                sizes[name] = sizes[name].fillna(described[source].astype(np.float64) - less)
    return sizes


def algorithm_runs(
    kb: KnowledgeBase,
    algorithm: str,
    *,
    metric: str,
    task: str | None = None,
    rows: Rows | None = None,
    datasets: Sequence[str] | None = None,
) -> AlgorithmRuns:
    """Return the complete runs of an algorithm that have a metric, on data sets of a task and of so many rows.

    `datasets` (fingerprints) are the only ones that are read; None reads all.

    Of each data set only the runs on one fold plan count, that with the most runs: scores on different folds or rows
    cannot be compared. Repetitions of a configuration are averaged. Raises `BadRequest` if nothing is left.
    """
    frame, scored = _scored(kb, algorithm, metric, datasets)
    sizes = _selected(dataset_sizes(kb), task, rows)
    frame = frame[frame["fingerprint"].isin(sizes.index)]
    if frame.empty:
        raise BadRequest(f"{kb.name} has no run of {algorithm} on such data sets. Ask for other rows or another task.")
    frame = _most_used_plan(frame)
    names = [name for name in hyperparameter_columns(frame) if name not in ADDED]
    frame = _averaged(frame, names)
    fingerprints, groups = np.unique(frame["fingerprint"].to_numpy(dtype=object).astype(str), return_inverse=True)
    found = sizes.loc[fingerprints].reset_index(names="fingerprint")[list(DATASET_COLUMNS)]
    spaces = _spaces(algorithm, found["task"])
    configs = tuple(Configs(frame, names))
    of_task = [spaces.get(str(word)) for word in found["task"].to_numpy()[groups]]
    scores = within_groups(frame["score"].to_numpy(np.float64), groups, partial(comparable, metric=scored))
    weights = [
        draw_weight(str(origin), None if math.isnan(chance) else chance, config, space)
        for origin, chance, config, space in zip(
            frame["origin"], frame["probability"].to_numpy(np.float64), configs, of_task, strict=True
        )
    ]
    is_default = [
        origin == "default" or (space is not None and config == space.default())
        for origin, config, space in zip(frame["origin"], configs, of_task, strict=True)
    ]
    return AlgorithmRuns(
        algorithm,
        scored,
        configs,
        scores,
        groups.astype(np.int64),
        np.array(weights),
        np.array(is_default),
        found,
        spaces,
    )


def score_table(
    kb: KnowledgeBase,
    *,
    metric: str,
    of: Literal["default", "best"] = "default",
    n: int = 5,
    task: str | None = None,
    rows: Rows | None = None,
    algorithms: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return the score of each algorithm (columns) on each data set (rows: fingerprints); NaN where there is none.

    `of` "default" is the score of the default configuration. "best" is what the best of `n` runs that no search
    proposed has on average, so that more runs are no advantage. Scores of a data set are all on the fold plan with the
    most algorithms and runs.
    """
    frame, _ = _scored(kb, None, metric)
    sizes = _selected(dataset_sizes(kb), task, rows)
    frame = frame[frame["fingerprint"].isin(sizes.index)]
    if algorithms is not None:
        frame = frame[frame["algorithm"].isin(list(algorithms))]
    wanted = ("default",) if of == "default" else ("default", "random", "imported", "grid")
    frame = _most_used_plan(frame[frame["origin"].isin(wanted)])
    grouped: Any = frame.groupby(["fingerprint", "algorithm"], observed=True)["score"]
    found = grouped.mean() if of == "default" else grouped.agg(lambda scores: expected_best(scores.tolist(), n))
    table: pd.DataFrame = found.unstack("algorithm").astype(np.float64)
    return table.loc[:, table.notna().any()]


def _scored(
    kb: KnowledgeBase, algorithm: str | None, metric: str, datasets: Sequence[str] | None = None
) -> tuple[pd.DataFrame, str]:
    """Return the complete runs that have a metric, with columns `fingerprint` and `score`, and the metric's name."""
    if algorithm is not None and not kb.has_algorithm(algorithm):
        known = ", ".join(kb.info()["runs_by_algorithm"]) or "none"
        raise BadRequest(f"{kb.name} has no run of {algorithm!r}. It has runs of: {known}.")
    frame = kb.runs(algorithm=algorithm, status="ok", dataset=datasets)
    metrics = frame.attrs.get("metrics", [])
    scored = next((name for name in (metric, f"neg_{metric}") if name in metrics), None)
    if scored is None or not frame[scored].notna().any():
        whose = "its runs" if algorithm is None else f"its runs of {algorithm}"
        known = ", ".join(name for name in metrics if frame[name].notna().any())
        raise BadRequest(f"{kb.name} has no {metric} of {whose}. It has: {known or 'no complete run'}.")
    frame = frame[frame[scored].notna()]
    frame = with_fingerprints(kb, frame, kb.datasets(), algorithm)
    frame = frame[frame[scored].notna()]
    return frame.assign(score=frame[scored].astype(np.float64)), scored


def _selected(sizes: pd.DataFrame, task: str | None, rows: Rows | None) -> pd.DataFrame:
    if task is not None:
        sizes = sizes[sizes["task"] == task]
    if rows is not None:
        sizes = sizes[sizes["n_rows"].between(*rows)]
    return sizes


def _most_used_plan(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of each data set on one fold plan: with the most algorithms, and of these the most runs."""
    counts: Any = frame.groupby(["fingerprint", "fold_plan"], observed=True)["algorithm"].agg(["nunique", "size"])
    ordered = counts.sort_values(["nunique", "size"], ascending=False, kind="stable").reset_index()
    chosen = ordered.drop_duplicates("fingerprint")[["fingerprint", "fold_plan"]]
    pairs = pd.MultiIndex.from_frame(chosen)
    kept = frame[pd.MultiIndex.from_frame(frame[["fingerprint", "fold_plan"]]).isin(pairs)]
    kept.attrs = frame.attrs
    return kept


def _averaged(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return one row for each configuration of each data set: the first, with the mean of the scores."""
    codes = value_codes(frame, ["fingerprint", *names])
    _, first, position = np.unique(codes, return_index=True, return_inverse=True)
    sums = np.bincount(position, frame["score"].to_numpy(np.float64))
    chosen = frame.iloc[first].assign(score=sums / np.bincount(position))
    return chosen.iloc[np.argsort(first, kind="stable")]


def _spaces(algorithm: str, tasks: Iterable[str]) -> dict[str, Space]:
    if algorithm not in ALGORITHMS:
        return {}
    known = {"binary", "multiclass", "regression"} & set(tasks)
    return {task: ALGORITHMS[algorithm].space(task) for task in sorted(known)}  # type: ignore[arg-type]  # a Task
