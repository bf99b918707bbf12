"""How long ranking runs anew takes, and how exact scores from stored predictions are.

python benchmarks/rerank.py --runs 10000 --rows 1000
"""

import argparse
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np

from metaml.evaluation.scoring import all_scores
from metaml.experience.rerank import rerank, rescored_runs
from metaml.metrics import METRICS
from metaml_kb import DatasetRecord, FoldPlanRecord, Run, open_kb
from metaml_kb.predictions import Truth, pack
from metaml_kb.predictions.reading import n_bytes_kept


def predictions(task: str, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return predictions of a random quality."""
    skill = rng.uniform(0.5, 6.0)
    if task == "regression":
        return (1e4 + 300 * truth + rng.normal(scale=300 / skill, size=len(truth)))[:, np.newaxis]
    logits = skill * np.eye(2 if task == "binary" else 4)[truth] + rng.normal(
        scale=2, size=(len(truth), 2 if task == "binary" else 4)
    )
    chances = np.exp(logits)
    return chances / chances.sum(axis=1, keepdims=True)


def fill(kb, task: str, form: str, n_runs: int, n_rows: int) -> None:
    """Store runs with their scores and their predictions."""
    rng = np.random.default_rng(0)
    kb.add_dataset(DatasetRecord(task, task, task=task, n_rows=n_rows))
    folds = np.arange(n_rows) % 5
    kb.add_fold_plan(FoldPlanRecord("five", n_folds=5, assignment=zlib.compress(folds.astype("<i2").tobytes())))
    drawn = rng.normal(size=n_rows) if task == "regression" else rng.integers(2 if task == "binary" else 4, size=n_rows)
    y = 1e4 + 300 * drawn if task == "regression" else drawn
    truth = Truth(y, () if task == "regression" else tuple("abcd"[: 2 if task == "binary" else 4]))

    def runs():
        for number in range(n_runs):
            values = predictions(task, drawn, rng)
            given = values[:, 0] if task == "regression" else values
            parts = [all_scores(task, y[folds == k], given[folds == k], y=y) for k in range(5)] if number < 200 else []
            scores = {name: [part[name] for part in parts] for name in parts[0]} if parts else {}
            packed = pack(values, form, truth if number % 20 == 0 else None)
            yield Run(
                dataset=task,
                algorithm="made",
                config={"n": number},
                fold_plan="five",
                scores=scores,
                predictions=packed,
            )

    kb.add_runs(runs(), chunk=500)


def largest_difference(kb, task: str) -> dict[str, float]:
    """Return the largest difference of a recomputed score from the stored one, by metric; relative if it has a unit."""
    stored = kb.runs(status="ok").set_index("run")
    found = {}
    for name, metric in METRICS.items():
        if task not in metric.tasks or name not in stored:
            continue
        for item in rescored_runs(kb, name):
            known = stored[name].reindex(list(item.runs)).to_numpy(float)
            scale = np.maximum(np.abs(known), 1e-12) if metric.is_in_target_unit else 1.0
            found[name] = float(np.nanmax(np.abs(item.scores - known) / scale))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for form in ("float16", "float32"):
            for task, n in (("binary", options.runs), ("multiclass", 200), ("regression", 200)):
                with open_kb(Path(folder) / f"{form}-{task}.db") as kb:
                    fill(kb, task, form, n, options.rows)
                    worst = largest_difference(kb, task) if n <= 200 else {}
                    size = n_bytes_kept(kb) / 1e6
                    print(
                        f"{form} {task}: {n} runs x {options.rows} rows, {size:.1f} MB",
                        *(f"{k} {v:.1e}" for k, v in worst.items()),
                    )
                    if n == options.runs:
                        for metric in ("f1", "roc_auc", "log_loss"):
                            start, used = time.perf_counter(), time.process_time()
                            rerank(kb, metric=metric)
                            seconds, busy = time.perf_counter() - start, time.process_time() - used
                            print(f"  rerank by {metric}: {seconds:.1f} s ({busy:.1f} s of CPU)")


if __name__ == "__main__":
    main()
