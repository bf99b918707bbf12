"""How fast `metaml web` answers on a large knowledge base, and how much memory it takes.

    python benchmarks/web.py [--runs 1000000] [--kb FILE]

Synthetic runs: every algorithm with configurations from its own space, 500 data sets of which the largest has a tenth
of all runs, 300 sessions. The file is made if it is missing. A real server is started in a process of its own. Each
page is asked for five times; the figures are the first and the median seconds to the first byte, the seconds of
CPU that the server took for the first answer, and the memory of the server.
"""

import argparse
import http.client
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from metaml.algorithms import ALGORITHMS
from metaml.data import Task
from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, KnowledgeBase, Run, SessionRecord, open_kb

N_DATASETS, N_SESSIONS, N_FOLDS = 500, 300, 5
BATCH = 20_000
METRICS: dict[Task, tuple[str, ...]] = {
    "binary": ("accuracy", "balanced_accuracy", "f1", "neg_brier", "neg_log_loss", "roc_auc"),
    "multiclass": ("accuracy", "balanced_accuracy", "f1_macro", "neg_brier", "neg_log_loss"),
    "regression": ("neg_mae", "neg_rmse", "r2"),
}
STATUSES = ("ok",) * 95 + ("timeout",) * 3 + ("memory", "failed")


def make(path: Path, n: int) -> None:
    """Write a knowledge base of n runs."""
    rng = np.random.default_rng(0)
    with open_kb(path) as kb:
        tasks: list[Task] = ["binary"] * 250 + ["multiclass"] * 120 + ["regression"] * 130
        for number, task in enumerate(tasks):
            add_dataset(kb, number, task, rng)
        kb.add_fold_plan(FoldPlanRecord("5-fold", "stratified", N_FOLDS, seed=0))
        environment = kb.add_environment(EnvironmentRecord({"scikit-learn": "1.9"}, host="bench"))
        for number in range(N_SESSIONS):
            kind = "tune" if number % 10 == 0 else "bot"
            started = 1.7e9 + number * n / N_SESSIONS
            kb.add_session(SessionRecord(f"{number:032x}", kind, started, started + n / N_SESSIONS, number))
        for start in range(0, n, BATCH):
            kb.add_runs(batch(tasks, start, min(BATCH, n - start), n, environment, rng))
            print(f"\r{start + BATCH:,} runs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def add_dataset(kb: KnowledgeBase, number: int, task: Task, rng: np.random.Generator) -> None:
    n_rows, n_columns = int(10 ** rng.uniform(2, 5)), int(10 ** rng.uniform(0.5, 2.5))
    n_classes = {"binary": 2, "multiclass": int(rng.integers(3, 20))}.get(task)
    name, fingerprint = f"data-{number}", f"{number:032x}"
    kb.add_dataset(DatasetRecord(fingerprint, name, task=task, n_rows=n_rows, n_columns=n_columns, n_classes=n_classes))
    described = {
        "NumberOfInstances": n_rows,
        "NumberOfFeatures": n_columns,
        "NumberOfClasses": n_classes or 0,
        "Dimensionality": n_columns / n_rows,
        "PercentageOfNumericFeatures": 100 * rng.random(),
        "PercentageOfMissingValues": 20 * rng.random(),
        "ClassEntropy": 4 * rng.random(),
    }
    kb.add_metafeatures(fingerprint, {key: float(value) for key, value in described.items()})


def batch(
    tasks: list[Task], start: int, size: int, n: int, environment: str, rng: np.random.Generator
) -> Iterator[Run]:
    """Yield runs; a configuration is drawn once for several data sets, as a bot that shares a design would."""
    weights = np.r_[0.1 * (N_DATASETS - 1) / 0.9, np.ones(N_DATASETS - 1)]
    datasets = rng.choice(N_DATASETS, size, p=weights / weights.sum())
    names = list(ALGORITHMS)
    drawn = {(name, task): ALGORITHMS[name].space(task).sample(200, rng) for name in names for task in set(METRICS)}
    for place, dataset in enumerate(datasets):
        number, task = start + place, tasks[dataset]
        name = names[number % len(names)]
        level = 0.6 + 0.3 * ((dataset * 7919) % 100) / 100 + 0.01 * ((dataset + number % len(names)) % 7)
        status = STATUSES[int(rng.integers(len(STATUSES)))]
        means = np.minimum(level + 0.05 * rng.standard_normal(len(METRICS[task])), 0.999)
        scores = {
            metric: [float(mean - (metric.startswith("neg_")) + 0.01 * fold) for fold in range(N_FOLDS)]
            for metric, mean in zip(METRICS[task], means, strict=True)
        }
        yield Run(
            dataset=f"{dataset:032x}",
            algorithm=name,
            config=drawn[name, task][int(rng.integers(200))],
            scores=scores if status == "ok" else {},
            fold_plan="5-fold",
            seed=number,
            status=status,
            fit_seconds=float(rng.exponential(2.0)),
            predict_seconds=float(rng.exponential(0.1)),
            peak_megabytes=100.0,
            error=None if status == "ok" else f"{status} in fold 3",
            origin="random",
            probability=0.001,
            session=f"{number * N_SESSIONS // n:032x}",
            environment=environment,
            finished_at=1.7e9 + number,
        )


def addresses(kb: KnowledgeBase) -> list[str]:
    """Return an address of every kind of page, the largest data set and rare kinds of runs among them."""
    large, small = f"{0:032x}", f"{7:032x}"
    first, second = kb.runs(dataset="data-7", limit=2)["run"]
    session, other = f"{100:032x}", f"{110:032x}"
    return [
        "/",
        "/datasets",
        f"/datasets/{large}",
        f"/datasets/{small}",
        "/runs",
        "/runs?status=failed&algorithm=svm",
        f"/runs?dataset={large}&sort=best",
        f"/runs?dataset={small}&sort=longest",
        f"/runs/{first}",
        "/sessions",
        f"/sessions/{session}",
        f"/compare?a={first}&b={second}",
        f"/compare?a={session}&b={other}",
        "/algorithms",
        "/algorithms/lightgbm",
        "/map",
    ]


def first_byte(port: int, path: str) -> float:
    """Return the seconds until the first byte of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    begun = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read(1)
    seconds = time.perf_counter() - begun
    assert answer.status == 200, (path, answer.status)
    answer.read()
    connection.close()
    return seconds


def cpu_seconds(process: psutil.Process) -> float:
    """Return the seconds of CPU that a process took so far."""
    taken = process.cpu_times()
    return float(taken.user + taken.system)


def measure(path: Path) -> None:
    with open_kb(path) as kb:
        asked = addresses(kb)
        print(f"{kb.n_runs():,} runs, {path.stat().st_size / 1e6:,.0f} MB")
    begun = time.perf_counter()
    command = [sys.executable, "-m", "metaml_cli", "web", "--kb", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rsplit(":", 1)[1].strip("/\n"))
        process = psutil.Process(server.pid)
        print(f"ready after {time.perf_counter() - begun:.1f} s, {process.memory_info().rss / 1e6:,.0f} MB")
        print("| page | first, s | its CPU, s | median of 5, s |\n| --- | --- | --- | --- |")
        for address in asked:
            used = cpu_seconds(process)
            seconds = [first_byte(port, address)]
            used = cpu_seconds(process) - used
            seconds += [first_byte(port, address) for _ in range(4)]
            print(
                f"| `{address[:60]}` | {seconds[0]:.3f} | {used:.3f} | {statistics.median(seconds):.3f} |", flush=True
            )
        print(f"memory in the end {process.memory_info().rss / 1e6:,.0f} MB")
        server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--kb", type=Path, default=None)
    options = parser.parse_args()
    place = options.kb or Path(tempfile.gettempdir()) / f"metaml-web-{options.runs}.db"
    if not place.exists():
        make(place, options.runs)
    measure(place)


if __name__ == "__main__":
    main()
