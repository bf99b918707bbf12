"""Do intervals and sets hold the truth as often as asked, and does calibration help, on rows that no model has seen?

Each data set is split: up to `--rows` train a short search, the others judge. Regression: coverage and width of
intervals at 90 % and 80 %. Classes: coverage and size of sets; log loss and calibration error with and without
calibration. `group:NAME` are the data sets of split_cases.py whose rows are measured several times, `time:NAME` those
in the order of time; new groups and the latest rows judge. Run: python benchmarks/intervals.py

With `--output FILE` what is in the file is not run again, and `--seconds` ends a part of a long series.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from split_cases import copies, in_time, patients

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
SPLIT = [
    "group:airfoil",
    "group:insurance-charges",
    "group:parkinsons-telemonitoring",
    "group:quake",
    "group:space_ga",
    "group:diabetes",
    "group:credit-approval",
    "time:chicago-ridership",
    "time:seoul-bike",
    "time:stock",
    "time:sulfur",
    "time:wind",
    "time:electricity",
    "time:eeg-eye-state",
]
ALGORITHMS = "lightgbm,xgboost,extra_trees,elastic_net"
LEVELS = (0.8, 0.9)


def searched(
    frame: pd.DataFrame, n_rows: int, seed: int, iterations: int, **options: object
) -> tuple[Model, pd.DataFrame]:
    """Return the model of a short search on some rows, and the other rows."""
    order = np.random.default_rng(seed).permutation(len(frame))
    n_train = min(n_rows, 2 * len(frame) // 3)
    model = model_of(frame.iloc[order[:n_train]], seed, iterations, **options)
    return model, frame.iloc[order[n_train : n_train + 4000]]


def model_of(frame: pd.DataFrame, seed: int, iterations: int, **options: object) -> Model:
    """Return the model of a short search on all rows."""
    result: TuneResult = tune(frame, iterations=iterations, algorithms=ALGORITHMS, kb=":memory:", seed=seed, **options)  # type: ignore[arg-type]  # options are passed on as they are
    return result.model


def searched_by(name: str, n_rows: int, seed: int, iterations: int) -> tuple[Model, pd.DataFrame]:
    """Return the model of a short search by group or time, and the rows of new groups or of later times."""
    kind, name = name.split(":")
    if kind == "time":
        case = in_time(DATASETS, name, n_rows)
    elif name == "parkinsons-telemonitoring":
        case = patients(DATASETS, seed, 2 * n_rows)
    else:
        case = copies(DATASETS, name, seed, n_rows // 2)
    model = model_of(case.frame[~case.aside], seed, iterations, target=case.target, **{case.role: "moment"})
    return model, case.frame[case.aside]


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


def made(name: str, seed: int, given: argparse.Namespace) -> dict[str, object]:
    """Return the row of a data set and a split."""
    if ":" in name:
        model, test = searched_by(name, given.rows, seed, given.iterations)
    else:
        model, test = searched(read_frame(DATASETS / f"{name}.csv.gz"), given.rows, seed, given.iterations)
    judged = judged_intervals if model.labels is None else judged_sets
    split = name.split(":")[0] if ":" in name else "shuffled"
    return {"data set": name, "seed": seed, "task": model.task, "split": split, **judged(model, test)}


def main() -> None:
    """Print a row per data set and split, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="*", default=[*REGRESSION, *CLASSES, *SPLIT])
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=None)
    given = parser.parse_args()
    rows: list[dict[str, object]] = []
    if given.output and given.output.exists():
        rows = [json.loads(line) for line in given.output.read_text(encoding="utf-8").splitlines()]
    done, end = {(row["data set"], row["seed"]) for row in rows}, time.monotonic() + given.seconds
    for seed in range(given.seeds):
        for name in given.datasets:
            if (name, seed) in done or time.monotonic() > end:
                continue
            rows.append(made(name, seed, given))
            print({key: round(v, 4) if isinstance(v, float) else v for key, v in rows[-1].items()}, flush=True)
            if given.output:
                with given.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    summary(pd.DataFrame(rows))


def summary(table: pd.DataFrame) -> None:
    """Print the mean of each data set, and how far coverage is from what was asked."""
    table["is class"] = table["task"] != "regression"
    means = table.groupby(["is class", "split", "data set"]).mean(numeric_only=True)
    print(means.round(4).to_string())
    for kind, part in means.groupby(["is class", "split"]):
        for level in LEVELS:
            off = part[f"coverage {level:g}"] - level
            within, error = int((off.abs() <= 0.02).sum()), off.std(ddof=1) / len(off) ** 0.5
            print(
                f"{kind} {level:g}: mean {off.mean():+.4f} ± {error:.4f}, within 2 points {within} of {len(off)}, "
                f"{off.min():+.3f} to {off.max():+.3f}"
            )


if __name__ == "__main__":
    main()
