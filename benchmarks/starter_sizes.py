"""Runs of chosen configurations at more rows than the starter has: for the starter, and for `metaml replay --ensemble`.

python benchmarks/starter_sizes.py --kb sizes.db --rows 8000 [--minutes 90]

The configurations are chosen on purpose: the default of each algorithm, its best candidates in the shipped portfolio,
and some of high and low capacity that no random draw has found (`CAPACITY`). Every data set with so many rows is cut to
`--rows` of them, in three folds; out-of-fold predictions are kept. One worker with limits; started again, it goes on.
"""

import argparse
import csv
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from starter import DATASETS

from metaml.acquisition.candidates import key_of
from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, Task, read_dataset
from metaml.evaluation import Job, Limits, LocalExecutor, default_metric, make_plan
from metaml.experience.lesson_files import SHIPPED, LessonRequest
from metaml.experience.run_frames import Configs
from metaml.metalearning.lessons import load_portfolio
from metaml.records.conversion import environment_record, fold_plan_record, run_of, store_dataset
from metaml.records.kept_predictions import PredictionKeeper
from metaml.spaces.config import Config
from metaml.splits import PLAN_SEED
from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.frames import hyperparameter_columns

N_FOLDS, SEED = 3, 20261119
LEAST_SHARE = 0.65
"""Data sets with at least this share of the rows that were asked for are used, whole."""
MOST_FEATURES, MOST_CLASSES = 300, 10
ALGORITHMS_TRIED = (
    "lightgbm",
    "xgboost",
    "gradient_boosting",
    "catboost",
    "random_forest",
    "extra_trees",
    "mlp",
    "k_neighbors",
    "elastic_net",
    "svm",
)
"""AdaBoost is too slow for what it adds to an ensemble, a single tree too weak."""
CAPACITY: Mapping[str, Sequence[Config]] = {
    "lightgbm": (
        {"num_leaves": 255, "learning_rate": 0.03, "feature_fraction": 0.5, "bagging_fraction": 0.8},
        {"num_leaves": 63, "learning_rate": 0.05, "feature_fraction": 0.5, "lambda_l2": 5.0},
        {"num_leaves": 127, "learning_rate": 0.05, "extra_trees": True},
        {"num_leaves": 15, "learning_rate": 0.05, "min_data_in_leaf": 50, "lambda_l2": 10.0},
        {"num_leaves": 255, "learning_rate": 0.15},
        {"num_leaves": 127, "learning_rate": 0.1},
    ),
    "xgboost": (
        {"max_depth": 12, "learning_rate": 0.03, "min_child_weight": 4.0, "colsample_bytree": 0.5, "lambda": 5.0},
        {"max_depth": 7, "learning_rate": 0.05, "min_child_weight": 5.0, "colsample_bytree": 0.5},
        {"max_depth": 3, "learning_rate": 0.1, "subsample": 0.7},
        {"max_depth": 10, "learning_rate": 0.15, "min_child_weight": 3.0},
    ),
    "gradient_boosting": (
        {"max_leaf_nodes": 255, "learning_rate": 0.04, "min_samples_leaf": 10, "l2_regularization": 5.0},
        {"max_leaf_nodes": 63, "learning_rate": 0.05, "max_features": 0.8},
        {"max_leaf_nodes": 255, "learning_rate": 0.15},
    ),
    "catboost": ({"depth": 6, "learning_rate": 0.05}, {"depth": 4, "learning_rate": 0.1}),
    "random_forest": ({"min_samples_leaf": 1, "max_features": 0.75}, {"min_samples_leaf": 5, "max_features": 0.75}),
    "extra_trees": ({"min_samples_leaf": 1, "max_features": 0.9}, {"min_samples_leaf": 4, "max_features": 0.75}),
    "mlp": (
        {"n_layers": 3, "width": 256, "learning_rate": 1e-3, "batch_size": 128},
        {"n_layers": 2, "width": 256, "learning_rate": 3e-3, "batch_size": 256, "alpha": 1e-2},
    ),
}
"""Settings that differ from the default."""
N_BEST = 2
"""Candidates of each algorithm from the shipped portfolio: the highest mean level."""
FEW = {"svm": 0, "k_neighbors": 1, "elastic_net": 1}
"""Of these, fewer: slow, or hardly different from their defaults."""


