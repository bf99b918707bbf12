"""What the starter experience is worth: `tune` with and without it on data sets that it has never seen.

python benchmarks/proof.py prepare --kb base.db     a knowledge base with the starter, and lessons without the tested
python benchmarks/proof.py run --kb base.db --results proof.jsonl [--budgets 10,30,60] [--seeds 1] [--every 1]
python benchmarks/proof.py report --results proof.jsonl

All tested data sets, and what is related to them, are left out of the lessons together, or with `--groups N` the N
parts of the list one after the other. A third of the rows is held back for the score; both sides see the same rows. The
tested ones were drawn once, evenly over tasks and sizes, before any result was seen; `--datasets` names others.
"""

import argparse
import csv
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from starter import DATASETS

from metaml.data import Dataset, from_frame
from metaml.evaluation import default_metric, metric
from metaml.experience.lesson_files import LessonRequest, learn
from metaml.experience.load_history import to_leave_out
from metaml.model import Model
from metaml.search.settings import TuneSettings
from metaml.starter import open_with_starter
from metaml.tuning.run import tune
from metaml_kb import open_kb

RELATED = [
    ("mfeat-factors", "mfeat-fourier", "mfeat-karhunen", "mfeat-morphological", "mfeat-pixel", "mfeat-zernike"),
    ("cm1-nasa", "jm1", "kc1", "kc2", "kc3", "mc2", "mw1", "pc1", "pc3", "pc4", "jEdit_4.0_4.2"),
    ("sick", "hypothyroid", "new-thyroid"),
    ("adult", "ada_agnostic-train", "marketing-income"),
    ("heart-c", "heart-h", "saheart"),
    ("breast-w", "wdbc", "wisconsin", "breast-cancer"),
    ("parkinsons", "parkinsons-telemonitoring", "pd-speech"),
    ("bank8FM", "bank32nh", "puma8NH", "puma32H", "kin8nm"),
    ("ailerons", "elevators", "delta_ailerons", "delta_elevators"),
    ("2dplanes", "fried", "mv", "pwLinear"),
    ("ringnorm", "twonorm", "banana", "waveform-5000"),
    ("wine-quality-red", "wine-quality-white", "wine"),
    ("qsar-aquatic-toxicity", "qsar-fish-toxicity"),
    ("SPECT", "SPECTF"),
    ("diabetes", "diabetes-lars"),
    ("optdigits", "pendigits", "semeion", "letter", "led7digit", "isolet-1560"),
    ("one-hundred-plants-margin", "leaf-flavia"),
    ("cps1988", "cps_85_wages", "wage", "wages-psid", "slid-wages", "gss-wages", "working-hours"),
    ("cal-housing", "house_8L", "kc-house-sales", "sacramento", "saratoga-houses", "windsor-housing", "txhousing"),
    ("credit-default-islr", "default-credit-card-clients", "credit-scoring", "heloc", "lending-club", "loans-interest"),
    ("kr-vs-kp", "krkopt", "jungle_chess_2pcs_raw"),
    ("catsup-choice", "cracker-choice", "fishing-mode"),
    ("dhfr", "mdrr", "blood-brain", "musk1", "tokyo1", "triazines"),
]
"""Data sets of one origin, or subsets and variants of one another."""
PER_TASK = 8
LARGEST = 12_000


