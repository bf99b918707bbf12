"""A small knowledge base with kept predictions for `metaml replay --ensemble`: portfolio candidates on real data sets.

python benchmarks/prediction_store.py --kb store.db [--minutes 40] [--rows 450] [--each 2]

Every data set is cut to four times `--rows` rows. Three folds of `--rows` rows are cross-validated, and their models
predict the other rows, so that the final ensemble is judged on rows that no fold has seen. The configurations are the
defaults and the `--each` best candidates of each algorithm in the starter's portfolio. One process; resumable.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd
from proof import DATASETS

from metaml.acquisition.candidates import key_of
from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, Task, from_frame
from metaml.evaluation import Job, Limits, default_metric, make_plan
from metaml.evaluation.crossval import evaluate
from metaml.experience.lesson_files import SHIPPED, LessonRequest
from metaml.metalearning.lessons import load_portfolio
from metaml.records.conversion import environment_record, fold_plan_record, run_of, store_dataset
from metaml.records.kept_predictions import PredictionKeeper
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase, open_kb

N_FOLDS, SEED = 3, 20261118
MOST_COLUMNS, MOST_CLASSES, MOST_SECONDS = 60, 6, 6.0
LEFT_OUT = ("adaboost",)
"""Too slow for what it adds to an ensemble here."""


def candidates(task: Task, n_each: int) -> list[tuple[str, Config]]:
    """Return the defaults, then the candidates of the highest mean level of each algorithm, in turns."""
    portfolio = load_portfolio(SHIPPED / LessonRequest(default_metric(task), task).file_name)
    if portfolio is None:
        raise SystemExit("The shipped lessons cannot be read. Make them with: python benchmarks/starter.py teach")
    levels = portfolio.levels.mean(axis=0)
    names = [name for name in dict.fromkeys(name for name, _ in portfolio.candidates) if name not in LEFT_OUT]
    chosen = [(name, ALGORITHMS[name].space(task).default()) for name in names]
    taken = {(name, key_of(config)) for name, config in chosen}
    counts = dict.fromkeys(names, 0)
    for place in np.argsort(-levels, kind="stable"):
        name, config = portfolio.candidates[place]
        is_wanted = counts.get(name, n_each) < n_each and (name, key_of(config)) not in taken
        if is_wanted and ALGORITHMS[name].space(task).is_valid(config):
            chosen.append((name, dict(config)))
            counts[name] += 1
    return chosen


def tables(folder: Path, n_rows: int) -> list[str]:
    """Return the names of the data sets that are large enough, not too wide, in an order that mixes tasks and sizes."""
    with (folder / "manifest.csv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if int(row["n_rows"]) >= 2 * n_rows
            and int(row["n_features"]) <= MOST_COLUMNS
            and float(row["n_classes"] or 0) <= MOST_CLASSES
        ]
    order = np.random.default_rng(SEED).permutation(len(rows))
    return [rows[k]["name"] for k in order]


def read(folder: Path, name: str, n_rows: int) -> Dataset:
    """Return a data set, cut to four times as many rows."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    kept = np.sort(np.random.default_rng(SEED).permutation(len(frame))[: 4 * n_rows])
    return from_frame(frame.iloc[kept].reset_index(drop=True), target=str(frame.columns[-1]), name=name)


def fill(kb: KnowledgeBase, dataset: Dataset, asked: argparse.Namespace) -> int:
    """Store the runs of all candidates on a data set with their predictions; return how many are complete."""
    store_dataset(kb, dataset, "file", seconds=0.3)
    plan = make_plan(dataset, N_FOLDS, 0, asked.rows)
    kb.add_fold_plan(fold_plan_record(plan))
    session, environment = kb.start_session("bot"), kb.add_environment(environment_record())
    keeper = PredictionKeeper("float16")
    keeper.add(dataset)
    n_complete = 0
    for name, config in candidates(dataset.task, asked.each):
        job = Job(
            dataset.fingerprint,
            name,
            config,
            plan,
            0,
            Limits(MOST_SECONDS, 3000.0),
            keep_predictions=True,
            predicts_unused=True,
        )
        outcome = evaluate(job, dataset, ALGORITHMS[name])
        run = run_of(job, outcome, session=session, environment=environment, origin="grid")
        if outcome.predictions is not None and outcome.status == "ok":
            kb.add_run(keeper.with_predictions(run, outcome.predictions))
            n_complete += 1
        else:
            kb.add_run(run)
    return n_complete


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--rows", type=int, default=450)
    parser.add_argument("--each", type=int, default=2)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    with open_kb(asked.kb) as kb:
        known = set(kb.datasets()["name"])
        for name in tables(asked.folder, asked.rows):
            if name not in known and time.monotonic() < end:
                begun = time.process_time()
                n_complete = fill(kb, read(asked.folder, name, asked.rows), asked)
                print(f"{name}: {n_complete} runs, {time.process_time() - begun:.0f} s of work", flush=True)


if __name__ == "__main__":
    main()
