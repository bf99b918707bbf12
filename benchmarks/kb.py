"""The knowledge base at the size of the OpenML random bot: speed, size and memory, as ratios within one run.

    python benchmarks/kb.py [--runs 2500000]

Synthetic runs: 6 algorithms x 100 data sets, 9 hyperparameters of mixed kinds, 4 metrics. They are compared with bare
`sqlite3.executemany` into the same tables and with `pandas.read_csv` of the same frame.
"""

import argparse
import json
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import event

from metaml_kb import DatasetRecord, KnowledgeBase, Run, open_kb
from metaml_kb.packing import pack_scores
from metaml_kb.records import run_identity, split_config
from metaml_kb.tables import metadata
from metaml_kb.writing import configuration_hash

N_ALGORITHMS, N_DATASETS = 6, 100
METRICS = ("accuracy", "roc_auc", "neg_brier", "f1_macro")
BATCH = 50_000


def batches(n: int, seed: int = 0) -> Iterator[list[Run]]:
    """Yield synthetic runs; like the random bot's, every float has full precision."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, BATCH):
        size = min(BATCH, n - start)
        algorithm = rng.integers(N_ALGORITHMS, size=size).tolist()
        dataset = rng.integers(N_DATASETS, size=size).tolist()
        floats = rng.random((size, 3)).tolist()
        integers = rng.integers(1, 1000, (size, 3)).tolist()
        words = rng.choice(["gini", "entropy", "log_loss"], size).tolist()
        flags = (rng.random(size) < 0.5).tolist()
        depths = rng.integers(1, 30, size).tolist()
        scores = rng.random((size, len(METRICS))).tolist()
        seconds = rng.exponential(2.0, (size, 2)).tolist()
        yield [
            Run(
                dataset=f"fingerprint-{dataset[i]}",
                algorithm=f"algorithm_{algorithm[i]}",
                config={
                    "bootstrap": flags[i],
                    "criterion": words[i],
                    "learning_rate": floats[i][0],
                    "max_depth": None if depths[i] > 27 else depths[i],
                    "max_features": floats[i][1],
                    "min_samples_leaf": integers[i][0],
                    "min_samples_split": integers[i][1],
                    "n_estimators": integers[i][2],
                    "subsample": floats[i][2],
                },
                scores=dict(zip(METRICS, scores[i], strict=True)),
                fold_plan="10-fold",
                seed=start + i,
                fit_seconds=seconds[i][0],
                predict_seconds=seconds[i][1],
                peak_megabytes=100.0,
                probability=0.001,
                finished_at=1.7e9 + start + i,
            )
            for i in range(size)
        ]


def fresh_kb(path: Path) -> KnowledgeBase:
    kb = open_kb(path)
    for number in range(N_DATASETS):
        kb.add_dataset(DatasetRecord(f"fingerprint-{number}", f"data-{number}"))
    return kb


def ingest(kb: KnowledgeBase, n: int) -> float:
    """Return the seconds in which the knowledge base took n runs; making them is not counted."""
    total = 0.0
    for runs in batches(n):
        start = time.perf_counter()
        kb.add_runs(runs)
        total += time.perf_counter() - start
    return total


def ingest_bare(path: Path, n: int) -> float:
    """Return the seconds of sqlite3.executemany for the same rows in the same tables, all values ready."""
    fresh_kb(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA cache_size=-65536")
    connection.execute("INSERT INTO fold_plan (id, key, strategy) VALUES (1, '10-fold', 'unknown')")
    connection.execute("INSERT INTO metric_set VALUES (1, ?)", (json.dumps(sorted(METRICS)),))
    names = json.dumps(split_config(next(batches(1))[0].config)[0])
    for number in range(N_ALGORITHMS):
        connection.execute("INSERT INTO algorithm VALUES (?, ?)", (number + 1, f"algorithm_{number}"))
        connection.execute("INSERT INTO parameter_set VALUES (?, ?, ?)", (number + 1, number + 1, names))
    connection.commit()
    total, number = 0.0, 0
    for runs in batches(n):
        configurations, rows = [], []
        for run in runs:
            number += 1
            names, values = split_config(run.config)
            algorithm, dataset = int(run.algorithm[-1]) + 1, int(run.dataset.split("-")[1]) + 1
            configurations.append((number, algorithm, configuration_hash(run.algorithm, names, values), values))
            keys = (number, run_identity(run, names, values), dataset, algorithm, number, 1, None, None, run.seed, "ok")
            measured = (
                run.probability,
                run.fit_seconds,
                run.predict_seconds,
                run.peak_megabytes,
                *(run.model_bytes, run.row_seconds, run.n_columns_read, run.error),
                run.finished_at,
            )
            rows.append((*keys, "random", *measured, 1, pack_scores(run.scores)[1], None))
        start = time.perf_counter()
        for table, content in (("configuration", configurations), ("run", rows)):
            columns = list(metadata.tables[table].columns.keys())[: len(content[0])]
            marks = ", ".join("?" * len(columns))
            connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", content)
        connection.commit()
        total += time.perf_counter() - start
    connection.close()
    return total


def median_add_run(kb: KnowledgeBase, seed: int, n: int = 200) -> float:
    """Return the median seconds of a single add_run."""
    times = []
    for run in next(batches(n, seed)):
        start = time.perf_counter()
        kb.add_run(run)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def count_statements(kb: KnowledgeBase, **wanted: object) -> int:
    """Return how many SQL statements one `runs()` takes."""
    seen: list[str] = []
    listen = lambda *args: seen.append(args[2])  # noqa: E731
    event.listen(kb.engine, "before_cursor_execute", listen)
    kb.runs(**wanted)
    event.remove(kb.engine, "before_cursor_execute", listen)
    return len(seen)


def in_turns(first: Callable[[], object], second: Callable[[], object], n: int = 4) -> list[float]:
    """Return the least CPU seconds of each of two tasks, done in turns: a busy machine disturbs both equally."""
    seconds: list[list[float]] = [[], []]
    for _ in range(n):
        for task, taken in zip((first, second), seconds, strict=True):
            start = time.process_time()
            task()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_500_000)
    n = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with fresh_kb(place / "empty.db") as empty:
            on_empty = median_add_run(empty, seed=1)
            small = count_statements(empty, algorithm="algorithm_1")
        memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        kb = fresh_kb(place / "full.db")
        ours = ingest(kb, n)
        memory_after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        bare = ingest_bare(place / "bare.db", n)
        on_full = median_add_run(kb, seed=2)
        frame = kb.runs(algorithm="algorithm_1")
        statements = count_statements(kb, algorithm="algorithm_1")
        frame.to_csv(place / "frame.csv", index=False)
        querying, reading = in_turns(lambda: kb.runs(algorithm="algorithm_1"), lambda: pd.read_csv(place / "frame.csv"))
        start = time.perf_counter()
        kb.best("data-7", "roc_auc", 10)
        best = time.perf_counter() - start
        start = time.perf_counter()
        kb.info()
        info = time.perf_counter() - start
        kb.close()
        sqlite3.connect(place / "full.db").execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = (place / "full.db").stat().st_size / n
    rows = [
        ("bulk ingest, runs per second", f"{n / ours:,.0f}", ""),
        ("  bare sqlite3.executemany", f"{n / bare:,.0f}", ""),
        ("  speed against bare", f"{bare / ours:.2f}", ">= 0.25"),
        (f"runs(algorithm=…), {len(frame):,} rows, CPU seconds", f"{querying:.2f}", ""),
        ("  pandas.read_csv of that frame, CPU seconds", f"{reading:.2f}", ""),
        ("  time against read_csv", f"{querying / reading:.2f}", "<= 5"),
        ("add_run median on the full KB, milliseconds", f"{on_full * 1e3:.2f}", ""),
        ("  on an empty KB, milliseconds", f"{on_empty * 1e3:.2f}", ""),
        ("  full against empty", f"{on_full / on_empty:.2f}", "<= 3"),
        ("SQL statements of runs(), 200 rows / all rows", f"{small} / {statements}", "equal"),
        ("bytes of file per run", f"{size:.0f}", "<= 450"),
        ("peak memory growth during ingest, megabytes", f"{memory_after - memory_before:.0f}", "<= 300"),
        ("best(dataset, metric, 10), seconds", f"{best:.2f}", ""),
        ("info(), seconds", f"{info:.2f}", ""),
    ]
    print(f"{n:,} runs, {time.strftime('%Y-%m-%d')}, SQLite {sqlite3.sqlite_version}")
    print("\n".join(f"{what:<48}{figure:>14}   {target}" for what, figure, target in rows))
    print(json.dumps({what.strip(): figure for what, figure, _ in rows}, ensure_ascii=False))


if __name__ == "__main__":
    main()
