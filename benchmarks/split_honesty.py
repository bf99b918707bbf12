"""Does the cross-validated score come true on later rows and on new groups? Shuffled folds against honest ones.

Of each data set a part is set aside: the latest 30 % of the rows, or 30 % of the groups. A short search on the rest
tells a cross-validated score, once with shuffled folds and once by time or group. Both models are scored on what was
set aside. The gap is the told score minus that one, in the unit of the metric (higher is better). Its standard error
is the one that was told (from the folds; with --time that of one more fold) and the one of the score on the rows set
aside (by resampling them; with --group by resampling groups).

    python benchmarks/split_honesty.py --data ../shared/datasets [--only electricity stock]
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.data import ColumnOptions, from_frame
from metaml.evaluation import Limits, LocalExecutor
from metaml.search.settings import TuneSettings
from metaml.tuning.own_test import own_test
from metaml.tuning.run import tune

SET_ASIDE = 0.3
ALGORITHMS = ("lightgbm", "random_forest", "elastic_net")
"""Quick ones, one default each before anything else."""
TIMES = {"electricity": "class", "chicago-ridership": "ridership", "eeg-eye-state": "Class", "stock": "company10"}
"""Data sets whose rows are in the order of time, and their targets."""
COPIES = {"diabetes": "class", "credit-approval": "class", "sonar": "Class"}
"""Data sets whose rows become groups: each is measured four times, with a little noise."""
N_COPIES, NOISE = 4, 0.05


@dataclass(frozen=True)
class Case:
    """A data set with its role column; `aside` marks the rows that are set aside."""

    name: str
    frame: pd.DataFrame
    target: str
    role: str
    aside: np.ndarray


def in_time(folder: Path, name: str, most_rows: int) -> Case:
    """Return a data set in the order of time: its last rows are set aside."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    frame = (
        frame.iloc[:: max(len(frame) // most_rows, 1)].reset_index(drop=True).assign(moment=lambda f: np.arange(len(f)))
    )
    return Case(name, frame, frame.columns[-2], "time", np.arange(len(frame)) >= (1 - SET_ASIDE) * len(frame))


def patients(folder: Path, seed: int, most_rows: int) -> Case:
    """Return the telemonitoring data: patients, told by age and sex, are measured many times."""
    frame = pd.read_csv(folder / "parkinsons-telemonitoring.csv.gz")
    frame = frame.iloc[:: max(len(frame) // most_rows, 1)].reset_index(drop=True)
    frame = frame.assign(person=frame["age"].astype(str) + frame["sex"].astype(str))
    frame = frame[[name for name in frame.columns if name != "total_UPDRS"] + ["total_UPDRS"]]
    return _grouped("parkinsons-telemonitoring", frame, "total_UPDRS", "person", seed)


def copies(folder: Path, name: str, seed: int, most_rows: int | None = None) -> Case:
    """Return a data set whose rows are measured several times, of at most so many rows before that."""
    rng = np.random.default_rng(seed)
    frame = pd.read_csv(folder / f"{name}.csv.gz").dropna(axis=1, how="all")
    if most_rows is not None and len(frame) > most_rows:
        frame = frame.iloc[np.sort(rng.permutation(len(frame))[:most_rows])].reset_index(drop=True)
    target = frame.columns[-1]
    numbers = [column for column in frame.select_dtypes("number").columns if column != target]
    parts = []
    for _ in range(N_COPIES):
        part = frame.copy()
        part[numbers] = part[numbers] + rng.normal(size=part[numbers].shape) * NOISE * frame[numbers].std().to_numpy()
        parts.append(part.assign(person=[f"p{row}" for row in range(len(frame))]))
    return _grouped(f"{name}, {N_COPIES} copies", pd.concat(parts, ignore_index=True), target, "person", seed)


def _grouped(name: str, frame: pd.DataFrame, target: str, column: str, seed: int) -> Case:
    groups = np.unique(frame[column])
    chosen = np.random.default_rng(seed).permutation(groups)[: round(SET_ASIDE * len(groups))]
    return Case(name, frame.rename(columns={column: "moment"}), target, "group", np.isin(frame[column], chosen))


def told_and_true(
    case: Case, *, is_honest: bool, n_iterations: int, executor: LocalExecutor
) -> tuple[float, float, float]:
    """Return the told score, that on the rows set aside, and the standard error of their difference."""
    old, new = case.frame[~case.aside].reset_index(drop=True), case.frame[case.aside].reset_index(drop=True)
    options = ColumnOptions(**{case.role: "moment"}) if is_honest else ColumnOptions()
    ignore = () if is_honest else ("moment",)
    dataset = from_frame(old, case.target, None, case.name, ignore, options)
    settings = TuneSettings(
        seconds=None, n_iterations=n_iterations, algorithms=ALGORITHMS, n_layers=1, limits=Limits(120.0)
    )
    tuned = tune(dataset, settings, executor=executor, test=own_test(new, dataset))
    folds = np.array(tuned.found.ranked[0].outcome.scores[tuned.found.metric])
    facts = tuned.report.own_test
    folds = folds[np.isfinite(folds)]  # a fold in time may have one class only
    known = tuned.report.evidence
    later = None if known is None else known.later_error
    error = math.hypot(folds.std(ddof=1) / math.sqrt(len(folds)) if later is None else later, facts.error)
    return tuned.finished.score, facts.score, error


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/datasets"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=9)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--only", nargs="*", default=None, help="The first words of the data sets to run.")
    options = parser.parse_args()
    cases = [in_time(options.data, name, options.rows) for name in TIMES]
    cases += [
        patients(options.data, options.seed, options.rows),
        *(copies(options.data, name, options.seed) for name in COPIES),
    ]
    if options.only is not None:
        cases = [case for case in cases if case.name.startswith(tuple(options.only))]
    print("| data set | by | shuffled: told | true | gap ± s.e. | honest: told | true | gap ± s.e. | within one s.e. |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with LocalExecutor(1) as executor:
        for case in cases:
            cells = []
            for is_honest in (False, True):
                told, true, error = told_and_true(
                    case, is_honest=is_honest, n_iterations=options.iterations, executor=executor
                )
                cells.append((told, true, told - true, error))
            shown = " | ".join(
                f"{told:.3f} | {true:.3f} | {gap:+.3f} ± {error:.3f}" for told, true, gap, error in cells
            )
            within = [("yes" if abs(gap) <= error else "no") for _, _, gap, error in cells]
            print(f"| {case.name} | {case.role} | {shown} | {within[0]}, {within[1]} |", flush=True)


if __name__ == "__main__":
    main()
