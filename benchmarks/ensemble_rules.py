"""Who joins the ensemble: ways to weigh the candidates of a search, judged on rows that nobody saw.

python benchmarks/ensemble_rules.py collect --folder DIR     searches of 15 s without experience, what each model says
python benchmarks/ensemble_rules.py compare --folder DIR     each rule on every search

The data sets are those of neither `automl.py` nor `proof.py`. Every second one is to decide, the others are to check;
with `--further`, others with two classes are to check what seemed to help there.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_tools.chosen_data import CHOSEN
from proof import halves, related, tested
from starter import DATASETS

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import select
from metaml.evaluation import METRICS, LocalExecutor, default_metric
from metaml.model import Member, Model, fit_member
from metaml.search.settings import TuneSettings
from metaml.tuning.closing import refit_reserve
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb

Array = np.ndarray[Any, Any]
PER_TASK, N_FURTHER = {"binary": 10, "multiclass": 10, "regression": 10}, 14
LARGEST, SECONDS = 4_000, 15.0
MOST_REFITTED = 25


def chosen(*, further: bool = False) -> list[str]:
    """Return data sets that decide nothing elsewhere: of each task, evenly over sizes."""
    listed = pd.read_csv(DATASETS / "manifest.csv")
    taken = {*related(tested(DATASETS)), *CHOSEN, *(chosen() if further else ())}
    rows = listed[listed["n_rows"].between(300, LARGEST) & ~listed["name"].isin(taken)]
    names = []
    for task, n in {"binary": N_FURTHER}.items() if further else PER_TASK.items():
        own = rows[rows["task"] == task].sort_values("n_rows")["name"].tolist()
        names += [own[k] for k in np.linspace(0, len(own) - 1, n).round().astype(int)]
    return names


def collect(folder: Path, names: list[str]) -> None:
    """Keep out-of-fold predictions of a search, and what each model says of the held-out rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / f"{name}.npz").exists():
            kept = _searched(name)
            if kept:
                np.savez_compressed(folder / f"{name}.npz", **kept)
            print(f"{name}: {len(kept.get('oof', ()))} candidates", flush=True)


def _searched(name: str) -> dict[str, Array]:
    train, test, target = halves(DATASETS / f"{name}.csv.gz", seed=0)
    dataset = from_frame(train, target=target, name=name)
    settings = TuneSettings(seconds=SECONDS, n_workers=2, seed=0, uses_memory=False)
    with LocalExecutor(2) as executor, open_kb(":memory:") as kb, FoldModels() as models:
        session = TuneSession(dataset, kb, settings, executor, models=models)
        budget = session.budget
        found = session.run(reserve=lambda trials: refit_reserve(settings, trials, session, models, budget))
        trials = [t for t in found.ranked if t.outcome.predictions is not None and models.get(t.run.identity)]
        if len(trials) < 2 or found.plan.n_tested < len(dataset.y):
            return {}
        members = [Member(t.run.algorithm, dict(t.run.config), 1.0, models.get(t.run.identity)) for t in trials]
    truth = test[target]
    if dataset.labels is None:
        known = truth.notna().to_numpy()
        codes = truth[known].to_numpy(np.float64)
    else:
        places = pd.Series({str(label): code for code, label in enumerate(dataset.labels)})
        found_codes = places.reindex(truth.astype(str)).to_numpy(np.float64)
        known = ~np.isnan(found_codes)
        codes = found_codes[known].astype(np.int64)
    if dataset.task == "multiclass":
        # An ensemble by log loss is fitted again.
        members = [fit_member(dataset, ALGORITHMS[m.algorithm], m.config, seed=0) for m in members[:MOST_REFITTED]]
    predicted = [_predicted(Model.of(dataset, [member], metric=found.metric), test[known]) for member in members]
    return {
        "oof": np.stack([t.outcome.predictions for t in trials[: len(members)]]),
        "held_out": np.stack(predicted),
        "y": dataset.y,
        "truth": codes,
        "folds": found.plan.assignment.astype(np.float64),
        "metric": np.array(default_metric(dataset.task)),
        "algorithms": np.array([m.algorithm for m in members]),
    }


def _predicted(model: Model, rows: pd.DataFrame) -> Array:
    return np.asarray(model.predict(rows) if model.labels is None else model.predict_proba(rows), dtype=np.float64)


Rule = Callable[[Array, Array, str, Array], Array]


def by_other_folds(oof: Array, y: Array, metric: str, folds: Array) -> Array:
    """Return the mean of the weights that are chosen without each fold."""
    return np.mean([_select(oof, y, metric, np.where(folds == f, -1, folds)) for f in np.unique(folds)], axis=0)


def bagged(n_bags: int, share: float) -> Rule:
    """Return Caruana's bagging: the mean of the weights that are chosen from random parts of the candidates."""

    def rule(oof: Array, y: Array, metric: str, folds: Array) -> Array:
        rng = np.random.default_rng(0)
        weights = np.zeros(len(oof))
        for _ in range(n_bags):
            part = np.sort(rng.choice(len(oof), max(1, round(share * len(oof))), replace=False))
            weights[part] += select(list(oof[part]), y, metric, folds=folds) / n_bags
        return weights

    return rule


