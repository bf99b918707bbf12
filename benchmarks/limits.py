"""What limits on a model cost, and what a row takes: one search on each data set, its model with and without limits.

    python benchmarks/limits.py run [--iterations 6]     what is missing in the results file
    python benchmarks/limits.py report

600 rows of each data set are searched on, by a number of evaluations in three folds, and up to 2,000 others judge. The
same search ends in three models: without limits, with `--max-predict-ms 2 --max-model-mb 5`, and a single one. Each is
measured in a fresh process, the limited one twice: once by the search and once more here. Times are processor time. The
models stay in results/limits, so that another version of metaml can be timed on them: `time FOLDER`. Results:
results/limits.jsonl. The report has FLAML's single model beside ours if one_row_flaml.py was run.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import metaml
from metaml.budget import Budget
from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.evaluation import LocalExecutor, metric
from metaml.evaluation.model_limits import ModelLimits
from metaml.model.measuring import measure
from metaml.search.settings import TuneSettings
from metaml.tuning.final_model import finish
from metaml.tuning.job_batch import Ending
from metaml.tuning.limited_model import within_limits
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb

DATA = Path(__file__).resolve().parents[2] / "shared" / "datasets"
RESULTS = Path(__file__).parent / "results" / "limits.jsonl"
MODELS = Path(__file__).parent / "results" / "limits"
DATASETS = (
    *("ada_agnostic-train", "aer-creditcard", "airfoil", "bank32nh", "breast-w", "cardiotocography-nsp", "ccpp", "cmc"),
    *("compas-two-years", "credit-approval", "diabetes", "eeg-eye-state", "energy-heating", "heloc", "kc1", "kin8nm"),
    *("maternal-health-risk", "page-blocks", "PhishingWebsites", "sylvine", "wind", "waveform-5000"),
    *("hr-employee-left", "irish"),
)
FLAML = Path(__file__).parent / "results" / "one_row_flaml.jsonl"
N_ROWS, N_TESTED, N_TIMED = 600, 2000, 60
LIMITS = ModelLimits(predict_ms=2.0, megabytes=5.0)
KINDS = ("free", "limited")


def run(n_iterations: int, n_datasets: int) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = {record["dataset"] for record in read()}
    with LocalExecutor(1) as executor:
        for name in [name for name in DATASETS if (DATA / f"{name}.csv.gz").exists()][:n_datasets]:
            if name not in done:
                record = one(name, n_iterations, executor)
                with RESULTS.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(record, flush=True)


def one(name: str, n_iterations: int, executor: LocalExecutor) -> dict:
    frame = pd.read_csv(DATA / f"{name}.csv.gz").sample(frac=1.0, random_state=0, ignore_index=True)
    part, rest = frame[:N_ROWS], frame[N_ROWS : N_ROWS + N_TESTED]
    dataset = from_frame(part, target=frame.columns[-1], name=name)
    plain = TuneSettings(seconds=None, n_iterations=n_iterations, n_folds=3, uses_memory=False, calibrates=False)
    limited = TuneSettings(
        seconds=None, n_iterations=n_iterations, n_folds=3, uses_memory=False, calibrates=False, model_limits=LIMITS
    )
    record: dict = {"dataset": name, "task": dataset.task}
    with FoldModels() as models, open_kb(":memory:") as kb:
        found = TuneSession(dataset, kb, plain, executor, models=models).run()
        ending = Ending(dataset, found, executor, plain, Budget(None), models)
        free, alone = finish(ending), finish(ending, single=True)
        made = {"free": free, "single": alone}
        try:
            made["limited"] = within_limits(free, replace(ending, settings=limited))
        except BadRequest as error:
            record["refused"] = str(error)
    record["metric"] = found.metric
    for kind, finished in made.items():
        folder = MODELS / name / kind
        folder.mkdir(parents=True, exist_ok=True)
        finished.model.save(folder)
        taken = measure(finished.model, dataset)
        record[kind] = {
            "ms": round(taken.predict_ms, 3),
            "mb": round(taken.megabytes, 3),
            "n_models": sum(len(member.estimators) for member in finished.model.members),
            "cross_validated": finished.score,
            "held_out": held_out(finished.model, rest, found.metric),
        }
    return record


def held_out(model: metaml.model.Model, rows: pd.DataFrame, name: str) -> float | None:
    """Return the score on rows that the search has not seen; None if they are too few."""
    if len(rows) < 100:
        return None
    table = metaml.evaluate(model, rows, metric=name)
    return float(table["score"][0])


def time_all(folder: Path) -> None:
    """Print the median processor milliseconds for a row of each kept model."""
    medians: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*/*/model.zip")):
        model = metaml.load(path)
        frame = pd.read_csv(DATA / f"{path.parent.parent.name}.csv.gz")
        rows = [frame.iloc[[place]] for place in range(N_TIMED)]
        for row in rows[:3]:
            model.answer(row)
        seconds = [_seconds(model, row) for row in rows]
        medians.setdefault(path.parent.name, []).append(1000 * float(np.median(seconds)))
    for kind, values in medians.items():
        print(f"{kind}: median {np.median(values):.2f} ms, largest {max(values):.2f} ms, {len(values)} data sets")


def _seconds(model: metaml.model.Model, row: pd.DataFrame) -> float:
    begun = time.process_time()
    model.answer(row)
    return time.process_time() - begun


def report() -> None:
    print("| data set | models | ms | MB | score | limited: models | ms | MB | score | single: ms | FLAML: ms |")
    print("| --- |" + " ---: |" * 10)
    records, flaml = read(), {record["dataset"]: record["ms"] for record in read(FLAML)}
    for record in records:
        sign = metric(record["metric"]).sign
        cells = [record["dataset"]]
        for kind in ("free", "limited"):
            own = record.get(kind)
            score = None if own is None else own["held_out"] if own["held_out"] is not None else own["cross_validated"]
            cells += ["–"] * 4 if own is None else [own["n_models"], own["ms"], own["mb"], f"{sign * score:.4f}"]
        print("| " + " | ".join(map(str, [*cells, record["single"]["ms"], flaml.get(record["dataset"], "")])) + " |")
    kept = [r["limited"] for r in records if "limited" in r]
    within = sum(own["ms"] <= LIMITS.predict_ms and own["mb"] <= LIMITS.megabytes for own in kept)
    print(f"\n{len(records)} data sets; limits kept on {within} of {len(kept)}, refused on {len(records) - len(kept)}")
    for kind in ("free", "single", "limited"):
        values = [r[kind]["ms"] for r in records if kind in r]
        print(f"{kind}: median {np.median(values):.2f} ms, largest {max(values):.2f} ms")
    ratios = [r["single"]["ms"] / flaml[r["dataset"]] for r in records if r["dataset"] in flaml]
    if ratios:
        print(f"FLAML: median {np.median(list(flaml.values())):.2f} ms; single / FLAML: median {np.median(ratios):.2f}")
        print(f"largest {max(ratios):.2f}, {len(ratios)} data sets")
    costs(records)


def costs(records: list[dict]) -> None:
    """Print what limits cost in score: a loss of AUC in points, an increase of another loss in per cent."""
    for name in sorted({record["metric"] for record in records}):
        pairs = [
            tuple(r[kind]["held_out" if r[kind]["held_out"] is not None else "cross_validated"] for kind in KINDS)
            for r in records
            if r["metric"] == name and "limited" in r
        ]
        is_share = metric(name).sign > 0
        lost = np.array([100 * (free - own) if is_share else 100 * (own / free - 1) for free, own in pairs])
        error = lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else float("nan")
        unit = "points" if is_share else "%"
        print(
            f"{name}: limits cost {lost.mean():+.2f} ± {error:.2f} {unit}, median {np.median(lost):+.2f}, "
            f"most {lost.max():+.2f}, {len(lost)} data sets, the same on {int((lost == 0).sum())}"
        )


def read(path: Path = RESULTS) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report", "time"])
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS)
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--datasets", type=int, default=len(DATASETS))
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.iterations, asked.datasets)
    if asked.what == "time":
        time_all(asked.folder)
    else:
        report()
