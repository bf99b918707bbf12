"""Does the cross-validated score come true on later rows and on new groups? Shuffled folds against honest ones.

Of each data set of split_cases.py a part is set aside: the latest 30 % of the rows, or 30 % of the groups. A short
search on the rest tells a cross-validated score, once with shuffled folds and once by time or group. Both models are
scored on what was set aside. The gap is the told score minus that one, in the unit of the metric (higher is better).
Its standard error is the one that was told (from the folds; with --time that of one more fold) and the one of the score
on the rows set aside (by resampling them; of groups, by resampling groups).

    python benchmarks/split_honesty.py --data ../shared/datasets --output FILE [--only electricity stock] [--seeds 2]
    python benchmarks/split_honesty.py --output FILE --gate

What is in the output file is not run again, and `--seconds` ends a part of a long series. `--gate` prints how often the
true score is within one and two ± of the told one, on the data sets that were kept for that.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from split_cases import (
    COPIES,
    DRIFTS,
    GATE_TIMES,
    GROUPS,
    TIMES,
    Case,
    copies,
    drifting,
    in_time,
    patients,
    real_groups,
)

from metaml.data import ColumnOptions, from_frame
from metaml.evaluation import Limits, LocalExecutor
from metaml.search.settings import TuneSettings
from metaml.tuning.own_test import labelled_rows
from metaml.tuning.run import tune

ALGORITHMS = ("lightgbm", "random_forest", "elastic_net")
"""Quick ones, one default each before anything else."""


def cases(asked: argparse.Namespace, seed: int) -> dict[str, Callable[[], Case]]:
    """Return how each case is made, by the name of its data set."""
    made: dict[str, Callable[[], Case]] = {}
    made |= {name: lambda name=name: in_time(asked.data, name, asked.rows, seed) for name in (*TIMES, *GATE_TIMES)}
    made |= {name: lambda name=name: drifting(asked.data, name, asked.rows, seed) for name in DRIFTS}
    made["parkinsons-telemonitoring"] = lambda: patients(asked.data, seed, asked.rows)
    made |= {name: lambda name=name: copies(asked.data, name, seed) for name in COPIES}
    made |= {name: lambda name=name: real_groups(asked.data, name, seed, asked.rows) for name in GROUPS}
    return made


def told_and_true(case: Case, *, is_honest: bool, n_iterations: int, seed: int, executor: LocalExecutor) -> dict:
    """Return the told score and its error, and that on the rows set aside and its error."""
    old, new = case.frame[~case.aside].reset_index(drop=True), case.frame[case.aside].reset_index(drop=True)
    options = ColumnOptions(**{case.role: "moment"}) if is_honest else ColumnOptions()
    ignore = () if is_honest else ("moment",)
    dataset = from_frame(old, case.target, None, case.name, ignore, options)
    settings = TuneSettings(
        seconds=None, n_iterations=n_iterations, algorithms=ALGORITHMS, n_layers=1, limits=Limits(120.0), seed=seed
    )
    group = "moment" if case.role == "group" else None
    test = labelled_rows(new, dataset.schema, dataset.labels, dataset.name, group=group)
    tuned = tune(dataset, settings, executor=executor, test=test)
    facts, known = tuned.report.own_test, tuned.report.evidence
    folds = np.array(tuned.found.ranked[0].outcome.scores[tuned.found.metric])
    folds = folds[np.isfinite(folds)]  # a fold in time may have one class only
    later = None if known is None else known.later_error
    told_error = folds.std(ddof=1) / math.sqrt(len(folds)) if later is None else later
    return {
        "metric": tuned.found.metric,
        "told": tuned.finished.score,
        "told error": float(told_error),
        "true": facts.score,
        "true error": facts.error,
    }


def run(asked: argparse.Namespace, rows: list[dict]) -> None:
    """Append what is missing to the rows and to the output file."""
    done, end = {(row["name"], row["seed"], row["honest"]) for row in rows}, time.monotonic() + asked.seconds
    with LocalExecutor(1) as executor:
        for seed in range(asked.seeds):
            for name, make in cases(asked, seed).items():
                if asked.only is not None and not name.startswith(tuple(asked.only)):
                    continue
                for is_honest in (True, False):
                    if (name, seed, is_honest) in done or time.monotonic() > end:
                        continue
                    case = make()
                    known = told_and_true(
                        case, is_honest=is_honest, n_iterations=asked.iterations, seed=seed, executor=executor
                    )
                    rows.append({"name": name, "role": case.role, "seed": seed, "honest": is_honest, **known})
                    print(rows[-1], flush=True)
                    if asked.output is not None:
                        with asked.output.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(rows[-1]) + "\n")


def table(rows: list[dict]) -> None:
    """Print a line per data set and seed with both splits, and how many are within a standard error."""
    frame = pd.DataFrame(rows)
    frame["gap"] = frame["told"] - frame["true"]
    frame["error"] = np.hypot(frame["told error"], frame["true error"])
    frame["within"] = frame["gap"].abs() <= frame["error"]
    print("| data set | by | shuffled: told | true | gap ± s.e. | honest: told | true | gap ± s.e. | within one s.e. |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for (role, name, _), pair in frame.groupby(["role", "name", "seed"], sort=False):
        if len(pair) < 2:
            continue
        parts = [pair[pair["honest"] == is_honest].iloc[0] for is_honest in (False, True)]
        shown = " | ".join(f"{p.told:.3f} | {p.true:.3f} | {p.gap:+.3f} ± {p.error:.3f}" for p in parts)
        print(f"| {name} | {role} | {shown} | {', '.join('yes' if p.within else 'no' for p in parts)} |")
    means = frame.groupby(["role", "name", "honest"])[["gap", "error"]].mean().abs().unstack().dropna()
    for role, part in means.groupby("role"):
        gap, error = part["gap"], part["error"]
        within, nearer = gap <= error, gap[True] < gap[False]
        print(
            f"by {role}, means over seeds: of {len(part)} data sets, honest within one s.e. {within[True].sum()}, "
            f"shuffled {within[False].sum()}; shuffled further off {nearer.sum()}, both {(within[True] & nearer).sum()}"
        )


def gate(rows: list[dict]) -> None:
    """Print how often the true score is within one and two ± of the told one, with --time, on the kept data sets."""
    kept = [row for row in rows if row["honest"] and row["name"] in (*GATE_TIMES, *DRIFTS)]
    far = np.array([abs(row["told"] - row["true"]) / row["told error"] for row in kept])
    for row, value in zip(kept, far, strict=True):
        told = f"{row['told']:.3f} ± {row['told error']:.3f}"
        print(f"| {row['name']} | {row['seed']} | {told} | {row['true']:.3f} | {value:.2f} |")
    print(f"{len(far)} cases: within one ± {np.mean(far <= 1):.0%}, within two {np.mean(far <= 2):.0%}")


def main() -> None:
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/datasets"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=9)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--only", nargs="*", default=None, help="The first words of the data sets to run.")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--gate", action="store_true")
    asked = parser.parse_args()
    rows: list[dict] = []
    if asked.output and asked.output.exists():
        rows = [json.loads(line) for line in asked.output.read_text(encoding="utf-8").splitlines()]
    if asked.gate:
        gate(rows)
        return
    run(asked, rows)
    if rows:
        table(rows)


if __name__ == "__main__":
    main()