def by_rows(n_bags: int) -> Rule:
    """Return the mean of the weights that are chosen by random halves of the rows of each fold."""

    def rule(oof: Array, y: Array, metric: str, folds: Array) -> Array:
        rng = np.random.default_rng(0)
        drawn = [np.where(rng.random(len(y)) < 0.5, folds, -1) for _ in range(n_bags)]
        return np.mean([_select(oof, y, metric, part) for part in drawn], axis=0)

    return rule


def _select(oof: Array, y: Array, metric: str, folds: Array, **options: Any) -> Array:
    rows = folds >= 0
    return select(list(oof[:, rows]), y[rows], metric, folds=folds[rows], **options)


def first(n: int) -> Rule:
    """Return equal weights for the n best."""
    return lambda oof, *_: np.where(np.arange(len(oof)) < n, 1.0 / min(n, len(oof)), 0.0)


def mixed(rule: Rule, share: float, n: int) -> Rule:
    """Return the weights of a rule, a share of them given equally to the n best."""
    return lambda *args: (1 - share) * rule(*args) + share * first(n)(*args)


def start_with(n: int) -> Rule:
    """Return the greedy choice that begins with the n best."""
    return lambda oof, y, metric, folds: _select(oof, y, metric, folds, n_init=n)


RULES: dict[str, Rule] = {
    "greedy": start_with(1),
    "single best": first(1),
    "greedy from 3": start_with(3),
    "greedy from 5": start_with(5),
    "mean of 5": first(5),
    "mean of 10": first(10),
    "by other folds": by_other_folds,
    "by halves of rows, 10": by_rows(10),
    "bagged, 10 halves": bagged(10, 0.5),
    "bagged, 20 quarters": bagged(20, 0.25),
    "greedy, fifth to 5": mixed(start_with(1), 0.2, 5),
    "halves of rows, fifth to 5": mixed(by_rows(10), 0.2, 5),
}


def tempered(chances: Array, power: float, share: float) -> Array:
    """Return class probabilities to a power, a share of them given equally to all classes."""
    raised = np.maximum(chances, 1e-15) ** power
    raised /= raised.sum(axis=1, keepdims=True)
    return (1 - share) * raised + share / chances.shape[1]


def calibrations(folder: Path, names: list[str]) -> None:
    """Print what a power and a share for all classes, both fitted out of fold, gain in log loss."""
    gains: dict[str, list[float]] = {"power": [], "share": [], "both": []}
    for name in names:
        if not (folder / f"{name}.npz").exists():
            continue
        kept = np.load(folder / f"{name}.npz")
        if str(kept["metric"]) == "neg_rmse":
            continue
        loss = METRICS["neg_log_loss"].function
        weights = RULES["greedy"](kept["oof"], kept["y"], "neg_log_loss", kept["folds"])
        oof, predicted = combine(kept["oof"], weights), combine(kept["held_out"], weights)
        powers, shares = np.linspace(0.5, 1.6, 23), (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
        for rule, grid in (
            ("power", [(p, 0.0) for p in powers]),
            ("share", [(1.0, e) for e in shares]),
            ("both", [(p, e) for p in powers for e in shares]),
        ):
            best = max(grid, key=lambda each: loss(kept["y"], tempered(oof, *each)))
            gains[rule].append(np.log(loss(kept["truth"], predicted) / loss(kept["truth"], tempered(predicted, *best))))
    for rule, values in gains.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        won = f"{(np.array(values) > 1e-9).sum()}:{(np.array(values) < -1e-9).sum()}"
        print(f"{rule}: log loss smaller by {100 * np.mean(values):+.2f} ± {100 * error:.2f} % ({won})")


def compare(folder: Path, names: list[str]) -> None:
    """Print, for each rule, the reduction of the held-out loss against the greedy choice."""
    losses = {}
    sizes: dict[str, list[int]] = {rule: [] for rule in RULES}
    tasks = {}
    for name in names:
        if not (folder / f"{name}.npz").exists():
            continue
        kept = np.load(folder / f"{name}.npz")
        metric = str(kept["metric"])
        tasks[name] = metric
        for rule, choose in RULES.items():
            weights = choose(kept["oof"], kept["y"], metric, kept["folds"])
            sizes[rule].append(int((weights > 0).sum()))
            value = METRICS[metric].function(kept["truth"], combine(kept["held_out"], weights))
            losses[name, rule] = max(1 - value if metric == "roc_auc" else -value, 1e-6)
    table = np.log(pd.Series(losses).unstack())
    gains = -table.sub(table["greedy"], axis=0)[list(RULES)]
    parts = {"decide": gains.iloc[::2], "check": gains.iloc[1::2], "all": gains}
    parts |= {metric: gains[pd.Series(tasks).reindex(gains.index) == metric] for metric in sorted(set(tasks.values()))}
    for rule in RULES:
        parts = [
            f"{part} {100 * own[rule].mean():+.2f} ± {100 * own[rule].std(ddof=1) / np.sqrt(len(own)):.2f} % "
            f"({(own[rule] > 1e-9).sum()}:{(own[rule] < -1e-9).sum()})"
            for part, own in parts.items()
        ]
        print(f"{rule:28s} members {np.mean(sizes[rule]):4.1f}; " + "; ".join(parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("collect", "compare"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--further", action="store_true")
    asked = parser.parse_args()
    names = chosen(further=asked.further)
    if asked.command == "collect":
        collect(asked.folder, names)
    else:
        compare(asked.folder, names)
        calibrations(asked.folder, names)


if __name__ == "__main__":
    main()
