"""Records what configurations score, and what they cost, on a part of the training rows: learning curves to replay.

python benchmarks/fidelity_record.py FILE.csv --minutes 40     goes on where it stopped

Each configuration is fitted to 1/16, 1/4 and all of at most 8,000 training rows of each data set, and scored on the
same held-out rows (at most 10,000). Seconds are CPU seconds of one thread; a configuration that needs more than LIMIT
of them is a time-out. `fidelities.py` replays searches on the table.
"""

import argparse
import csv
import multiprocessing
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools import chosen_data

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, from_frame
from metaml.evaluation import Job, Limits, evaluate, make_plan
from metaml.splits.smaller import on_fewer_rows

DATASETS = (
    "adult",
    "electricity",
    "default-credit-card-clients",
    "noaa-storms",
    "diamonds",
    "gss-wages",
    "house_8L",
    "hotel-rates",
)
"""None of them is kept for reports of the whole (`chosen_data`)."""
TURNS = ("lightgbm", "xgboost", "random_forest", "extra_trees", "elastic_net", "k_neighbors", "decision_tree")
MOST_ROWS, SHARES = 8_000, (1 / 16, 1 / 4, 1.0)
LIMIT, WARM_ROWS = 25, 100
SEED = 25
HEADER = ("dataset", "task", "algorithm", "number", "config", "share", "rows", "score", "seconds")
FORK = multiprocessing.get_context("fork")


def loaded(name: str, folder: Path) -> Dataset:
    """Return a data set."""
    listed = chosen_data.manifest(folder)
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    return from_frame(frame, target=str(listed.at[name, "target"]), task=str(listed.at[name, "task"]))


def config_of(number: int, task: Any) -> tuple[str, dict[str, Any]]:
    """Return the algorithm and the configuration of a turn: the defaults first, then random ones."""
    name = TURNS[number % len(TURNS)]
    space = ALGORITHMS[name].space(task)
    is_first = number < len(TURNS)
    return name, space.default() if is_first else space.sample(np.random.default_rng((SEED, number)))


def measured(dataset: Dataset, algorithm: str, config: dict[str, Any]) -> list[tuple[int, float, float]]:
    """Return the training rows, the score and the CPU seconds of a configuration at each share."""
    plan = make_plan(dataset, 1, 0)
    n_rows = [max(int(share * min(plan.n_trained, MOST_ROWS)), 2) for share in SHARES]
    job = Job(dataset.fingerprint, algorithm, config, plan, 0, Limits(float("inf")))
    metric = "neg_rmse" if dataset.task == "regression" else "neg_log_loss"
    receiving, sending = FORK.Pipe(duplex=False)

    def run() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
        # What is imported or prepared once is no cost of a configuration.
        evaluate(replace(job, plan=on_fewer_rows(plan, dataset, WARM_ROWS)), dataset, ALGORITHMS[algorithm])
        for n in n_rows:
            smaller = replace(job, plan=on_fewer_rows(plan, dataset, n))
            begun = time.process_time()
            outcome = evaluate(smaller, dataset, ALGORITHMS[algorithm])
            sending.send((outcome.score(metric), time.process_time() - begun))

    process = FORK.Process(target=run)
    process.start()
    process.join()
    found = []
    while len(found) < len(n_rows):
        found.append(receiving.recv() if receiving.poll() else (float("nan"), float(LIMIT)))
    return [(n, score, seconds) for n, (score, seconds) in zip(n_rows, found, strict=True)]


def main() -> None:
    """Record until the minutes of CPU are used up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER)
    asked = parser.parse_args()
    known = pd.read_csv(asked.file) if asked.file.exists() else pd.DataFrame(columns=HEADER)
    done, spent = set(zip(known["dataset"], known["number"], strict=True)), float(known["seconds"].sum())
    datasets = {name: loaded(name, asked.data) for name in DATASETS}
    for name in TURNS:
        # Children then need not import its library.
        ALGORITHMS[name].build(ALGORITHMS[name].space("binary").default(), task="binary", seed=0)
    with asked.file.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not len(known):
            writer.writerow(HEADER)
        number = 0
        while spent < 60 * asked.minutes:
            for name, dataset in datasets.items():
                algorithm, config = config_of(number, dataset.task)
                if (name, number) in done:
                    continue
                for share, (n_rows, score, seconds) in zip(SHARES, measured(dataset, algorithm, config), strict=True):
                    spent += seconds
                    writer.writerow([name, dataset.task, algorithm, number, config, share, n_rows, score, seconds])
                file.flush()
            number += 1


if __name__ == "__main__":
    main()
