"""The bot on a folder of real data sets: speed, and the reason of every run that did not complete.

python benchmarks/bot_folder.py [--datasets 40] [--runs 880] [--workers 2] [--kb experience.db]
"""

import argparse
import csv
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, run_bot
from metaml.sources import folder
from metaml_kb import open_kb

DATASETS = Path(__file__).parents[2] / "shared" / "datasets"
EXPLAINED = ("not done within", "grew by")


def chosen_files(place: Path, n: int) -> list[Path]:
    """Return n data sets spread evenly over the sizes there are, of every task."""
    with (place / "manifest.csv").open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: (row["task"], int(row["n_rows"]) * int(row["n_features"])))
    places = np.linspace(0, len(rows) - 1, n).round().astype(int)
    return [place / f"{rows[k]['name']}.csv.gz" for k in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=40)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--runs", type=int, default=880)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit-seconds", type=float, default=30.0)
    parser.add_argument("--max-rows", type=int, default=None)
    parser.add_argument("--kb", type=Path, default=None)
    asked = parser.parse_args()
    settings = BotSettings(
        n_runs=asked.runs,
        n_workers=asked.workers,
        limits=Limits(asked.limit_seconds, 4000.0),
        max_rows=asked.max_rows,
        seed=1,
    )
    with tempfile.TemporaryDirectory() as place, open_kb(asked.kb or Path(place) / "kb.db") as kb:
        report = run_bot(kb, folder.sources(chosen_files(asked.folder, asked.datasets)), settings, on_note=print)
        frame = kb.runs()
    busy = report.busy_seconds / report.seconds / asked.workers
    print(f"{time.strftime('%Y-%m-%d')}: {report.n_done} runs on {asked.datasets} data sets in {report.seconds:.0f} s")
    print(f"{60 * report.n_done / report.seconds:.0f} runs per minute, workers {busy:.0%} busy (loading included)")
    print(f"{'algorithm':<20}{'runs':>6}{'ok':>6}{'median s':>10}   reasons")
    unexplained = 0
    for name, runs in frame.groupby("algorithm"):
        failed = runs[runs["status"] != "ok"]
        reasons = Counter((row["status"], str(row["error"])[:60]) for row in failed.to_dict("records"))
        unexplained += sum(n for (_, text), n in reasons.items() if not text.startswith(EXPLAINED))
        reported = "; ".join(f"{n} {status}: {text}" for (status, text), n in reasons.most_common(3))
        seconds = (runs["fit_seconds"] + runs["predict_seconds"]).median()
        print(f"{name:<20}{len(runs):>6}{(runs['status'] == 'ok').sum():>6}{seconds:>10.2f}   {reported}")
    print(f"unexplained failures: {unexplained}")


if __name__ == "__main__":
    main()
