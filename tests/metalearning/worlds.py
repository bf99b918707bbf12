"""Synthetic run histories for which the best configuration is known."""

from collections.abc import Callable, Sequence

import numpy as np

from metaml.metalearning.history import RunHistory, make_history
from metaml_kb import DatasetRecord, KnowledgeBase, Run

Score = Callable[[float, float], float]


def rises_with_rows(rate: float, n_rows: float) -> float:
    """The best rate grows with the logarithm of the rows: 0.2 at a hundred rows, 0.8 at a million."""
    best = 0.2 + 0.15 * (np.log10(n_rows) - 2)
    return 0.9 - 0.5 * (rate - best) ** 2


def sizes(n: int) -> list[float]:
    return [float(size) for size in np.geomspace(100, 1_000_000, n).round()]


def make_synthetic(
    n_datasets: int = 12, n_runs: int = 30, score: Score = rises_with_rows, *, seed: int = 0
) -> RunHistory:
    """Return a run history with a numeric hyperparameter, and a nominal one that has no effect."""
    rng = np.random.default_rng(seed)
    configs, scores, groups, table = [], [], [], {}
    for k, n_rows in enumerate(sizes(n_datasets)):
        table[f"d{k}"] = {"NumberOfInstances": n_rows, "NumberOfFeatures": 5.0 + k % 3, "NumberOfClasses": 2.0}
        for rate in rng.random(n_runs):
            configs.append({"rate": float(rate), "word": str(rng.choice(["a", "b"]))})
            scores.append(score(float(rate), n_rows))
            groups.append(k)
    return make_history(
        "toy",
        "accuracy",
        datasets=list(table),
        groups=np.array(groups),
        configs=configs,
        scores=np.array(scores),
        metafeatures=table,
    )


def fill(
    base: KnowledgeBase,
    n_datasets: int,
    *,
    task: str = "binary",
    metric: str = "accuracy",
    n_runs: int = 8,
    names: Sequence[str] | None = None,
    is_described: bool = True,
) -> None:
    """Store runs of an algorithm "toy" on data sets d0, d1, ..."""
    rng = np.random.default_rng(0)
    for k, n_rows in enumerate(sizes(n_datasets)):
        fingerprint = f"{k:032x}"
        base.add_dataset(
            DatasetRecord(fingerprint, names[k] if names else f"d{k}", task=task, n_rows=int(n_rows), n_columns=4 + k)
        )
        if is_described:
            values = {"NumberOfInstances": n_rows, "NumberOfFeatures": 5.0 + k, "NumberOfClasses": 2.0}
            base.add_metafeatures(fingerprint, values, source="computed")
        base.add_runs(
            Run(
                dataset=fingerprint,
                algorithm="toy",
                config={"rate": float(rate), "word": "a"},
                scores={metric: [rises_with_rows(float(rate), n_rows)] * 2},
                fold_plan="2-fold",
                fit_seconds=float(rate),
            )
            for rate in rng.random(n_runs)
        )
