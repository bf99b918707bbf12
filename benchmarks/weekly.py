"""What it is worth to have tuned the same table before: this week's search with and without last week's in the KB.

python benchmarks/proof.py prepare --kb base.db     the starter, and lessons without the tested data sets
python benchmarks/weekly.py run --kb base.db --results weekly.jsonl [--last-week 60] [--budget 10] [--every 1]
python benchmarks/weekly.py report --results weekly.jsonl

The data sets are those of proof.py, left out of the experience with all their relatives. A third of the rows is held
back. Last week had the first 70 % of the others; this week has all of them. The same search is made with a knowledge
base that saw last week's, with one that did not, and without experience, in turns.
"""

import argparse
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from proof import DATASETS, halves, held_out_score, loss_of, read, related, tested

from metaml.data import Dataset, from_frame
from metaml.search.settings import TuneSettings
from metaml.tuning.run import Tuned, tune
from metaml_kb import open_kb

SHARE = 0.7
VARIANTS = ("last week", "starter", "nothing")


def run(asked: argparse.Namespace) -> None:
    """Run what is missing in the results file."""
    every = tested(asked.folder)
    done = {row["dataset"] for row in read(asked.results)} if asked.results.exists() else set()
    for name in every[:: asked.every]:
        if name not in done:
            for row in one(asked, name, tuple(related(every))):
                with asked.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


def one(asked: argparse.Namespace, name: str, leave_out: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the results on a data set, a row for each variant."""
    train, test, target = halves(asked.folder / f"{name}.csv.gz", asked.seed)
    before = from_frame(train.head(int(SHARE * len(train))), target=target, name=f"{name}, last week")
    now = from_frame(train, target=target, name=f"{name}, this week")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        knowing = copied(asked.kb, Path(folder) / "knowing.db")
        searched(before, knowing, asked.last_week, asked.seed, leave_out)
        for variant in VARIANTS:
            place = copied(knowing if variant == "last week" else asked.kb, Path(folder) / f"{variant}.db")
            tuned = searched(now, place, asked.budget, asked.seed, leave_out, uses_memory=variant != "nothing")
            trials = tuned.found.trials
            rows.append(
                {
                    "dataset": name,
                    "task": now.task,
                    "variant": variant,
                    "test": held_out_score(now, tuned.finished.model, test, target),
                    "cross_validated": tuned.finished.score,
                    "n": len(trials),
                    "n_warm": sum(trial.run.origin == "warm start" for trial in trials),
                    "wall": tuned.seconds,
                }
            )
    return rows


def copied(base: Path, place: Path) -> Path:
    """Return a copy of a knowledge base with its lessons."""
    shutil.copy(base, place)
    shutil.copytree(f"{base}.lessons", f"{place}.lessons")
    return place


def searched(
    dataset: Dataset, place: Path, seconds: float, seed: int, leave_out: tuple[str, ...], *, uses_memory: bool = True
) -> Tuned:
    """Return what a search found."""
    settings = TuneSettings(
        seconds=seconds, n_workers=2, seed=seed, uses_memory=uses_memory, exclude_datasets=leave_out
    )
    with open_kb(place) as kb:
        return tune(dataset, settings, kb=kb)


def report(asked: argparse.Namespace) -> None:
    """Print wins, losses and by how much the held-out loss is smaller than without last week's runs."""
    frame = pd.DataFrame(read(asked.results))
    wide = frame.pivot_table(index=["dataset", "task"], columns="variant", values="test").dropna()
    loss = loss_of(wide)
    for other in VARIANTS[1:]:
        gain = np.log(loss[other].clip(lower=1e-6)) - np.log(loss["last week"].clip(lower=1e-6))
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        wins, losses = int((gain > 1e-9).sum()), int((gain < -1e-9).sum())
        parts = [
            f"last week against {other}: {len(gain)} data sets, won {wins}, lost {losses}",
            f"loss smaller by {100 * gain.mean():.1f} % +- {100 * error:.1f} (median {100 * gain.median():.1f})",
        ]
        print("; ".join(parts))
    print(frame.groupby("variant")[["n", "n_warm", "wall"]].median())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "report"])
    parser.add_argument("--kb", type=Path)
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--results", type=Path, default=Path("weekly.jsonl"))
    parser.add_argument("--last-week", type=float, default=60.0, help="seconds of last week's search")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of this week's")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only every so many of the data sets")
    asked = parser.parse_args()
    {"run": run, "report": report}[asked.command](asked)


if __name__ == "__main__":
    main()
