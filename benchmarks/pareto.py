"""ParEGO and SMS-EGO beside samplers without a model and Optuna's: the two experiments of Horn & Bischl (2016).

    python benchmarks/pareto.py run [--seeds 2] [--experiments svm joint]     what is missing in the results file
    python benchmarks/pareto.py report [--development]

False negatives against false positives on nine data sets, of which six are those of the paper (the other three stand
for mozilla4, phoneme and spambase, which are not at hand). `svm` tunes cost, gamma and class weight of an SVM with 160
evaluations, 30 of them the initial design. `joint` tunes the class weight and the choice between an SVM, a random
forest and a logistic regression with 300 and 60. 600 rows of each data set are drawn: three folds of one half decide,
and the other half judges. All methods of a replication share rows and folds. The volume is dominated up to (1.1, 1.1),
after the costs of all methods were scaled to [0, 1]. Every evaluation is real. Results: results/pareto.jsonl.

To look for a better optimizer, use `--development`: six other data sets, with results in a file of their own.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from pareto_report import report
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import metaml
from metaml.pareto import is_non_dominated
from metaml.spaces import Choice, Float, Integer

DATA = Path(__file__).resolve().parents[2] / "shared" / "datasets"
RESULTS = Path(__file__).parent / "results"
DATASETS = (
    *("ada_agnostic-train", "eeg-eye-state", "JapaneseVowels", "pendigits", "wind", "waveform-5000"),
    *("openintro-email-spam", "sylvine", "electricity"),
)
DEVELOPMENT = ("banana", "diabetes", "heloc", "kc1", "pc4", "ringnorm")
"""Data sets on which changes to an optimizer are tried; they do not decide."""
N_ROWS, N_FOLDS, N_TREES = 600, 3, 20
BUDGETS = {"svm": (160, 30), "joint": (300, 60)}
OURS = ("parego", "sms_ego", "latin_hypercube", "random")
OPTUNA = ("nsga2", "motpe")

Costs = tuple[float, float]


class Problem:
    """The rows of one replication on one data set, and what a configuration costs there."""

    def __init__(self, dataset: str, seed: int) -> None:
        X, y = two_classes(dataset)
        rows = np.random.default_rng(seed).permutation(len(y))[:N_ROWS]
        X, y = X[rows], y[rows]
        tuned, judged = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(X[tuned])
        self.X, self.y = scaler.transform(X[tuned]), y[tuned]
        self.X_test, self.y_test = scaler.transform(X[judged]), y[judged]
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        self.folds = list(folds.split(self.X, self.y))
        self.n_columns = X.shape[1]

    def validated(self, config: dict) -> Costs:
        predicted = np.zeros(len(self.y), dtype=int)
        for train, test in self.folds:
            predicted[test] = learner(config).fit(self.X[train], self.y[train]).predict(self.X[test])
        return rates(self.y, predicted)

    def tested(self, config: dict) -> Costs:
        return rates(self.y_test, learner(config).fit(self.X, self.y).predict(self.X_test))


def two_classes(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and a target of two classes: the largest class against the rest, or above the mean."""
    frame = pd.read_csv(DATA / f"{dataset}.csv.gz")
    target = frame.iloc[:, -1]
    X = frame.iloc[:, :-1].select_dtypes("number").to_numpy(dtype=float)
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    if pd.api.types.is_float_dtype(target) and target.nunique() > 20:
        return X, (target > target.mean()).to_numpy(dtype=int)
    counts = target.value_counts()
    rarest = counts.index[-1] if len(counts) == 2 else counts.index[0]
    return X, (target == rarest).to_numpy(dtype=int)


def rates(truth: np.ndarray, predicted: np.ndarray) -> Costs:
    return float((predicted[truth == 1] == 0).mean()), float((predicted[truth == 0] == 1).mean())


def learner(config: dict) -> SVC | RandomForestClassifier | LogisticRegression:
    weight = {1: 2.0 ** config["weight"]}
    kind = config.get("learner", "svm")
    if kind == "svm":
        return SVC(C=2.0 ** config["cost"], gamma=2.0 ** config["gamma"], class_weight=weight, max_iter=20_000)
    if kind == "forest":
        return RandomForestClassifier(
            N_TREES,
            max_features=config["mtry"],
            min_samples_leaf=config["nodesize"],
            class_weight=weight,
            random_state=0,
        )
    return LogisticRegression(C=2.0 ** -config["lambda"], class_weight=weight, max_iter=100)


