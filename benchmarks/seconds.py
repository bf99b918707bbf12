"""Do expected seconds come true? Candidates of the portfolio on real data sets of 500 to 32,000 rows.

python benchmarks/seconds.py --kb starter.db [--datasets 10] [--limit 20]

Each candidate is fitted once to a part of a data set, on one core; CPU seconds count. The expectation is that of the
initial design for one held-out fold, before and after it is corrected by three defaults on the same data.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from automl_tools import chosen_data

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.evaluation import default_metric
from metaml.evaluation.environment import environment
from metaml.experience.lesson_files import LessonRequest, portfolio_at_hand
from metaml.metafeatures import GROUPS
from metaml.metafeatures.description import describe_with
from metaml.metalearning.initial_design import InitialDesign
from metaml.splits import make_plan
from metaml_kb import open_kb

SIZES = (500, 2000, 8000, 32_000)
N_CANDIDATES = 10
SEED = 5


def measure(asked: argparse.Namespace) -> pd.DataFrame:
    """Return real and expected seconds of candidates on data sets of several sizes."""
    listed = chosen_data.manifest(asked.data)
    large = listed[(listed["n_rows"] >= 10_000) & ~listed.index.isin(chosen_data.HELD_OUT)]
    rng = np.random.default_rng(SEED)
    rows = []
    with open_kb(asked.kb) as kb:
        for name in rng.permutation(sorted(large.index))[: asked.datasets]:
            frame = pd.read_csv(asked.data / f"{name}.csv.gz", low_memory=False)
            for size in (size for size in SIZES if size <= len(frame)):
                part = frame.sample(size, random_state=SEED).reset_index(drop=True)
                try:
                    rows += on(part, str(listed.at[name, "target"]), str(listed.at[name, "task"]), kb, asked.limit, rng)
                except ValueError as error:
                    print(f"{name}, {size} rows: {error}", flush=True)
                print(f"{time.strftime('%H:%M')} {name}, {size} rows", flush=True)
    return pd.DataFrame(rows)


def on(part: pd.DataFrame, target: str, task: str, kb: object, limit: float, rng: np.random.Generator) -> list[dict]:
    """Return real and expected seconds of some candidates on one table."""
    dataset = from_frame(part, target=target, task=task)
    plan = make_plan(dataset, 1)
    portfolio = portfolio_at_hand(kb, LessonRequest(default_metric(dataset.task), dataset.task))
    simple = describe_with({"simple": GROUPS["simple"]}, dataset, None).values
    settings = {"algorithms": tuple(ALGORITHMS), "n_rows": plan.n_used, "n_folds": 1}
    settings["reference_seconds"] = environment()["reference_seconds"]
    design = InitialDesign(portfolio, simple, **settings)
    train, _ = plan.split(0)
    chosen = [(item.algorithm, item.config) for item in design.candidates]
    chosen = [chosen[k] for k in rng.permutation(len(chosen))[:N_CANDIDATES]]
    first = [(name, ALGORITHMS[name].space(dataset.task).default()) for name in ("lightgbm", "xgboost", "extra_trees")]
    taken = {}
    for algorithm, config in first:
        # The first fit of a library loads it, as workers do beforehand.
        ALGORITHMS[algorithm].build(config, task=dataset.task, seed=0).fit(dataset.X[:200], dataset.y[:200])
    for algorithm, config in [*first, *(pair for pair in chosen if pair not in first)]:
        estimator = ALGORITHMS[algorithm].build(config, task=dataset.task, seed=0, seconds=limit)
        begun = time.process_time()
        estimator.fit(dataset.X.iloc[train].reset_index(drop=True), dataset.y[train])
        if not estimator.stopped_early_:
            taken[algorithm, str(config)] = (config, time.process_time() - begun)
    finished = [(name, config, seconds) for (name, _), (config, seconds) in list(taken.items())[:3]]
    designs = (design, InitialDesign(portfolio, simple, **settings, finished=finished))
    before, after = ({(item.algorithm, str(item.config)): item.seconds for item in each.candidates} for each in designs)
    return [
        {"rows": len(part), "algorithm": key[0], "real": seconds, "expected": before[key], "corrected": after[key]}
        for key, (_, seconds) in taken.items()
        if key in before
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER)
    parser.add_argument("--datasets", type=int, default=10)
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds that a fit may take; longer ones are left out"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    table = measure(asked)
    columns = {"n": ("ratio", "size"), "median": ("ratio", "median"), "within x 4": ("within 4", "mean")}
    for column in ("expected", "corrected"):
        table["ratio"] = table["real"] / table[column]
        table["within 4"] = table["ratio"].between(0.25, 4)
        for by in ("rows", "algorithm"):
            print(f"\nreal / {column} seconds by {by}")
            print(table.groupby(by).agg(**columns).round(2))
        print(f"all: median {table['ratio'].median():.2f}, within x 4: {table['within 4'].mean():.0%} of {len(table)}")


if __name__ == "__main__":
    main()
