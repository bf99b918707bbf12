"""The runs of a data set whose predictions were kept, as arrays: the score of any ensemble of them is looked up."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats, Positions
from metaml.data import Task
from metaml.ensemble.selection import score
from metaml.errors import BadRequest
from metaml.evaluation import default_metric
from metaml.experience.run_frames import Configs
from metaml.metalearning.fidelity import sampled
from metaml.metalearning.portfolio import AlgorithmConfig
from metaml.metrics import METRICS, metric
from metaml_kb import KnowledgeBase
from metaml_kb.frames import hyperparameter_columns
from metaml_kb.predictions.reading import StoredPredictions, read_predictions, read_truth

LEAST_RUNS = 5
"""With fewer runs on the same rows, there is nothing to choose from."""
UNUSED = -1
TASKS: Mapping[str, Task] = {"binary": "binary", "multiclass": "multiclass", "regression": "regression"}


@dataclass(frozen=True, eq=False)
class KeptRuns:
    """Runs on one data set and one fold plan, with their predictions of the rows that all of them predicted.

    `predictions` are candidates × rows (× classes). `folds` has the fold that tested each row; `UNUSED` are rows that
    no fold used, which have the mean of the models of all folds: on these the final model is judged, if there are any.
    `dataset` says how many rows were used (see `metaml.metalearning.fidelity`).
    """

    dataset: str
    name: str
    task: Task
    metric: str
    candidates: tuple[AlgorithmConfig, ...]
    predictions: Array
    truth: Array
    folds: Positions
    scores: Floats
    seconds: Floats
    metafeatures: Mapping[str, float]

    def loss(self, prediction: Array, rows: Array) -> float:
        """Return the logarithm of how far a prediction of these rows is from a perfect one: differences are ratios."""
        known = metric(self.metric)
        gap = known.highest - score(prediction, self.truth[rows], self.metric)
        return float(np.log(max(gap, 1e-6)))


def kept_runs(
    kb: KnowledgeBase, *, metric: str | None = None, datasets: Collection[str] = (), least: int = LEAST_RUNS
) -> list[KeptRuns]:
    """Return the runs with kept predictions: an item for each data set and fold plan with at least `least` of them.

    `datasets` are names or fingerprints; none means all. Without a `metric`, each task's usual one is used. Raises
    `BadRequest` if no predictions were kept.
    """
    found = []
    described = kb.metafeatures()
    for row in kb.datasets().itertuples():
        fingerprint, name = str(row.fingerprint), str(row.name)
        task = TASKS.get(str(row.task))
        used = metric or (default_metric(task) if task else "")
        if task is None or (datasets and not {name, fingerprint} & set(datasets)):
            continue
        if task not in METRICS[used].tasks or (truth := read_truth(kb, fingerprint)) is None:
            continue
        plans: dict[str, list[StoredPredictions]] = {}
        for item in read_predictions(kb, fingerprint):
            if item.folds is not None and item.packed.n_rows == len(truth.y):
                plans.setdefault(item.fold_plan, []).append(item)
        facts = _facts(described, fingerprint)
        enough = [items for items in plans.values() if len(items) >= least]
        found += [_kept(kb, fingerprint, name, task, used, items, truth.y, facts) for items in enough]
    if not found:
        raise BadRequest(
            f"{kb.name} has no data set with {least} runs whose predictions were kept. "
            "Make some with: metaml bot FOLDER --keep-predictions"
        )
    return found


def _facts(described: pd.DataFrame, fingerprint: str) -> dict[str, float]:
    if fingerprint not in described.index:
        return {}
    row = described.loc[fingerprint]
    return dict(zip(map(str, row.index), row.to_numpy(np.float64).tolist(), strict=True))


def _kept(
    kb: KnowledgeBase,
    fingerprint: str,
    name: str,
    task: Task,
    metric_name: str,
    items: list[StoredPredictions],
    truth: Array,
    metafeatures: Mapping[str, float],
) -> KeptRuns:
    runs: dict[str, tuple[AlgorithmConfig, float]] = {}
    for algorithm in dict.fromkeys(item.algorithm for item in items):
        frame = kb.runs(algorithm=algorithm, dataset=fingerprint, status="ok")
        spent = [np.nan_to_num(frame[name].to_numpy(np.float64)) for name in ("fit_seconds", "predict_seconds")]
        seconds = spent[0] + spent[1]
        configs = Configs(frame, hyperparameter_columns(frame))
        for place, run in enumerate(frame["run"]):
            runs[str(run)] = ((algorithm, configs[place]), float(seconds[place]))
    folds = np.asarray(items[0].folds)
    values = [item.values for item in items]
    known = np.logical_and.reduce([np.isfinite(value).all(axis=1) for value in values])
    rows = np.flatnonzero(known & (folds >= UNUSED))
    stack = np.stack([value[rows] for value in values])
    if stack.shape[2] == 1:
        stack = stack[:, :, 0]
    tested = folds[rows] != UNUSED
    n_used = int((folds != UNUSED).sum())
    return KeptRuns(
        dataset=fingerprint if n_used == len(folds) else sampled(fingerprint, n_used),
        name=name,
        task=task,
        metric=metric_name,
        candidates=tuple(runs[item.run][0] for item in items),
        predictions=stack,
        truth=truth[rows],
        folds=folds[rows].astype(np.int64),
        scores=np.array(
            [score(one[tested], truth[rows][tested], metric_name, folds=folds[rows][tested]) for one in stack]
        ),
        seconds=np.array([runs[item.run][1] for item in items]),
        metafeatures={**metafeatures, "NumberOfInstances": float(n_used)},
    )
