"""metaml beside other AutoML tools: the same splits, the same seconds, two threads, one run at a time.

python benchmarks/automl.py install                  one virtual environment for each tool
python benchmarks/automl.py prepare                  the experience that metaml may use
python benchmarks/automl.py run --budget 60          what is missing in the results file; ends with the report
python benchmarks/automl.py report --budget 60

Each tool optimises the measure that it is judged by: ROC AUC for two classes, log loss for several, RMSE for numbers. A
tool is handed the whole budget when it is called; `wall` counts from the start of its process until the model is ready,
so `overrun` holds its imports as well, which `setup` tells apart. metaml itself counts its budget from the start of its
process. Installed is what each tool's own instructions name; of AutoGluon the boosting libraries, the neural
networks and ray, without which its best preset breaks off. The data sets and how they were chosen:
automl_tools/chosen_data.py.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from automl_tools import chosen_data, summary
from automl_tools.contract import Job

from metaml.evaluation import METRICS

HERE = Path(__file__).resolve().parent
RUNNERS = HERE / "automl_tools"
PLACE = Path(tempfile.gettempdir()) / "metaml-automl"
THREADS = 2
SAMPLE_SECONDS = 0.25
IDLE_SECONDS = 1.0
"""How long the machine is watched before a run, to tell whether the run has it for itself."""
LONGEST_REASON = 300

THIS = ["-e", str(HERE.parent)]
ENVIRONMENTS: dict[str, list[list[str]]] = {
    "metaml": [THIS],
    "optuna": [["optuna", *THIS]],
    "smac": [["smac", *THIS]],
    "flaml": [["flaml[automl]"]],
    "h2o": [["h2o", "pandas"]],
    # PyTorch alone first: as a dependency it would come with gigabytes for graphics cards.
    "autogluon": [["torch==2.13.0"], ["torch==2.13.0", "autogluon.tabular[lightgbm,xgboost,catboost,fastai,ray]"]],
}
"""The packages of each environment, in the order of their installation."""

TOOLS: dict[str, tuple[str, list[str]]] = {
    "metaml": ("metaml", ["with_metaml.py"]),
    "metaml without experience": ("metaml", ["with_metaml.py", "--no-kb"]),
    "FLAML": ("flaml", ["with_flaml.py"]),
    "AutoGluon medium": ("autogluon", ["with_autogluon.py", "medium_quality"]),
    "AutoGluon best": ("autogluon", ["with_autogluon.py", "best_quality"]),
    "H2O": ("h2o", ["with_h2o.py"]),
    "Optuna TPE": ("optuna", ["with_search.py", "optuna"]),
    "SMAC3": ("smac", ["with_search.py", "smac"]),
    "default random forest": ("metaml", ["with_default.py", "random_forest"]),
    "default LightGBM": ("metaml", ["with_default.py", "lightgbm"]),
}
"""The environment and the command of each tool; the folder of the run is put between the runner and the rest."""

Key = tuple[str, str, int, float]


def install(asked: argparse.Namespace) -> None:
    """Make the environments that are not there yet; one that fails is removed, and named."""
    for name, steps in ENVIRONMENTS.items():
        if (asked.envs / name / "complete").exists():
            continue
        venv.create(asked.envs / name, with_pip=True, clear=True)
        for packages in steps:
            done = subprocess.run([python_of(asked.envs, name), "-m", "pip", "install", "--quiet", *packages])
            if done.returncode:
                shutil.rmtree(asked.envs / name)
                print(f"{name}: could not be installed", flush=True)
                break
        else:
            (asked.envs / name / "complete").touch()
            print(f"{name}: ready", flush=True)


def prepare(asked: argparse.Namespace) -> None:
    """Make the knowledge base of metaml: the starter, and lessons from it without any data set of the comparison."""
    from metaml.evaluation import default_metric
    from metaml.experience.lesson_files import LessonRequest, learn
    from metaml.experience.load_history import to_leave_out
    from metaml.starter import open_with_starter

    asked.work.mkdir(parents=True, exist_ok=True)
    place = asked.work / "experience.db"
    place.unlink(missing_ok=True)
    with open_with_starter(place) as kb:
        left_out = to_leave_out(kb, chosen_data.ALL)
        for task in ("binary", "multiclass", "regression"):
            lessons = learn(kb, LessonRequest(default_metric(task), task, left_out=left_out), n_threads=THREADS)  # type: ignore[arg-type]
            print(
                f"{task}: {lessons.n_runs} runs on {lessons.n_datasets} data sets, {lessons.seconds:.0f} s", flush=True
            )


def python_of(envs: Path, name: str) -> str:
    """Return the interpreter of an environment."""
    return str(envs / name / "bin" / "python")


def finished(path: Path) -> dict[Key, summary.Row]:
    """Return the results so far; of several for the same run the last counts."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(row["tool"], row["dataset"], row["seed"], row["budget"]): row for row in rows}


