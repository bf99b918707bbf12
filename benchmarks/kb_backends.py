"""One knowledge base in SQLite and in PostgreSQL: what do reading all runs and learning from them take?

    python benchmarks/kb_backends.py FOLDER [--runs 2500000]

Both hold the same synthetic runs: 6 algorithms x 100 data sets with configurations drawn from metaml's own spaces, two
metrics, seconds. The first 50,000 are stored by `add_runs`, the others made by the database: the same configurations
on the other data sets. All is made in FOLDER once; a second call continues where the first one was stopped. PostgreSQL
is that of the package `pgserver`, with its default settings. Each figure is from a fresh process.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import text

from metaml.algorithms import ALGORITHMS
from metaml.metafeatures import describe
from metaml.sources import builtin
from metaml_kb import DatasetRecord, KnowledgeBase, Run, open_kb, tables

NAMES = ("decision_tree", "elastic_net", "extra_trees", "k_neighbors", "random_forest", "svm")
N_DATASETS, BATCH, N_STORED = 100, 10_000, 50_000
NEW_IDENTITY = {"sqlite": "randomblob(16)", "postgresql": "uuid_send(gen_random_uuid())"}
QUESTIONS = {
    "runs of one algorithm": "kb.runs(algorithm='random_forest')",
    "all runs": "kb.runs()",
    "metaml learn": "metaml.learn(metric='roc_auc', kb=place)",
}
PROGRAM = """
import json, resource, sys, time
import metaml
from metaml_kb import open_kb
place, question = sys.argv[1:]
with open_kb(place) as kb:
    kb.info()
    begun, used = time.perf_counter(), time.process_time()
    found = eval(question)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "cpu": cpu, "megabytes": peak, "rows": len(found)}))
"""


def batch_of_runs(number: int, size: int) -> Iterator[Run]:
    """Yield the runs of one batch; the same ones at each call."""
    rng = np.random.default_rng(number)
    share, n_made = -(-size // len(NAMES)), 0
    for name in NAMES:
        configs = ALGORITHMS[name].space("binary").sample(share, rng)
        datasets = rng.integers(N_DATASETS, size=share)
        scores = rng.normal(0.8, 0.05, (share, 2)).clip(0, 1)
        seconds = rng.exponential(2.0, share)
        for place, config in enumerate(configs):
            yield Run(
                dataset=f"{datasets[place]:032x}",
                algorithm=name,
                config=config,
                scores={"accuracy": float(scores[place, 0]), "roc_auc": float(scores[place, 1])},
                fold_plan="10-fold",
                seed=number * BATCH + n_made,
                fit_seconds=float(seconds[place]),
                predict_seconds=0.01,
            )
            n_made += 1


def fill(kb: KnowledgeBase, n_runs: int) -> float:
    """Store the batches that are missing; return the seconds that this took."""
    rng = np.random.default_rng(0)
    usual = {name: value for name, value in describe(builtin.load("breast_cancer")).values.items() if value == value}
    if len(kb.datasets()) < N_DATASETS:
        for number in range(N_DATASETS):
            kb.add_dataset(DatasetRecord(f"{number:032x}", f"data-{number}", task="binary", n_rows=1000))
            values = {name: value * rng.lognormal() for name, value in usual.items()}
            kb.add_metafeatures(f"{number:032x}", {**values, "NumberOfClasses": 2.0})
    seconds = 0.0
    for number in range(kb.n_runs() // BATCH, -(-n_runs // BATCH)):
        runs = list(batch_of_runs(number, BATCH))[:BATCH]
        begun = time.perf_counter()
        kb.add_runs(runs)
        seconds += time.perf_counter() - begun
        print(f"{kb.name}: {kb.n_runs():,} runs", file=sys.stderr, flush=True)
    return seconds


def multiply(kb: KnowledgeBase, n_runs: int) -> float:
    """Add runs until there are `n_runs`: those that are stored, on other data sets; return the seconds."""
    begun = time.perf_counter()
    renewed = {
        "id": "id + :first",
        "identity": NEW_IDENTITY[kb.engine.dialect.name],
        "dataset_id": f"(dataset_id - 1 + :step) % {N_DATASETS} + 1",
    }
    names = [column.name for column in tables.run.columns]
    values = ", ".join(renewed.get(name, name) for name in names)
    query = f"INSERT INTO run ({', '.join(names)}) SELECT {values} FROM run WHERE id <= :most"
    for step in range(kb.n_runs() // N_STORED, -(-n_runs // N_STORED)):
        most = min(N_STORED, n_runs - step * N_STORED)
        with kb.engine.begin() as connection:
            connection.execute(text(query), {"first": step * N_STORED, "step": step, "most": most})
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=2_500_000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    import pgserver

    server = pgserver.get_server(options.folder / "postgresql", cleanup_mode="stop")
    if "metaml" not in server.psql("SELECT datname FROM pg_database"):
        server.psql("CREATE DATABASE metaml")
    places = {
        "SQLite": str(options.folder / "kb.db"),
        "PostgreSQL": str(server.get_uri()).replace("/postgres?", "/metaml?"),
    }
    print(
        "| question | backend | rows | seconds | CPU seconds here | peak MB here |\n" + "| --- " * 6 + "|", flush=True
    )
    for backend, place in places.items():
        with open_kb(place) as kb:
            seconds, more = fill(kb, min(options.runs, N_STORED)), multiply(kb, options.runs)
            n = kb.n_runs()
        if backend == "PostgreSQL":
            # A server does this by itself after a while.
            server.psql("\\c metaml\nANALYZE")
        print(f"| `add_runs` of what was missing of 50,000 | {backend} | {n} | {seconds:.1f} | | |", flush=True)
        print(f"| copies by the database | {backend} | {n} | {more:.1f} | | |", flush=True)
    for question, expression in QUESTIONS.items():
        for backend, place in places.items():
            words = [sys.executable, "-c", PROGRAM, place, expression]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"| {question} | {backend} | {found['rows']} | {found['seconds']:.1f} | {found['cpu']:.1f} | "
                f"{found['megabytes']:.0f} |",
                flush=True,
            )
    server.cleanup()


if __name__ == "__main__":
    main()
