"""How long does it take to explain 1,000 rows by an ensemble of ten members, and how exact are the sums?

Run: python benchmarks/explanations.py
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame, read_frame
from metaml.model import Model, fit_member
from metaml.model.sample import sample_of
from metaml.splits import make_plan

DATASETS = Path(__file__).resolve().parents[2] / "shared" / "datasets"
NAMES = ("cal-housing", "adult")
MEMBERS = (
    "lightgbm",
    "lightgbm",
    "xgboost",
    "xgboost",
    "catboost",
    "gradient_boosting",
    "extra_trees",
    "mlp",
    "elastic_net",
    "decision_tree",
)


def main() -> None:
    """Print seconds and the largest gap between sum and prediction for each data set."""
    for name in NAMES:
        frame = read_frame(DATASETS / f"{name}.csv.gz")
        train = from_frame(frame.iloc[:2000], target=frame.columns[-1])
        plan = make_plan(train, 5)
        members = [
            fit_member(train, ALGORITHMS[member], ALGORITHMS[member].space(train.task).default(), seed=seed, plan=plan)
            for seed, member in enumerate(MEMBERS)
            if member in ALGORITHMS
        ]
        members = [replace(member, weight=1 / len(members)) for member in members]
        sample = sample_of(train, None, np.random.default_rng(0))
        model = replace(Model.of(train, members, metric="auto"), sample=sample)
        begun = time.perf_counter()
        found = model.explain(frame.iloc[2000:3000])
        seconds = time.perf_counter() - begun
        gap = np.abs(found.base + found.contributions.sum(axis=1) - found.outputs).max()
        print(f"{name}: {len(members)} members, {len(found.outputs)} rows, {len(found.columns)} columns: "
              f"{seconds:.1f} s, largest gap {gap:.1e}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
