"""What zero-shot settings are worth: estimators of three libraries with them and with the libraries' defaults.

python benchmarks/zero_shot.py prepare --kb base.db     the starter, and lessons without the tested
python benchmarks/zero_shot.py run --kb base.db --results zero_shot.jsonl [--seconds 600]
python benchmarks/zero_shot.py flaml --results zero_shot.jsonl [--seconds 300]     in an environment that has FLAML
python benchmarks/zero_shot.py report --results zero_shot.jsonl
python benchmarks/zero_shot.py first     the first call of fresh processes: seconds by the clock, and of the processor

36 data sets, 12 of each task, drawn evenly over sizes as in proof.py. They and what is related to them are left out of
the lessons together. Two thirds of the rows train, one third tests; categories become integers, the same for all sides.
"""

import argparse
import csv
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

DATASETS = Path(__file__).resolve().parents[2] / "shared" / "datasets"
LEARNERS = ("lightgbm", "xgboost", "random_forest")
FLAML = {"lightgbm": "LGBM", "xgboost": "XGB", "random_forest": "RandomForest"}
METRICS = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "neg_rmse"}
PER_TASK = 12
LARGEST = 12_000


def tested(place: Path) -> list[tuple[str, str]]:
    """Return names and tasks of the data sets under test: of each task, evenly over sizes."""
    with (place / "manifest.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if 300 <= int(row["n_rows"]) <= LARGEST]
    chosen = []
    for task in METRICS:
        own = sorted((row for row in rows if row["task"] == task), key=lambda row: int(row["n_rows"]))
        places = np.linspace(0, len(own) - 1, PER_TASK + 2).round().astype(int)[1:-1]
        chosen += [(own[k]["name"], task) for k in places]
    return chosen


def prepare(asked: argparse.Namespace) -> None:
    """Make the knowledge base and its lessons."""
    from proof import related

    from metaml.experience.lesson_files import LessonRequest, learn
    from metaml.experience.load_history import to_leave_out
    from metaml.starter import open_with_starter

    names = related([name for name, _ in tested(asked.folder)])
    with open_with_starter(asked.kb) as kb:
        left_out = to_leave_out(kb, names)
        for task, metric in METRICS.items():
            lessons = learn(kb, LessonRequest(metric, task, left_out=left_out))  # type: ignore[arg-type]
            print(f"{task}: {lessons.n_runs} runs on {lessons.n_datasets} data sets", flush=True)


def halves(path: Path, task: str) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    """Return two thirds of the rows with their target, and the last third; words are integers."""
    frame = pd.read_csv(path)
    target = frame.columns[-1]
    frame = frame[frame[target].notna()]
    y = frame[target].to_numpy() if task == "regression" else pd.factorize(frame[target], sort=True)[0]
    X = frame.drop(columns=target)
    X = X.apply(lambda column: column if column.dtype.kind in "if" else pd.factorize(column, sort=True)[0])
    X = X.astype(np.float64).set_axis([f"x{k}" for k in range(X.shape[1])], axis=1)
    order = np.random.default_rng(0).permutation(len(X))
    cut = int(len(X) * 0.67)
    train, test = order[:cut], order[cut:]
    if task != "regression":
        known = np.unique(y[train])
        test = test[np.isin(y[test], known)]
        y = np.searchsorted(known, y)
    return X.iloc[train], y[train], X.iloc[test], y[test]


def loss_of(task: str, estimator: object, parts: tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]) -> float:
    """Return the loss of a fitted estimator on the last third: 1 - AUC, log loss or RMSE."""
    from sklearn.metrics import log_loss, roc_auc_score, root_mean_squared_error

    X, y, X_test, y_test = parts
    with warnings.catch_warnings(action="ignore"):
        estimator.fit(X, y)
        if task == "regression":
            return float(root_mean_squared_error(y_test, estimator.predict(X_test)))
        chances = estimator.predict_proba(X_test)
    if task == "binary":
        return float(1 - roc_auc_score(y_test, chances[:, 1]))
    return float(log_loss(y_test, np.clip(chances, 1e-6, 1), labels=np.arange(chances.shape[1])))


def default_of(learner: str, task: str) -> object:
    """Return a library's estimator with its own defaults."""
    import lightgbm
    import xgboost
    from sklearn import ensemble

    kind = "Regressor" if task == "regression" else "Classifier"
    if learner == "lightgbm":
        return getattr(lightgbm, f"LGBM{kind}")(verbosity=-1, n_jobs=1, random_state=0)
    if learner == "xgboost":
        return getattr(xgboost, f"XGB{kind}")(n_jobs=1, random_state=0)
    return getattr(ensemble, f"RandomForest{kind}")(n_jobs=1, random_state=0)