def candidates(task: Task) -> list[tuple[str, Config]]:
    """Return the configurations, the default of every algorithm first."""
    spaces = {name: ALGORITHMS[name].space(task) for name in ALGORITHMS_TRIED if name in ALGORITHMS}
    chosen = [(name, space.default()) for name, space in spaces.items()]
    for name, space in spaces.items():
        many = ALGORITHMS[name].for_many_rows
        over = [*([] if many is None else [many]), *CAPACITY.get(name, ())]
        chosen += [(name, {**space.default(), **settings}) for settings in over]
    chosen += [item for item in _best_of_portfolio(task) if spaces.get(item[0]) and spaces[item[0]].is_valid(item[1])]
    return list({(name, key_of(config)): (name, config) for name, config in chosen}.values())


def _best_of_portfolio(task: Task) -> list[tuple[str, Config]]:
    portfolio = load_portfolio(SHIPPED / LessonRequest(default_metric(task), task).file_name)
    if portfolio is None:
        raise SystemExit("The shipped lessons cannot be read. Make them with: python benchmarks/starter.py teach")
    found, counts = [], dict.fromkeys(ALGORITHMS_TRIED, 0)
    for place in np.argsort(-portfolio.levels.mean(axis=0), kind="stable"):
        name, config = portfolio.candidates[place]
        if counts.get(name, N_BEST) < FEW.get(name, N_BEST):
            found.append((name, dict(config)))
            counts[name] += 1
    return found


def tables(folder: Path, n_rows: int) -> list[Path]:
    """Return the files of the data sets that are large enough, not too wide, in an order that mixes tasks and sizes."""
    with (folder / "manifest.csv").open(encoding="utf-8") as file:
        rows = [
            row["name"]
            for row in csv.DictReader(file)
            if int(row["n_rows"]) >= LEAST_SHARE * n_rows
            and int(row["n_features"]) <= MOST_FEATURES
            and float(row["n_classes"] or 0) <= MOST_CLASSES
        ]
    return [folder / f"{rows[k]}.csv.gz" for k in np.random.default_rng(SEED).permutation(len(rows))]


def _known(kb: KnowledgeBase, fingerprint: str, plan: str) -> set[tuple[str, str]]:
    """Return the algorithms and configurations that were run on a data set with these folds, also those out of time."""
    found = set()
    for name in ALGORITHMS_TRIED:
        frame = kb.runs(dataset=fingerprint, algorithm=name)
        if len(frame):
            frame = frame[frame["fold_plan"] == plan].reset_index(drop=True)
            configs = Configs(frame, hyperparameter_columns(frame))
            found |= {(name, key_of(configs[place])) for place in range(len(frame))}
    return found


def fill(kb: KnowledgeBase, dataset: Dataset, asked: argparse.Namespace, session: str, end: float) -> str:
    """Store the runs that are missing on a data set, with their predictions; return how many in words."""
    store_dataset(kb, dataset, "file")
    plan = make_plan(dataset, N_FOLDS, max_rows=asked.rows)
    kb.add_fold_plan(fold_plan_record(plan))
    environment, keeper = kb.add_environment(environment_record()), PredictionKeeper("float16", megabytes=4000.0)
    keeper.add(dataset)
    known = _known(kb, dataset.fingerprint, plan.hash)
    statuses: Counter[str] = Counter()
    limits = Limits(asked.limit_seconds, 4000.0)
    with LocalExecutor(1) as executor:
        executor.add(dataset)
        for name, config in candidates(dataset.task):
            job = Job(dataset.fingerprint, name, config, plan, PLAN_SEED, limits, keep_predictions=True)
            if (name, key_of(config)) in known:
                statuses["known"] += 1
                continue
            if time.monotonic() > end:
                break
            executor.submit(job)
            finished = executor.next()
            if finished is None:
                continue
            run = run_of(job, finished[1], session=session, environment=environment, origin="grid")
            kb.add_run(keeper.with_predictions(run, finished[1].predictions))
            statuses[run.status] += 1
    return ", ".join(f"{n} {status}" for status, n in statuses.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--limit-seconds", type=float, default=20.0)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    with open_kb(asked.kb) as kb:
        session = kb.start_session("bot", seed=SEED, settings={"rows": asked.rows, "folds": N_FOLDS})
        for path in tables(asked.folder, asked.rows):
            if time.monotonic() < end:
                begun = time.monotonic()
                told = fill(kb, read_dataset(path), asked, session, end)
                print(f"{time.strftime('%H:%M')} {path.name}: {told}; {time.monotonic() - begun:.0f} s", flush=True)
        kb.finish_session(session)


if __name__ == "__main__":
    main()
