"""Refit on all rows, or average the fold models? And does the ensemble beat the single best on rows nobody saw?

Each data set is split 67/33; candidates are cross-validated on the larger part (5 folds) and judged on the smaller.
Run: python benchmarks/refit.py
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, from_frame, read_frame
from metaml.ensemble.selection import select
from metaml.evaluation import METRICS, Job, Limits, evaluate, make_plan
from metaml.model import Member, Model, fit_member
from metaml.splits.shuffled import plan_folds

DATASETS = Path(__file__).resolve().parents[2] / "shared" / "datasets"
BINARY = ("blood-transfusion", "appendicitis", "credit-approval", "breast-cancer")
MULTICLASS = ("balance-scale", "cmc", "autos")
REGRESSION = ("autoMpg", "bodyfat", "airfoil")
NAMES_OF_ALGORITHMS = ("lightgbm", "xgboost", "random_forest", "mlp", "elastic_net")
JUDGES = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "r2"}


def split(frame: pd.DataFrame, target: str, seed: int) -> tuple[Dataset, pd.DataFrame]:
    """Return the training data set and the rows to be judged on."""
    whole = from_frame(frame, target=target)
    plan = plan_folds(len(whole.y), None if whole.task == "regression" else whole.y, n_folds=3, seed=seed)
    train, test = plan.split(0)
    return from_frame(frame.iloc[whole.rows[train]], target=target, task=whole.task), frame.iloc[whole.rows[test]]


def judged(model: Model, test: pd.DataFrame) -> dict[str, float]:
    """Return what a model scores on held-out rows, and the seconds that takes."""
    begun = time.perf_counter()
    output = model.predict(test) if model.labels is None else model.predict_proba(test)
    seconds = time.perf_counter() - begun
    truth = test[model.schema.target].to_numpy()
    if model.labels is None:
        return {"score": METRICS[model.metric].function(truth.astype(float), output), "predict": seconds}
    codes = pd.Index(model.labels.astype(str)).get_indexer(pd.Index(truth).astype(str))
    known = codes >= 0
    return {"score": METRICS[model.metric].function(codes[known], output[known]), "predict": seconds}


def one_split(name: str, seed: int, n_random: int) -> list[dict[str, object]]:
    """Return a row for each candidate and kind of fit, and for the ensemble of each kind."""
    frame = read_frame(DATASETS / f"{name}.csv.gz")
    train, test = split(frame, frame.columns[-1], seed)
    metric = JUDGES[train.task]
    plan = make_plan(train, n_folds=5, seed=seed)
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    fitted: dict[str, list[Member]] = {"refit": [], "folds": []}
    predictions, scores = [], []
    for algorithm in NAMES_OF_ALGORITHMS:
        space = ALGORITHMS[algorithm].space(train.task)
        for number, config in enumerate([space.default(), *space.sample(n_random, rng)]):
            job = Job(train.fingerprint, algorithm, config, plan, seed, Limits(60), keep_predictions=True)
            outcome = evaluate(job, train, ALGORITHMS[algorithm])
            if outcome.status != "ok":
                continue
            predictions.append(outcome.predictions)
            scores.append(outcome.score(metric))
            for kind, own_plan in (("refit", None), ("folds", plan)):
                begun = time.perf_counter()
                member = fit_member(train, ALGORITHMS[algorithm], config, seed=seed, plan=own_plan)
                seconds = time.perf_counter() - begun
                fitted[kind].append(member)
                if number == 0:
                    found = judged(Model.of(train, [member], metric=metric), test)
                    rows.append({"what": algorithm, "kind": kind, "fit": seconds, **found})
    weights = select(predictions, train.y, metric, folds=plan.assignment)
    best = int(np.argmax(scores))
    for kind, members in fitted.items():
        chosen = [
            Member(member.algorithm, member.config, float(weight), member.estimators)
            for member, weight in zip(members, weights, strict=True)
            if weight > 0
        ]
        rows.append({"what": "ensemble", "kind": kind, **judged(Model.of(train, chosen, metric=metric), test)})
        rows.append({"what": "single", "kind": kind, **judged(Model.of(train, [members[best]], metric=metric), test)})
    return [{"data": name, "split": seed, "task": train.task, **row} for row in rows]


def paired(table: pd.DataFrame, first: pd.Series, second: pd.Series) -> str:
    """Return the mean difference of scores with its standard error over data sets, and how many gain and lose."""
    keys = ["data", "split", "task"] + (["what"] if table.loc[first, "what"].nunique() > 1 else [])
    pairs = table[first].set_index(keys)["score"] - table[second].set_index(keys)["score"]
    pairs = pairs.groupby(["data", "task"]).mean()
    parts = []
    for task, differences in [*pairs.groupby("task"), ("all", pairs)]:
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        wins = f"{(differences > 0).sum()}:{(differences < 0).sum()}"
        parts.append(f"{task} {differences.mean():+.4f} ± {error:.4f} ({wins})")
    return "; ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=[*BINARY, *MULTICLASS, *REGRESSION])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--random", type=int, default=2, help="random configurations beside each default")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.datasets:
        for seed in range(options.splits):
            rows += one_split(name, seed, options.random)
        print(f"{name} done", flush=True)
    table = pd.DataFrame(rows)
    alone = table["what"].isin(NAMES_OF_ALGORITHMS)
    refit, folds = table["kind"] == "refit", table["kind"] == "folds"
    print(f"Score of the fold models' mean minus that of the refit ({JUDGES}):")
    for algorithm in NAMES_OF_ALGORITHMS:
        mine = table["what"] == algorithm
        print(f"  {algorithm}: {paired(table, mine & folds, mine & refit)}")
    print(f"  together: {paired(table, alone & folds, alone & refit)}")
    mine = table["what"] == "ensemble"
    print(f"  ensemble: {paired(table, mine & folds, mine & refit)}")
    print("Score of the ensemble minus that of the single best:")
    for kind, chosen in (("refit", refit), ("folds", folds)):
        print(f"  {kind}: {paired(table, chosen & mine, chosen & (table['what'] == 'single'))}")
    print(table[alone].groupby(["what", "kind"])[["fit", "predict"]].mean().round(3).to_string())


if __name__ == "__main__":
    main()