def tested(place: Path) -> list[str]:
    """Return the data sets under test: of each task, evenly over sizes."""
    with (place / "manifest.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if 300 <= int(row["n_rows"]) <= LARGEST]
    chosen = []
    for task in ("binary", "multiclass", "regression"):
        own = sorted((row for row in rows if row["task"] == task), key=lambda row: int(row["n_rows"]))
        places = np.linspace(0, len(own) - 1, PER_TASK + 2).round().astype(int)[1:-1]
        chosen += [own[k]["name"] for k in places]
    return chosen


def grouped(asked: argparse.Namespace) -> list[list[str]]:
    """Return the data sets under test, in groups that are left out of the lessons together."""
    every = asked.datasets or tested(asked.folder)
    return [every[start :: asked.groups] for start in range(asked.groups)]


def related(names: list[str]) -> list[str]:
    """Return the names with all that is related to them."""
    every = set(names)
    for family in RELATED:
        if every & set(family):
            every |= set(family)
    return sorted(every)


def prepare(asked: argparse.Namespace) -> None:
    """Make the knowledge base and its lessons."""
    with open_with_starter(asked.kb) as kb:
        for group in grouped(asked):
            names = related(group)
            left_out = to_leave_out(kb, names)
            print(f"{len(names)} names, {len(left_out)} data sets left out")
            for task in ("binary", "multiclass", "regression"):
                lessons = learn(kb, LessonRequest(default_metric(task), task, left_out=left_out), n_threads=2)  # type: ignore[arg-type]
                print(
                    f"{task}: {lessons.n_runs} runs on {lessons.n_datasets} data sets in {lessons.seconds:.0f} s",
                    flush=True,
                )


def halves(path: Path, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return two thirds of the rows, the last third, and the target."""
    frame = pd.read_csv(path)
    target = str(frame.columns[-1])
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = int(len(frame) * 0.67)
    return frame.iloc[order[:cut]].reset_index(drop=True), frame.iloc[order[cut:]].reset_index(drop=True), target


def run(asked: argparse.Namespace) -> None:
    """Run what is missing in the results file."""
    groups, done = grouped(asked), set()
    if asked.results.exists():
        done = {(row["dataset"], row["budget"], row["seed"], row["with"]) for row in read(asked.results)}
    left_out = {name: tuple(related(group)) for group in groups for name in group}
    names = (asked.datasets or tested(asked.folder))[:: asked.every]
    for budget in map(float, asked.budgets.split(",")):
        for seed in range(asked.seeds):
            for name in names:
                for with_experience in (True, False):
                    if (name, budget, seed, with_experience) not in done:
                        row = one(asked, name, budget, seed, with_experience, left_out[name])
                        with asked.results.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
                        print(row, flush=True)


def one(
    asked: argparse.Namespace, name: str, budget: float, seed: int, with_experience: bool, leave_out: tuple[str, ...]
) -> dict[str, object]:
    """Return the result of one search."""
    train, test, target = halves(asked.folder / f"{name}.csv.gz", seed)
    dataset = from_frame(train, target=target, name=name)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "kb.db"
        shutil.copy(asked.kb, place)
        shutil.copytree(f"{asked.kb}.lessons", f"{place}.lessons")
        settings = TuneSettings(
            seconds=budget, n_workers=asked.workers, seed=seed, uses_memory=with_experience, exclude_datasets=leave_out
        )
        begun = time.perf_counter()
        with open_kb(place) as kb:
            tuned = tune(dataset, settings, kb=kb)
        wall = time.perf_counter() - begun
    score = held_out_score(dataset, tuned.finished.model, test, target)
    if with_experience and tuned.found.experience is None:
        raise SystemExit(f"{name}: experience had no part in the search that was to have it. Prepare again.")
    trials = tuned.found.trials
    return {
        "dataset": name,
        "task": dataset.task,
        "budget": budget,
        "seed": seed,
        "with": with_experience,
        "test": score,
        "cross_validated": tuned.finished.score,
        "kind": tuned.finished.kind,
        "n": len(trials),
        "first_seconds": trials[0].at if trials else None,
        "memory_seconds": tuned.found.ledger["memory"],
        "used_memory": tuned.found.experience is not None,
        "wall": wall,
    }


def held_out_score(dataset: Dataset, model: Model, test: pd.DataFrame, target: str) -> float:
    """Return what a model scores on rows that it has not seen; those of unknown target or class do not count."""
    truth = test[target]
    if dataset.labels is None:
        answer = np.asarray(model.predict(test), dtype=np.float64)
        known = truth.notna().to_numpy()
        return float(metric("rmse").function(truth[known].to_numpy(np.float64), answer[known]))
    codes = pd.Series({str(label): code for code, label in enumerate(dataset.labels)})
    y = codes.reindex(truth.astype(str)).to_numpy()
    known = ~np.isnan(y.astype(np.float64))
    chances = model.predict_proba(test)[known]
    return float(metric(default_metric(dataset.task)).function(y[known].astype(np.int64), chances))


def loss_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the losses behind scores: of an area under a curve, what is missing to 1."""
    is_area = scores.index.get_level_values("task") == "binary"
    loss = -scores
    loss.loc[is_area] = 1 - scores.loc[is_area]
    return loss


def read(path: Path) -> Iterator[dict[str, object]]:
    """Yield the rows of a results file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def report(asked: argparse.Namespace) -> None:
    """Print wins, losses and the paired difference, in units of the spread between the two sides and the data sets."""
    frame = pd.DataFrame(read(asked.results))
    for budget, part in frame.groupby("budget"):
        wide = part.pivot_table(index=["dataset", "seed", "task"], columns="with", values="test").dropna()
        loss = loss_of(wide)
        gain = np.log(loss[False].clip(lower=1e-6)) - np.log(loss[True].clip(lower=1e-6))
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        wins, losses = int((gain > 1e-9).sum()), int((gain < -1e-9).sum())
        n = part.groupby("with")["n"].median()
        share = float((gain > 0).mean() + 0.5 * (gain == 0).mean())
        parts = [
            f"{budget:>4.0f} s: {len(gain)} searches, wins {wins}, losses {losses}",
            f"mean rank with {2 - share:.2f}, without {1 + share:.2f}",
            f"loss smaller by {100 * gain.mean():.1f} % +- {100 * error:.1f} (median {100 * gain.median():.1f})",
            f"median evaluations {n.get(True, 0):.0f} and {n.get(False, 0):.0f}",
        ]
        print("; ".join(parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, function in (("prepare", prepare), ("run", run), ("report", report)):
        command = commands.add_parser(name)
        command.add_argument("--kb", type=Path)
        command.add_argument("--folder", type=Path, default=DATASETS)
        command.add_argument("--results", type=Path, default=Path("proof.jsonl"))
        command.add_argument("--budgets", default="10,30,60")
        command.add_argument("--seeds", type=int, default=1)
        command.add_argument("--datasets", nargs="+", default=[], metavar="NAME")
        command.add_argument("--groups", type=int, default=1, help="parts of the list that are left out together")
        command.add_argument("--workers", type=int, default=2)
        command.add_argument("--every", type=int, default=1, help="only every so many of the data sets")
        command.set_defaults(command=function)
    asked = parser.parse_args()
    asked.command(asked)


if __name__ == "__main__":
    main()
