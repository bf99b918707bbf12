"""How much of the workers' time does a search lose, and how much memory does it take?

python benchmarks/lost_time.py [--budget 30] [--workers 2] [--datasets NAME ...]

Lost are evaluations that a limit or the end of the search cut off, and those that a race ended because their first
folds were too weak; the runs of such races are kept in the knowledge base, but no ensemble can use them. The whole is
the time of all evaluations. Memory is the peak of all processes together, shared memory counted once.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import pandas as pd
from automl import watched
from automl_tools import chosen_data

CUT_OFF_BY_RACE = "partial"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=30, help="seconds of each search")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    names = [*chosen_data.DECIDED_ON, *chosen_data.DECIDED_ON_LARGE]
    parser.add_argument("--datasets", nargs="+", default=names, metavar="NAME")
    asked = parser.parse_args()
    rows = [measured(name, asked) for name in asked.datasets]
    print(f"median {median(row['lost %'] for row in rows):.1f} % lost, {median(row['MB'] for row in rows):.0f} MB")


def measured(name: str, asked: argparse.Namespace) -> dict[str, float]:
    """Return what one search lost in per cent of the time of its evaluations, and its peak memory; print both."""
    listed = chosen_data.manifest(asked.data)
    target, task = str(listed.at[name, "target"]), str(listed.at[name, "task"])
    with tempfile.TemporaryDirectory(prefix="lost-time-") as folder:
        place = Path(folder)
        chosen_data.split(name, target, task, place, asked.data)
        command = [sys.executable, "-m", "metaml_cli", "tune", str(place / "train.csv"), "--target", target]
        command += ["--task", task, "--time-budget", f"{asked.budget}s", "--workers", str(asked.workers)]
        command += ["--kb", str(place / "kb.db"), "--output", str(place / "found"), "--exclude-dataset", name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        megabytes, _ = watched(process, 3 * asked.budget + 60)
        ledger = json.loads((place / "found" / "best.json").read_text(encoding="utf-8"))["ledger"]
        with (place / "found" / "leaderboard.csv").open(encoding="utf-8") as file:
            runs = list(csv.DictReader(file))
        n_rows = len(pd.read_csv(place / "train.csv", usecols=[target]))
    killed, evaluated = (asked.workers * ledger.get(key, 0.0) for key in ("killed", "evaluations"))
    raced = sum(float(run["seconds"]) for run in runs if run["status"] == CUT_OFF_BY_RACE)
    whole = max(killed + evaluated, 1e-9)
    row = {"lost %": 100 * (killed + raced) / whole, "MB": megabytes}
    print(
        f"{name}, {n_rows} rows: {len(runs)} evaluations in {whole:.1f} worker seconds,"
        f" {100 * killed / whole:.1f} % cut off, {100 * raced / whole:.1f} % raced, {megabytes:.0f} MB",
        flush=True,
    )
    return row


if __name__ == "__main__":
    main()
