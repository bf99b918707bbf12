"""Where to draw the line, and whom to take: rules for metrics of labels compared on rows that were held back.

python benchmarks/threshold_rules.py make --cache FOLDER [--datasets wilt,…] [--seeds 2]
python benchmarks/threshold_rules.py compare --cache FOLDER [--metrics f1,kappa,balanced_accuracy,accuracy]

`make` keeps out-of-fold and held-out probabilities of nine configurations (defaults and random ones) of each data set,
of which up to 6,000 rows are used; `compare` then needs seconds.
"""

import argparse
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from starter import DATASETS

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.ensemble import threshold_scores
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import select
from metaml.ensemble.threshold_scores import best_line, judge, lines_between
from metaml.ensemble.thresholds import decide
from metaml.evaluation import Job, Limits, evaluate, make_plan, metric
from metaml.model import Member, Model
from metaml.splits.shuffled import plan_folds

Array = npt.NDArray[np.float64]
NAMES = (
    "wilt,oil-spill,thoracic-surgery,pc1,climate-model-simulation-crashes,credit-default-islr,kc1,mammography,"
    "ozone-level-8hr,hmda-mortgage,pc4,stroke,sick,resume-callback,cm1-nasa,indo-rct"
)
ASKED = ("lightgbm",) * 3 + ("xgboost",) * 2 + ("random_forest",) * 2 + ("elastic_net",) * 2
MOST_ROWS = 6000
N_RESAMPLES = 100


def make(name: str, seed: int, folder: Path, target: str) -> dict[str, Array]:
    """Return out-of-fold and held-out probabilities of the configurations of one data set and split."""
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    order = np.random.default_rng(seed).permutation(len(frame))[:MOST_ROWS]
    cut = int(0.67 * len(order))
    test = frame.iloc[order[cut:]]
    dataset = from_frame(frame.iloc[order[:cut]].reset_index(drop=True), target=target)
    plan = make_plan(dataset, 5, 0, None)
    rng = np.random.default_rng((seed, zlib.crc32(name.encode())))
    labels = list(map(str, dataset.labels))
    inside, outside = [], []
    for place, algorithm in enumerate(ASKED):
        space = ALGORITHMS[algorithm].space(dataset.task)
        config = space.default() if algorithm not in ASKED[:place] else space.sample(1, rng)[0]
        job = Job(dataset.fingerprint, algorithm, config, plan, 0, Limits(25.0), keep_predictions=True)
        refit = Job(dataset.fingerprint, algorithm, config, plan, 0, Limits(60.0), refit=True)
        outcomes = [evaluate(wanted, dataset, ALGORITHMS[algorithm]) for wanted in (job, refit)]
        if any(outcome.status != "ok" for outcome in outcomes):
            continue
        member = Member(algorithm, dict(config), 1.0, (outcomes[1].estimator,), 0.0)
        inside.append(outcomes[0].predictions)
        outside.append(Model.of(dataset, [member], metric="f1").predict_proba(test.drop(columns=target)))
    truth = np.array([labels.index(str(value)) for value in test[target]])
    return {
        "oof": np.array(inside),
        "held": np.array(outside),
        "y": dataset.y,
        "truth": truth,
        "folds": plan.assignment,
    }


def line(chances: Array, truth: Array, name: str, price: float = threshold_scores.PRICE) -> Array:
    """Return the factors of the best line, with another price for its distance if one is given."""
    lines, usual = lines_between(chances, truth), threshold_scores.PRICE
    threshold_scores.PRICE = price
    found = lines.logs[best_line(lines.logs, lines.tables[:, 0], name)]
    threshold_scores.PRICE = usual
    return np.exp(found)


def gated(chances: Array, truth: Array, name: str, n_errors: float) -> Array | None:
    """Return the factors if they help on unseen rows by so many standard errors, else None."""
    function, rng = metric(name).function, np.random.default_rng(0)
    plan = plan_folds(len(truth), truth, n_folds=5, seed=0)
    plain, tuned = decide(chances), np.empty(len(truth), dtype=np.int64)
    for fold in range(plan.n_folds):
        train, test = plan.split(fold)
        tuned[test] = decide(chances[test], line(chances[train], truth[train], name, 1e-6))
    draws = [rng.integers(len(truth), size=len(truth)) for _ in range(N_RESAMPLES)]
    noise = np.nanstd([function(truth[i], tuned[i]) - function(truth[i], plain[i]) for i in draws])
    gain = np.nan_to_num(function(truth, tuned)) - np.nan_to_num(function(truth, plain))
    return line(chances, truth, name, 1e-6) if gain > n_errors * noise else None