def missing(asked: argparse.Namespace) -> Iterator[Key]:
    """Yield the runs to make: all tools on one data set before the next."""
    known = finished(asked.results)
    for seed in asked.seeds:
        for dataset in asked.datasets:
            for tool in asked.tools:
                key = (tool, dataset, seed, asked.budget)
                if key not in known or tool in asked.redo:
                    yield key


def run(asked: argparse.Namespace) -> None:
    """Make every run that has no result yet, one at a time, and print the report."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked.threads])
    listed = chosen_data.manifest(asked.data)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    for tool, dataset, seed, budget in list(missing(asked)):
        target, task = str(listed.at[dataset, "target"]), str(listed.at[dataset, "task"])
        data = asked.work / "splits" / dataset
        chosen_data.split(dataset, target, task, data, asked.data)
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=asked.work))
        job = Job(
            tool=tool,
            dataset=dataset,
            data=str(data),
            folder=str(folder),
            target=target,
            task=task,
            budget=budget,
            seed=seed,
            threads=asked.threads,
            started=0.0,
        )
        row = {
            "tool": tool,
            "dataset": dataset,
            "seed": seed,
            "budget": budget,
            "task": job.task,
            **measured(job, asked),
        }
        with asked.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)
        print(line_about(row), flush=True)
    report(asked)


def measured(job: Job, asked: argparse.Namespace) -> summary.Row:
    """Return what a tool's process scored and took; `status` is ok, failed or timeout."""
    environment, (runner, *options) = TOOLS[job.tool]
    folder = Path(job.folder)
    busy = psutil.cpu_percent(interval=IDLE_SECONDS)
    job = replace(job, started=time.time())
    job.write()
    row: summary.Row = {"busy_percent_before": busy}
    names = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")
    limits = {f"{name}_NUM_THREADS": str(job.threads) for name in names}
    surroundings = {**os.environ, **limits, "LOKY_MAX_CPU_COUNT": str(job.threads), "COLUMNS": "200"}
    command = [python_of(asked.envs, environment), str(RUNNERS / runner), job.folder, *options]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=surroundings, stdout=log, stderr=subprocess.STDOUT)
        row["peak_megabytes"], is_late = watched(process, 3 * job.budget + 60)
    text = (folder / "log.txt").read_text(errors="replace").strip()
    if is_late:
        return {**row, "status": "timeout", "reason": f"not done within {3 * job.budget + 60:g} s"}
    if process.returncode or not (folder / "meta.json").exists():
        last = (text.splitlines() or ["no output"])[-1]
        reason = last.replace(job.folder, "RUN").replace(str(asked.envs), "ENVS")[:LONGEST_REASON]
        return {**row, "status": "failed", "reason": f"exit code {process.returncode}: {reason}"}
    try:
        scores = judged(job, pd.read_csv(folder / "predictions.csv", low_memory=False))
    except (ValueError, KeyError) as error:
        return {**row, "status": "failed", "reason": f"predictions that cannot be judged: {error}"[:LONGEST_REASON]}
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return {"status": "ok", **scores, **meta, "overrun_seconds": meta["wall_seconds"] - job.budget, **row}


def watched(process: "subprocess.Popen[Any]", seconds: float) -> tuple[float, bool]:
    """Return the peak memory of a process and its descendants in megabytes, and whether it had to be killed."""
    peak, deadline = 0.0, time.monotonic() + seconds
    family: dict[int, psutil.Process] = {}
    while process.poll() is None and time.monotonic() < deadline:
        try:
            own = psutil.Process(process.pid)
            family = {relative.pid: relative for relative in [own, *own.children(recursive=True)]} | family
        except psutil.NoSuchProcess:
            break
        peak = max(peak, sum(map(megabytes, family.values())))
        time.sleep(SAMPLE_SECONDS)
    is_late = process.poll() is None and time.monotonic() >= deadline
    for relative in family.values():
        # A server that a tool has started may outlive it; the next run must have the machine for itself.
        if is_late or relative.pid != process.pid:
            with contextlib.suppress(psutil.NoSuchProcess):
                relative.kill()
    process.wait()
    return peak, is_late


