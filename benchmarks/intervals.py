"""Do intervals and sets hold the truth as often as asked, and does calibration help, on rows that no model has seen?

Each data set is split: up to `--rows` train a short search, the others judge. Regression: coverage and width of
intervals at 90 % and 80 %. Classes: coverage and size of sets; log loss and calibration error with and without
calibration. Run: python benchmarks/intervals.py
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.api import TuneResult, tune
from metaml.data import read_frame
from metaml.metrics import metric
from metaml.model import Model
from metaml.report import calibration_bins

DATASETS = Path(__file__).resolve().parents[2] / "shared" / "datasets"
REGRESSION = [
    "2dplanes",
    "airfoil",
    "ailerons",
    "bank8FM",
    "bank32nh",
    "cal-housing",
    "casp-protein",
    "ccpp",
    "computers",
    "cps1988",
    "delta_ailerons",
    "delta_elevators",
    "diamonds",
    "elevators",
    "fried",
    "gss-wages",
    "kin8nm",
    "mv",
    "puma8NH",
    "puma32H",
    "quake",
    "insurance-charges",
    "space_ga",
    "seoul-bike",
    "sulfur",
    "wind",
]
CLASSES = [
    "adult",
    "banana",
    "bank-marketing",
    "cmc",
    "compas-two-years",
    "dry-bean",
    "electricity",
    "eeg-eye-state",
    "page-blocks",
    "yeast",
]
ALGORITHMS = "lightgbm,xgboost,extra_trees,elastic_net"
LEVELS = (0.8, 0.9)


def searched(
    frame: pd.DataFrame, n_rows: int, seed: int, iterations: int, **options: object
) -> tuple[Model, pd.DataFrame]:
    """Return the model of a short search on some rows, and the other rows."""
    order = np.random.default_rng(seed).permutation(len(frame))
    n_train = min(n_rows, 2 * len(frame) // 3)
    result: TuneResult = tune(
        frame.iloc[order[:n_train]], iterations=iterations, algorithms=ALGORITHMS, kb=":memory:", seed=seed, **options
    )  # type: ignore[arg-type]  # options are passed on as they are
    return result.model, frame.iloc[order[n_train : n_train + 4000]]


def judged_intervals(model: Model, test: pd.DataFrame) -> dict[str, object]:
    """Return coverage and width, in units of the target's spread, of the intervals of test rows."""
    truth = test[model.schema.target].to_numpy(dtype=np.float64)
    known = model.uncertainty
    row: dict[str, object] = {"n": len(test), "errors": 0 if known is None else len(known.errors)}
    row["scaled"] = known is not None and bool(known.scales)
    for level in LEVELS:
        found = model.predict_interval(test, level)
        low, high = found["low"].to_numpy(), found["high"].to_numpy()
        row[f"coverage {level:g}"] = float(np.mean((low <= truth) & (truth <= high)))
        row[f"width {level:g}"] = float(np.mean(high - low) / truth.std())
    return row


def judged_sets(model: Model, test: pd.DataFrame) -> dict[str, object]:
    """Return coverage and size of the sets of test rows, and what calibration changes on them."""
    labels = pd.Index(np.asarray(model.labels).astype(str))
    codes = labels.get_indexer(pd.Index(test[model.schema.target].astype(str)))
    test, codes = test[codes >= 0], codes[codes >= 0]
    row: dict[str, object] = {
        "n": len(test),
        "errors": 0 if model.uncertainty is None else len(model.uncertainty.errors),
    }
    chances = model.predict_proba(test)
    plain = replace(model, calibration=None).predict_proba(test)
    truth = labels[codes]
    row["accuracy"] = float(np.mean(chances.argmax(axis=1) == codes))
    for level in LEVELS:
        sets = model.predict_interval(test, level)["set"]
        row[f"coverage {level:g}"] = float(
            np.mean([own in map(str, found) for own, found in zip(truth, sets, strict=True)])
        )
        row[f"size {level:g}"] = float(sets.map(len).mean())
    row["calibration"] = "-" if model.calibration is None else model.calibration.method
    for name, made in (("plain", plain), ("calibrated", chances)):
        row[f"log loss {name}"] = -metric("neg_log_loss").function(codes, made)
        bins = calibration_bins(codes, made)
        row[f"ece {name}"] = sum(b.n_rows * abs(b.predicted - b.observed) for b in bins) / len(codes)
    return row


def main() -> None:
    """Print a row per data set and split, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=[*REGRESSION, *CLASSES])
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--output", type=Path, default=None)
    given = parser.parse_args()
    rows = []
    for name in given.datasets:
        if not (DATASETS / f"{name}.csv.gz").exists():
            print(f"{name}: not there", flush=True)
            continue
        frame = read_frame(DATASETS / f"{name}.csv.gz")
        for seed in range(given.seeds):
            model, test = searched(frame, given.rows, seed, given.iterations)
            judged = judged_intervals if model.labels is None else judged_sets
            rows.append({"data set": name, "seed": seed, "task": model.task, **judged(model, test)})
            print({key: round(v, 4) if isinstance(v, float) else v for key, v in rows[-1].items()}, flush=True)
    table = pd.DataFrame(rows)
    if given.output:
        table.to_csv(given.output, index=False)
    means = table.groupby(["task", "data set"]).mean(numeric_only=True)
    print(means.round(4).to_string())
    for level in LEVELS:
        off = means[f"coverage {level:g}"] - level
        print(f"{level:g}: mean {off.mean():+.4f} ± {off.std(ddof=1) / len(off) ** 0.5:.4f}, within 2 points "
              f"{int((off.abs() <= 0.02).sum())} of {len(off)}")  # fmt: skip


if __name__ == "__main__":
    main()