RULES: dict[str, Callable[[Array, Array, str], Array | None]] = {
    "one half": lambda *_: None,
    "kept if better by a standard error on unseen rows (former)": lambda *given: gated(*given, 1.0),
    "kept if better on unseen rows": lambda *given: gated(*given, 0.0),
    "always": lambda *given: line(*given, 1e-6),
    "always, price .005 (ours)": lambda *given: line(*given),
    "always, price .02": lambda *given: line(*given, 0.02),
}


def compare(path: Path, name: str) -> tuple[dict[str, float], dict[str, float]]:
    """Return held-out scores of the rules, mean over configurations, and of ways to choose an ensemble."""
    with np.load(path) as kept:
        oof, held, y, truth, folds = (kept[key] for key in ("oof", "held", "y", "truth", "folds"))
    oof = oof.astype(np.float64)

    def score(chances: Array, factors: Array | None) -> float:
        return float(np.nan_to_num(metric(name).function(truth, decide(chances, factors))))

    rules = {
        rule: float(np.mean([score(h, tune(p, y, name)) for p, h in zip(oof, held, strict=True)]))
        for rule, tune in RULES.items()
    }
    judged = np.array([judge(p, y, folds, name) for p in oof])
    plain = np.array([np.nan_to_num(metric(name).function(y, decide(p))) for p in oof])
    ways = {
        "single, best at one half": np.eye(len(oof))[plain.argmax()],
        "single, best after thresholds": np.eye(len(oof))[judged.argmax()],
        "ensemble at one half (former)": select(oof, y, name),
        "ensemble, log loss": select(oof, y, "neg_log_loss", folds=folds),
        "ensemble, log loss and thresholds (ours)": select(oof, y, name, folds=folds),
    }
    chosen = {}
    for way, weights in ways.items():
        is_former = "former" in way or "at one half" in way
        together = combine(oof, weights)
        factors = gated(together, y, name, 1.0) if is_former else line(together, y, name)
        chosen[way] = score(combine(held, weights), factors)
    return rules, chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["make", "compare"])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--datasets", default=NAMES)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--metrics", default="f1,kappa,balanced_accuracy,accuracy")
    parser.add_argument("--folder", type=Path, default=DATASETS)
    asked = parser.parse_args()
    asked.cache.mkdir(parents=True, exist_ok=True)
    paths = {(n, s): asked.cache / f"{n}.{s}.npz" for s in range(asked.seeds) for n in asked.datasets.split(",")}
    if asked.what == "make":
        targets = pd.read_csv(asked.folder / "manifest.csv").set_index("name")["target"]
        for (name, seed), path in paths.items():
            if not path.exists():
                np.savez_compressed(path, **make(name, seed, asked.folder, targets[name]))
                print(name, seed, flush=True)
        return
    found: dict[tuple[str, str], dict[str, dict[tuple[str, int], float]]] = {}
    there = {key: path for key, path in paths.items() if path.exists()}
    for name in asked.metrics.split(","):
        for key, path in there.items():
            for kind, scores in zip(("line", "choice"), compare(path, name), strict=True):
                for what, value in scores.items():
                    found.setdefault((kind, what), {}).setdefault(name, {})[key] = value
    print(f"{len({name for name, _ in there})} data sets, {len(there)} splits; gain over the first of each kind\n")
    for kind, first in (("line", "one half"), ("choice", "single, best at one half")):
        print(f"| | {' | '.join(asked.metrics.split(','))} |")
        for (other, what), by_metric in found.items():
            if other != kind:
                continue
            parts = []
            for name, values in by_metric.items():
                gain = (pd.Series(values) - pd.Series(found[kind, first][name])).groupby(level=0).mean()
                parts.append(f"{gain.mean():+.3f} ± {gain.sem():.3f}")
            print(f"| {what} | {' | '.join(parts)} |")
        print()


if __name__ == "__main__":
    main()