def megabytes(process: psutil.Process) -> float:
    """Return the memory of a process, of what it shares with others only its part; 0 when it is gone."""
    try:
        return float(process.memory_full_info().pss) / 1e6
    except psutil.Error:
        return 0.0


def judged(job: Job, table: pd.DataFrame) -> dict[str, float]:
    """Return the measures of a task from a table of predictions, losses positive."""
    truth = pd.read_csv(Path(job.data) / "truth.csv")[job.target]
    if len(table) != len(truth):
        raise ValueError(f"{len(table)} predictions for {len(truth)} rows")
    output = (table.iloc[:, [0]] if job.task == "regression" else table.iloc[:, 1:]).to_numpy(dtype=float)
    if not np.isfinite(output).all():
        raise ValueError("some are not finite")
    if job.task == "regression":
        return {"rmse": -METRICS["neg_rmse"].function(truth.to_numpy(dtype=float), output[:, 0])}
    labels = [as_label(name) for name in table.columns[1:]]
    codes = pd.Index(labels).get_indexer(pd.Index([as_label(value) for value in truth]))
    if (codes < 0).any():
        raise ValueError(f"classes {labels[:8]} do not include {sorted(set(truth[codes < 0].astype(str)))[:8]}")
    return {
        "roc_auc": METRICS["roc_auc"].function(codes, output),
        "log_loss": -METRICS["neg_log_loss"].function(codes, output),
        "balanced_accuracy": METRICS["balanced_accuracy"].function(codes, output.argmax(axis=1)),
    }


def as_label(value: object) -> str:
    """Return a class as text, the same whether a tool has read it as a number or not.

    >>> as_label("2.0") == as_label(2), as_label("yes")
    (True, 'yes')
    """
    try:
        return repr(float(str(value)))
    except ValueError:
        return str(value)


def line_about(row: summary.Row) -> str:
    """Return a run in a line."""
    head = f"{time.strftime('%H:%M')} {row['dataset']}, {row['tool']}, seed {row['seed']}, {row['budget']:g} s:"
    if row["status"] != "ok":
        return f"{head} {row['status']}, {row['reason']}"
    measure, label = summary.MEASURES[row["task"]]
    return f"{head} {label} {row[measure]:.4f} after {row['wall_seconds']:.1f} s, {row['peak_megabytes']:.0f} MB"


def report(asked: argparse.Namespace) -> None:
    """Print what the results say at the budget asked for."""
    rows = [
        row
        for (tool, dataset, seed, budget), row in finished(asked.results).items()
        if budget == asked.budget and tool in asked.tools and dataset in asked.datasets and seed in asked.seeds
    ]
    order = {name: place for place, name in enumerate([*asked.datasets, *asked.tools])}
    rows.sort(key=lambda row: (order[row["dataset"]], order[row["tool"]], row["seed"]))
    print(summary.report(rows, asked.budget, asked.against) if rows else f"No results at {asked.budget:g} s yet.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["install", "prepare", "run", "report"])
    parser.add_argument("--envs", type=Path, default=PLACE / "envs", help="folder of the virtual environments")
    parser.add_argument("--work", type=Path, default=PLACE / "work", help="folder of the splits and of the runs")
    parser.add_argument("--data", type=Path, default=chosen_data.FOLDER, help="folder of the data sets")
    parser.add_argument("--results", type=Path, default=HERE / "results" / "automl.jsonl")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds, 60 or 10")
    parser.add_argument("--threads", type=int, default=THREADS, help="processors and threads of each tool")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS), metavar="TOOL")
    parser.add_argument("--datasets", nargs="+", default=list(chosen_data.CHOSEN), metavar="NAME")
    parser.add_argument("--redo", nargs="+", choices=list(TOOLS), default=[], metavar="TOOL", help="run these again")
    parser.add_argument(
        "--against", choices=list(TOOLS), default="metaml", metavar="TOOL", help="compare with this one"
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder of each run")
    asked = parser.parse_args()
    asked.envs, asked.work, asked.results = asked.envs.resolve(), asked.work.resolve(), asked.results.resolve()
    {"install": install, "prepare": prepare, "run": run, "report": report}[asked.command](asked)


if __name__ == "__main__":
    main()