def space_of(experiment: str, n_columns: int) -> list:
    weight = Float("weight", -7.0, 7.0, default=0.0)
    when = None if experiment == "svm" else ("learner", ("svm",))
    svm = [
        Float("cost", -15.0, 15.0, default=0.0, when=when),
        Float("gamma", -15.0, 15.0, default=0.0, when=when),
    ]
    if experiment == "svm":
        return [weight, *svm]
    return [
        Choice("learner", ("svm", "forest", "logistic"), default="svm"),
        weight,
        *svm,
        Integer("mtry", 1, n_columns, default=1, when=("learner", ("forest",))),
        Integer("nodesize", 1, 100, default=1, log=True, when=("learner", ("forest",))),
        Float("lambda", -15.0, 15.0, default=0.0, when=("learner", ("logistic",))),
    ]


def search(method: str, experiment: str, problem: Problem, seed: int) -> tuple[list[dict], list[Costs]]:
    """Return what a method evaluated, and its costs."""
    n, n_design = BUDGETS[experiment]
    space = space_of(experiment, problem.n_columns)
    if method in OURS:
        result = metaml.minimize(
            problem.validated, space, n=n, objectives=["fnr", "fpr"], method=method, n_design=n_design, seed=seed
        )
        return [e.config for e in result.evaluations], [e.values for e in result.evaluations]
    return _by_optuna(method, space, problem.validated, n, n_design, seed)


def _by_optuna(
    method: str, space: list, function: Callable[[dict], Costs], n: int, n_design: int, seed: int
) -> tuple[list[dict], list[Costs]]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggested(trial: optuna.Trial) -> dict:
        config: dict = {}
        for p in space:
            if p.when is not None and config.get(p.when[0]) not in p.when[1]:
                continue
            if isinstance(p, Choice):
                config[p.name] = trial.suggest_categorical(p.name, list(p.choices))
            elif isinstance(p, Integer):
                config[p.name] = trial.suggest_int(p.name, p.low, p.high, log=p.log)
            else:
                config[p.name] = trial.suggest_float(p.name, p.low, p.high)
        return config

    configs = []

    def objective(trial: optuna.Trial) -> Costs:
        configs.append(suggested(trial))
        return function(configs[-1])

    sampler = (
        optuna.samplers.NSGAIISampler(population_size=20, seed=seed)
        if method == "nsga2"
        else optuna.samplers.TPESampler(n_startup_trials=n_design, seed=seed)
    )
    study = optuna.create_study(directions=["minimize"] * 2, sampler=sampler)
    study.optimize(objective, n_trials=n)
    return configs, [tuple(trial.values) for trial in study.trials]


def run(experiments: list[str], methods: list[str], n_seeds: int, *, is_development: bool) -> None:
    path = results(is_development=is_development)
    path.parent.mkdir(exist_ok=True)
    done = {(r["experiment"], r["dataset"], r["method"], r["seed"]) for r in read(path)}
    for seed in range(n_seeds):
        for experiment in experiments:
            for dataset in DEVELOPMENT if is_development else DATASETS:
                problem = Problem(dataset, seed)
                for method in methods:
                    if (experiment, dataset, method, seed) not in done:
                        _append(path, one(experiment, dataset, method, seed, problem))


def one(experiment: str, dataset: str, method: str, seed: int, problem: Problem) -> dict:
    begun, cpu = time.time(), time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        configs, costs = search(method, experiment, problem, seed)
        front = np.flatnonzero(is_non_dominated(np.array(costs)))
        tested = [problem.tested(configs[place]) for place in front]
    return {
        "experiment": experiment,
        "dataset": dataset,
        "method": method,
        "seed": seed,
        "costs": np.round(costs, 6).tolist(),
        "tested": np.round(tested, 6).tolist(),
        "seconds": round(time.time() - begun, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
    }


def _append(path: Path, record: dict) -> None:
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
    print(
        f"{record['experiment']} {record['dataset']} {record['method']} {record['seed']}: {record['cpu_seconds']} s",
        flush=True,
    )


def results(*, is_development: bool) -> Path:
    return RESULTS / ("pareto-development.jsonl" if is_development else "pareto.jsonl")


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--experiments", nargs="+", default=["svm", "joint"], choices=list(BUDGETS))
    parser.add_argument("--methods", nargs="+", default=[*OURS, *OPTUNA], choices=[*OURS, *OPTUNA])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--development", action="store_true")
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.experiments, asked.methods, asked.seeds, is_development=asked.development)
    report(read(results(is_development=asked.development)), tuple(asked.methods), is_drawn=not asked.development)
