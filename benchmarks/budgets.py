"""Is `metaml tune` ever late? Wall time of the whole command against its budget, refit and report included.

python benchmarks/budgets.py [--budgets 10,30,60] [--datasets 10] [--kb starter.db] [--at-a-time 1]

Several commands at a time make a busy machine. The bound is 1.05 x budget + 2 s. The last row of each budget has
evaluations that never return.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from starter import DATASETS, files

from metaml.algorithms import ALGORITHMS
from metaml.evaluation import LocalExecutor
from metaml.sources import builtin


class Hanging:
    """An estimator whose fit never returns."""

    def fit(self, *_: Any) -> "Hanging":
        while True:
            time.sleep(1)


def _hanging(*_: Any, **__: Any) -> Hanging:
    return Hanging()


HANGING = {name: replace(algorithm, build=_hanging) for name, algorithm in ALGORITHMS.items()}


def spread_over_sizes(place: Path, n: int) -> list[Path]:
    """Return n data sets, evenly spread over all by size on disk."""
    every = sorted(files(place), key=lambda path: path.stat().st_size)
    return [every[k] for k in np.linspace(0, len(every) - 1, n).round().astype(int)]


def run(path: Path, budget: float, kb: Path | None, workers: int) -> tuple[float, str]:
    """Return the wall time of one command and its summary."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "kb.db"
        if kb is not None:
            shutil.copy(kb, own)
        command = [sys.executable, "-m", "metaml_cli", "tune", str(path), "--time-budget", f"{budget}s"]
        command += ["--workers", str(workers), "--output", f"{folder}/out", "--kb", str(own)]
        begun = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - begun
        if done.returncode:
            return wall, f"exit {done.returncode}: {done.stderr[-200:]}"
        lines = [line for line in done.stderr.splitlines() if "evaluations in" in line or "fallback" in line]
        return wall, " ".join(lines)


def run_hanging(budget: float) -> tuple[float, str]:
    """Return the wall time of a session in which no evaluation ever returns."""
    from metaml.search.settings import TuneSettings
    from metaml.tuning.run import tune

    begun = time.perf_counter()
    with LocalExecutor(2, registry="budgets:HANGING") as executor, tempfile.TemporaryDirectory() as folder:
        tuned = tune(builtin.load("iris"), TuneSettings(seconds=budget), executor=executor, output=Path(folder))
    return time.perf_counter() - begun, f"{tuned.finished.kind}: {tuned.finished.why}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budgets", default="10,30,60")
    parser.add_argument("--datasets", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--kb", type=Path, default=None)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--at-a-time", type=int, default=1)
    asked = parser.parse_args()
    late = total = 0
    for budget in map(float, asked.budgets.split(",")):
        bound = 1.05 * budget + 2
        paths = spread_over_sizes(asked.folder, asked.datasets)
        with ThreadPoolExecutor(asked.at_a_time) as threads:
            done = list(threads.map(partial(run, budget=budget, kb=asked.kb, workers=asked.workers), paths))
        rows = [(path.name, *result) for path, result in zip(paths, done, strict=True)]
        rows.append(("never returns", *run_hanging(budget)))
        for name, wall, text in rows:
            total += 1
            late += wall > bound
            print(
                f"{budget:>5.0f} s  {name:<34}{wall:>8.2f} s  {'LATE' if wall > bound else 'ok':<5} {text}", flush=True
            )
    print(f"{late} of {total} late (bound 1.05 x budget + 2 s)")


if __name__ == "__main__":
    main()
