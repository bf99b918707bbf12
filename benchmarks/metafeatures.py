"""Our metafeatures beside OpenML's own, and their cost beside pymfe's.

    python benchmarks/metafeatures.py                 values against OpenML's, quality by quality
    python benchmarks/metafeatures.py --cost --pymfe-python ENV/bin/python
    python benchmarks/metafeatures.py --awkward       time allowances on awkward data

`openml_qualities` says which of OpenML's rows can be compared, and why.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from openml_qualities import Pair, read_pairs

from metaml.data import Dataset, from_frame
from metaml.metafeatures import GROUPS, describe

SHARED = Path(__file__).parents[2] / "shared"

PLAIN_LANDMARKERS = ("DecisionStump", "NaiveBayes", "kNN1N")
TARGETS = {"statistical": 0.98, "information": 0.98, "landmarkers": 0.85}


def main() -> None:
    parser = argparse.ArgumentParser(description="Metafeatures beside OpenML's and pymfe's.")
    parser.add_argument("--shared", type=Path, default=SHARED)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--awkward", action="store_true")
    parser.add_argument("--pymfe-python", default=sys.executable, help="interpreter that has pymfe")
    options = parser.parse_args()
    if options.cost:
        show_cost(options.pymfe_python)
    elif options.awkward:
        show_awkward()
    else:
        show_values(options.shared)


def show_values(shared: Path) -> None:
    pairs = read_pairs(shared)
    print(f"\n{len(pairs)} data sets in both; {sum(p.same_columns for p in pairs)} with the same rows and columns")
    print("\nsimple: equal to 1e-6, or why not")
    for name in GROUPS["simple"].names:
        show_simple(name, pairs)
    for group, target in TARGETS.items():
        print(f"\n{group}: Spearman across data sets (target {target})")
        if group == "landmarkers":
            print("   n, rho: rows where the options held;  [n, rho]: default learners where they were lost")
        misses = [name for name in GROUPS[group].names if not show_rank(group, name, pairs, target)]
        print(f"   below the target: {', '.join(misses) or 'none'}")


def show_simple(name: str, pairs: list[Pair]) -> None:
    equal, reasons = 0, dict[str, list[str]]()
    for pair in pairs:
        theirs, ours = pair.openml.get(name, np.nan), pair.ours.values[name]
        if np.isnan(theirs):
            reasons.setdefault("not stored", []).append(pair.name)
        elif abs(theirs - ours) <= 1e-6 * max(1.0, abs(theirs)):
            equal += 1
        else:
            reasons.setdefault(why_different(name, theirs, pair), []).append(f"{pair.name} {theirs:g}/{ours:g}")
    text = "; ".join(f"{why}: {', '.join(names)}" for why, names in reasons.items() if why != "not stored")
    print(f"   {name:40s} equal {equal:2d} of {len(pairs) - len(reasons.get('not stored', []))}  {text}")


def why_different(name: str, theirs: float, pair: Pair) -> str:
    if not pair.same_columns:
        return "our copy has other rows or columns"
    if name.endswith("NominalAttDistinctValues"):
        levels = np.array(pair.nominal_levels, dtype=float)
        without_target = {
            "Min": levels.min(),
            "Mean": levels.mean(),
            "Max": levels.max(),
            "Stdv": levels.std(ddof=1) if levels.size > 1 else 0.0,
        }
        if abs(without_target[name.removesuffix("NominalAttDistinctValues")] - theirs) < 1e-6:
            return "older engine, target not counted"
    if "Binary" in name or "Nominal" in name:
        return "OpenML counts the levels that the ARFF header declares"
    return "UNEXPLAINED"


def show_rank(group: str, name: str, pairs: list[Pair], target: float) -> bool:
    usable = [p for p in pairs if p.same_columns and not np.isnan(p.openml.get(name, np.nan))]
    if group == "statistical" and name.endswith("OfNumericAtts"):
        usable = [p for p in usable if not p.carried_over]
    takes_options = group == "landmarkers" and not name.startswith(PLAIN_LANDMARKERS)
    lost = [p for p in usable if p.options_lost] if takes_options else []
    usable = [p for p in usable if p not in lost]
    theirs = np.array([p.openml[name] for p in usable])
    ours = np.array([p.ours.values[name] for p in usable])
    rho = spearman(theirs, ours)
    line = f"   {name:40s} n {len(usable):2d}  rho {rho:6.3f}"
    if lost:
        defaults = np.array([p.as_if_options_lost[name] for p in lost])
        line += f"  [n {len(lost):2d}  rho {spearman(np.array([p.openml[name] for p in lost]), defaults):6.3f}]"
    else:
        line += f"  largest difference {np.abs(theirs - ours).max(initial=0):.3g}"
    undefined = [p.name for p in pairs if p.same_columns and p.name not in {u.name for u in usable + lost}]
    print(line + ("" if rho >= target else "  BELOW"), f" (left out: {len(undefined)})" if undefined else "")
    return bool(rho >= target)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    both = np.isfinite(a) & np.isfinite(b)
    if both.sum() < 3:
        return float("nan")
    # OpenML's numbers are rounded in places: values that agree to nine digits are tied on both sides.
    a, b = (pd.Series([float(f"{v:.9g}") for v in values[both]]) for values in (a, b))
    if a.nunique() == 1 and b.nunique() == 1:
        return 1.0
    return float(a.corr(b, method="spearman"))


PYMFE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from pymfe.mfe import MFE
data = np.load(sys.argv[1])
X, y, nominal = data["X"], data["y"], data["nominal"].tolist()
for group in ("general", "statistical", "info-theory", "landmarking"):
    start = time.perf_counter()
    mfe = MFE(groups=[group], suppress_warnings=True)
    mfe.fit(X, y, cat_cols=nominal)
    mfe.extract(suppress_warnings=True)
    print(group, time.perf_counter() - start, flush=True)
"""


