"""Ranks the runs of a knowledge base by a metric that nobody used before, from their stored predictions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.insight.rerank import rescored
from metaml.metrics import DEFAULT_METRICS, METRICS, Metric
from metaml.metrics import metric as find_metric
from metaml.metrics.costs import Costs
from metaml_kb import KnowledgeBase
from metaml_kb.predictions import Truth
from metaml_kb.predictions.reading import StoredPredictions, read_predictions, read_truth

MOST_NUMBERS = 10_000_000
"""So many numbers are unpacked at a time: 80 megabytes."""
COST = "cost"


@dataclass(frozen=True, eq=False)
class Rescored:
    """The runs of one data set with stored predictions: their keys and algorithms, and their scores by the metric."""

    dataset: str
    runs: tuple[str, ...]
    algorithms: tuple[str, ...]
    scores: Floats


def rerank(
    kb: KnowledgeBase,
    *,
    metric: str | None = None,
    costs: Mapping[tuple[str, str], float] | None = None,
    dataset: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return all complete runs with stored predictions, ranked anew on each data set by a metric or by costs.

    Columns: dataset, rank (1 is best), run, algorithm, the metric (a loss as a positive number), `was` (the rank by the
    metric that `tune` uses by default for the task) and fingerprint. `costs` has a number for pairs of a true class and
    a decision, and another error costs 1; the column is the mean cost of a row. `dataset` limits it to names or
    fingerprints. Raises `BadRequest` if no run has predictions that the metric is for, or if there is no such metric.
    """
    if (metric is None) == (costs is None):
        raise BadRequest("Ranking needs either a metric or costs. Give one of them.")
    label = COST if metric is None else find_metric(metric).name
    sign = -1 if metric is None or METRICS[label].is_loss else 1
    known = kb.datasets().set_index("fingerprint")
    frames = []
    for item in rescored_runs(kb, label, costs, dataset):
        frame = pd.DataFrame(
            {
                "dataset": str(known.loc[item.dataset, "name"]),
                "rank": pd.Series(item.scores).rank(ascending=False, method="min").astype("Int64"),
                "run": item.runs,
                "algorithm": item.algorithms,
                label.removeprefix("neg_"): sign * item.scores + 0.0,
                "was": _ranks_before(kb, item, str(known.loc[item.dataset, "task"])),
                "fingerprint": item.dataset,
            }
        )
        frames.append(frame.sort_values("rank", kind="stable"))
    if not frames:
        what = "" if dataset is None else " of such data sets"
        raise BadRequest(
            f"{kb.name} has no predictions{what} that {label.removeprefix('neg_')} could be computed from. "
            "Keep them with --keep-predictions of metaml bot or metaml tune."
        )
    return pd.concat(frames, ignore_index=True)


def rescored_runs(
    kb: KnowledgeBase,
    name: str,
    costs: Mapping[tuple[str, str], float] | None = None,
    dataset: str | Sequence[str] | None = None,
) -> Iterator[Rescored]:
    """Yield the new scores (higher is better) of each data set with stored predictions; `name` is a metric or cost."""
    for fingerprint, task in _with_predictions(kb, dataset):
        truth = read_truth(kb, fingerprint)
        if truth is None or (costs is None and task not in METRICS[name].tasks) or (costs and not truth.labels):
            continue
        judge = METRICS[name] if costs is None else Costs.of(costs, truth.labels)
        parts = list(_scored_parts(read_predictions(kb, fingerprint), truth, judge))
        if parts:
            runs, scores = zip(*parts, strict=True)
            stored = [item for part in runs for item in part]
            yield Rescored(
                fingerprint,
                tuple(item[0] for item in stored),
                tuple(item[1] for item in stored),
                np.concatenate(scores),
            )


def _with_predictions(kb: KnowledgeBase, dataset: str | Sequence[str] | None) -> list[tuple[str, str]]:
    """Return fingerprint and task of the data sets that have runs with predictions, by name."""
    query = (
        "SELECT DISTINCT dataset.name, dataset.fingerprint, dataset.task FROM prediction "
        "JOIN run ON run.id = prediction.run_id JOIN dataset ON dataset.id = run.dataset_id ORDER BY dataset.name"
    )
    names = None if dataset is None else {dataset} if isinstance(dataset, str) else set(dataset)
    rows = kb.sql(query).itertuples(index=False)
    return [(row[1], row[2]) for row in rows if names is None or names & {row[0], row[1]}]


def _scored_parts(
    stored: Iterator[StoredPredictions], truth: Truth, judge: Metric | Costs
) -> Iterator[tuple[list[tuple[str, str]], Floats]]:
    """Yield runs (key and algorithm) with their scores, as many at a time as are unpacked at a time."""
    batches: dict[str, list[StoredPredictions]] = defaultdict(list)
    for item in stored:
        if item.packed.n_rows != len(truth.y) or item.packed.n_columns != max(1, len(truth.labels)):
            continue
        batch = batches[item.fold_plan]
        batch.append(item)
        if len(batch) * item.packed.n_rows * item.packed.n_columns >= MOST_NUMBERS:
            yield _scored(batches.pop(item.fold_plan), truth, judge)
    for batch in batches.values():
        yield _scored(batch, truth, judge)


def _scored(
    items: Sequence[StoredPredictions], truth: Truth, judge: Metric | Costs
) -> tuple[list[tuple[str, str]], Floats]:
    values = np.stack([item.values for item in items])
    return [(item.run, item.algorithm) for item in items], rescored(judge, truth.y, items[0].folds, values)


def _ranks_before(kb: KnowledgeBase, item: Rescored, task: str) -> "pd.Series[int]":
    """Return the ranks by the stored scores of the default metric of a task; missing where a run has none."""
    name = DEFAULT_METRICS.get(task, "")  # type: ignore[call-overload]  # an unknown task has no default
    runs = kb.runs(dataset=item.dataset, status="ok").set_index("run")
    if name not in runs:
        return pd.Series([pd.NA] * len(item.runs), dtype="Int64")
    scores = runs[name].reindex(list(item.runs)).reset_index(drop=True)
    ranks: pd.Series[int] = scores.rank(ascending=False, method="min").astype("Int64")
    return ranks