def run(asked: argparse.Namespace) -> None:
    """Run what is missing in the results file, data set by data set, until the time is up."""
    from proof import related

    import metaml
    from metaml_kb import open_kb

    end, every = time.monotonic() + asked.seconds, tested(asked.folder)
    left_out = related([name for name, _ in every])
    with open_kb(asked.kb) as kb:
        known = {str(name) for name in kb.datasets()["name"]}
        left_out = [name for name in left_out if name in known]
        for name, task in every:
            for learner in LEARNERS:
                if (name, learner, "zero_shot") in done(asked.results) or time.monotonic() > end:
                    continue
                parts = halves(asked.folder / f"{name}.csv.gz", task)
                begun = time.perf_counter()
                estimator = metaml.zero_shot(learner, *parts[:2], task=task, kb=kb, exclude_datasets=left_out)
                seconds = time.perf_counter() - begun
                estimator.set_params(n_jobs=1)
                write(asked.results, name, task, learner, "zero_shot", loss_of(task, estimator, parts), seconds)
                write(asked.results, name, task, learner, "default", loss_of(task, default_of(learner, task), parts))


FIRST = """
import pathlib, sys, time, pandas as pd, metaml
frame = pd.read_csv(pathlib.Path(sys.argv[1]) / "cmc.csv.gz")
begun, used = time.perf_counter(), time.process_time()
metaml.zero_shot(sys.argv[2], frame.iloc[:, :-1], frame.iloc[:, -1])
print(f"{sys.argv[2]}: {time.perf_counter() - begun:.2f} s, {time.process_time() - used:.2f} s of the processor")
"""


def first(asked: argparse.Namespace) -> None:
    """Print what the first call of a process takes, five times for each learner."""
    for learner in 5 * LEARNERS:
        subprocess.run([sys.executable, "-W", "ignore", "-c", FIRST, str(asked.folder), learner], check=True)


def flaml(asked: argparse.Namespace) -> None:
    """Run the estimators of `flaml.default` on the same parts."""
    import flaml.default

    end = time.monotonic() + asked.seconds
    for name, task in tested(asked.folder):
        for learner in LEARNERS:
            if (name, learner, "flaml") in done(asked.results) or time.monotonic() > end:
                continue
            kind = f"{FLAML[learner]}{'Regressor' if task == 'regression' else 'Classifier'}"
            estimator = getattr(flaml.default, kind)(n_jobs=1)
            try:
                loss = loss_of(task, estimator, halves(asked.folder / f"{name}.csv.gz", task))
            except Exception as error:
                print(f"{name} {learner}: {type(error).__name__}: {error}", flush=True)
                continue
            write(asked.results, name, task, learner, "flaml", loss)


def done(results: Path) -> set[tuple[str, str, str]]:
    """Return what the results file has."""
    if not results.exists():
        return set()
    rows = map(json.loads, results.read_text().splitlines())
    return {(row["dataset"], row["learner"], row["side"]) for row in rows}


def write(
    results: Path, dataset: str, task: str, learner: str, side: str, loss: float, seconds: float | None = None
) -> None:
    """Append a row to the results file."""
    row = {"dataset": dataset, "task": task, "learner": learner, "side": side, "loss": loss, "seconds": seconds}
    with results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)


def report(asked: argparse.Namespace) -> None:
    """Print wins and the mean gain in log loss ratio (percent less loss), with its standard error over data sets."""
    frame = pd.DataFrame(map(json.loads, asked.results.read_text().splitlines()))
    print(f"seconds of a call: median {frame['seconds'].median():.2f}, longest {frame['seconds'].max():.2f}")
    wide = frame.pivot_table(index=["learner", "dataset"], columns="side", values="loss")
    for other in [side for side in ("default", "flaml") if side in wide]:
        pairs = wide[["zero_shot", other]].dropna()
        gains = np.log(pairs[other].clip(lower=1e-6)) - np.log(pairs["zero_shot"].clip(lower=1e-6))
        for learner, gain in [*gains.groupby("learner"), ("all", gains.groupby("dataset").mean())]:
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            won, lost = int((gain > 0).sum()), int((gain < 0).sum())
            print(
                f"{learner:14} against {other:8} {len(gain)} data sets: won {won}, lost {lost}, "
                f"loss {100 * (1 - np.exp(-gain.mean())):+.1f} % lower (log ratio {gain.mean():.4f} ± {error:.4f})"
            )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("prepare", "run", "flaml", "report", "first"))
    parser.add_argument("--kb", default="zero_shot.db")
    parser.add_argument("--results", type=Path, default=Path("zero_shot.jsonl"))
    parser.add_argument("--folder", type=Path, default=DATASETS)
    parser.add_argument("--seconds", type=float, default=600.0)
    asked = parser.parse_args()
    {"prepare": prepare, "run": run, "flaml": flaml, "report": report, "first": first}[asked.what](asked)


if __name__ == "__main__":
    main()