def show_cost(pymfe_python: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 50))
    nominal = list(range(40, 50))
    X[:, nominal] = rng.integers(0, 4, size=(5000, 10))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 40] == 1) + rng.normal(size=5000) > 0).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y, nominal=nominal)
        answer = subprocess.run([pymfe_python, "-c", PYMFE, str(path)], capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(f"pymfe did not run: {answer.stderr.strip().splitlines()[-1]} Give its interpreter: --pymfe-python")
    theirs = {line.split()[0]: float(line.split()[1]) for line in answer.stdout.splitlines()}
    dataset = as_dataset(X, y, set(nominal))
    describe(as_dataset(X[:100], y[:100], set(nominal)))  # loads scikit-learn, as pymfe's clock starts loaded too
    ours = describe(dataset)
    print("5,000 rows, 40 numeric and 10 categorical columns, 2 classes; one thread; seconds")
    for name, seconds in theirs.items():
        print(f"   pymfe  {name:24s} {seconds:7.3f}")
    for name, seconds in ours.seconds.items():
        print(f"   metaml {name:24s} {seconds:7.3f}   rows used {ours.n_rows_used[name]}")
    total, cheap = sum(ours.seconds.values()), sum(list(ours.seconds.values())[:3])
    print(
        f"   pymfe {sum(theirs.values()):.2f} s, metaml {total:.2f} s:"
        f" {total / sum(theirs.values()):.3f} of it (target 0.2)"
    )
    print(f"   cheap groups {cheap:.3f} s (target 0.3)")


def as_dataset(X: np.ndarray, y: np.ndarray, nominal: set[int], task: str | None = None) -> Dataset:
    columns = {
        f"x{i}": pd.Categorical(np.char.add("level ", column.astype(int).astype(str))) if i in nominal else column
        for i, column in enumerate(X.T)
    }
    frame = pd.concat([pd.DataFrame(columns), pd.Series(y, name="target")], axis=1)
    task = task or ("binary" if np.unique(y).size == 2 else "multiclass")
    return from_frame(frame, target="target", task=task)


def show_awkward() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(300, 20_000))
    holes = np.full((200, 5), np.nan)
    holes[0] = 1.0
    holes[1, 0] = 2.0
    many = rng.normal(size=(3000, 6))
    cases = {
        "one column": as_dataset(rng.normal(size=(500, 1)), rng.integers(0, 2, 500), set()),
        "all categorical": as_dataset(rng.integers(0, 5, (2000, 30)), rng.integers(0, 3, 2000), set(range(30))),
        "all missing but one": as_dataset(
            np.column_stack([holes[:, :4], rng.normal(size=200)]), rng.integers(0, 2, 200), set()
        ),
        "two rows per class": as_dataset(many, np.repeat(np.arange(1500), 2), set()),
        "20,000 numeric columns": as_dataset(numbers, (numbers[:, 0] > 0).astype(int), set()),
        "20,000 categorical columns": as_dataset(
            rng.integers(0, 3, (300, 20_000)), rng.integers(0, 2, 300), set(range(20_000))
        ),
        "20,000 columns, regression": as_dataset(numbers, numbers[:, 0], set(), "regression"),
        "200,000 rows": as_dataset(rng.normal(size=(200_000, 40)), rng.integers(0, 5, 200_000), set()),
    }
    describe(cases["one column"])
    print(f"{'':28s} {'allowance':>9s} {'took':>7s}   values  left out for time")
    for name, dataset in cases.items():
        for allowance in (None, 1.0, 3.0, 10.0):
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = describe(dataset, allowance)
            took = time.perf_counter() - start
            late = sum(reason == "time allowance used up" for reason in found.reasons.values())
            failed = sorted({reason for reason in found.reasons.values() if "could not" in reason})
            kept = "" if allowance is None or took <= 1.2 * allowance else "  TOO LATE"
            n_values = len(found.values) - len(found.reasons)
            print(f"{name:28s} {allowance or '-':>9} {took:7.2f}   {n_values:6d}  {late:4d}{kept} {failed or ''}")


if __name__ == "__main__":
    main()
