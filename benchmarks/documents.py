"""The tables and figures of the documents that metaml is built from, on recorded runs: ours beside theirs.

    python benchmarks/documents.py [surrogates starts learners runtime ...] [--datasets 12] [--seeds 1]

Scores are looked up in the shared folder beside the repository; `encodings` alone fits models, to small tables. Each
table has mean ranks, Friedman's test, and which methods cannot be told apart from the best (Wilcoxon and Holm, 5 %).
The critical-difference diagram of each is written to `--results` as SVG. What the documents say stands below it.
Regret is (max - best) / (max - min) x 100 within a data set. Finished simulations are kept and not run again.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tables import DECLARED_LOG, METADATA, pools

from metaml.bandits import POLICIES
from metaml.blackbox.minimizing import minimize
from metaml.insight.ranking import rank_algorithms
from metaml.laboratory.arms import play, record_arm
from metaml.laboratory.compare import methods_of
from metaml.laboratory.other_datasets import history_of, what_others_say
from metaml.laboratory.parallel import simulate_workers
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import level
from metaml.laboratory.simulate import BASELINES, Cell, append_cells, read_cells, regret_curve, simulate
from metaml.metalearning.assessment.comparison import compare_rankings
from metaml.report.insight_charts import rank_diagram

RESULTS = Path(__file__).parent / "results"
AT = (5, 10, 20, 40)
SURROGATES = ("random", "forest", "forest_trees", "forest+interleaved", "extra_trees", "gbqr", "gbqr+interleaved")
INFILL = tuple(
    f"gaussian_process+{rule}"
    for rule in (
        "expected_improvement:0",
        "expected_improvement:0.01",
        "confidence_bound:1",
        "confidence_bound:2",
        "augmented_improvement",
        "quantile_improvement",
    )
)
STARTS = (
    "gbqr",
    "gbqr+best",
    "gbqr+worst",
    "gbqr+delta",
    "gbqr+knn",
    "gbqr+opt",
    "gbqr+portfolio",
    "gbqr+design",
    "gbqr+delta+blended",
    "forest+interleaved",
    "forest+best+interleaved",
    "forest+worst+interleaved",
)
LEARNERS = ("thesis", "both", "hyperparameters", "ranker", "neighbours", "nearest_lightgbm")
BATCHES = ("gbqr+believer", "gbqr+constant_liar", "gbqr+constant_liar_best", "gbqr+qlcb", "gbqr+moi_mbo")


def tested(table: str, options: argparse.Namespace) -> tuple[list[RecordedRuns], list[RecordedRuns]]:
    """Return all pools of a table, and those that methods are tested on, in a fixed shuffled order."""
    whole = [pool for pool in pools(table, options.metadata) if not pool.is_flat]
    order = np.random.default_rng(7).permutation(len(whole))[: options.datasets]
    return whole, [whole[k] for k in order]


def metafeatures(options: argparse.Namespace) -> pd.DataFrame:
    """Return OpenML's qualities of the data sets, under the names of the pools."""
    table = pd.read_csv(options.metadata / "openml100-sklearn" / "metafeatures.csv")
    return table.set_index("openml:" + table.pop("task_id").astype(str))


def judged(title: str, scores: pd.DataFrame, options: argparse.Namespace, said: str) -> None:
    """Print mean ranks and tests of scores (a row for each data set, higher is better), and draw the diagram."""
    found = rank_algorithms(scores)
    alike = next((group for group in found.groups if group[0] == 0), (0, 0))
    ranks = ", ".join(f"{name} {value:.2f}" for name, value in zip(found.names, found.mean_ranks, strict=True))
    print(f"mean ranks on {found.n_datasets} data sets: {ranks}")
    print(f"Friedman p = {found.friedman:.3g}; not told apart from the best: {', '.join(found.names[: alike[1] + 1])}")
    print(f"theirs: {said}\n", flush=True)
    options.results.mkdir(parents=True, exist_ok=True)
    diagram = rank_diagram(found.names, found.mean_ranks, found.groups, title=title)
    (options.results / f"documents-{title}.svg").write_text(diagram, encoding="utf-8")


def regret_table(
    title: str, table: str, names: Sequence[str], options: argparse.Namespace, *, said: str, from_others: bool = False
) -> None:
    """Print the regret of optimizers on the pools of a table."""
    whole, members = tested(table, options)
    log, n = DECLARED_LOG[table], options.evaluations
    names = options.methods or names
    others = what_others_say(whole, metafeatures=metafeatures(options), log=log) if from_others else {}
    path = options.results / "documents.csv"
    done = {(c.table, c.dataset, c.method, c.seed): c for c in (read_cells(path) if path.exists() else [])}
    curves: dict[str, dict[str, list[np.ndarray]]] = {name: {} for name in names}
    for pool in members:
        for name in names:
            method = BASELINES.get(name) or methods_of([name])[0]
            for seed in range(options.seeds):
                cell = done.get((table, pool.dataset, name, seed))
                if cell is None or len(cell.order) < min(n, len(pool.configs)):
                    order = simulate(pool, method, n=n, seed=seed, others=others.get(pool.dataset))
                    cell = Cell(table, pool.dataset, pool.algorithm, name, seed, order)
                    append_cells(path, [cell])
                curves[name].setdefault(pool.dataset, []).append(regret_curve(pool, cell.order, n, method.speed))
    print(f"## {title}: {table}, {len(members)} data sets x {options.seeds} seeds")
    means = {name: {data: np.mean(found, axis=0) for data, found in each.items()} for name, each in curves.items()}
    for name, each in means.items():
        at = [level({data: float(curve[k - 1]) for data, curve in each.items()}) for k in AT if k <= n]
        cells = "  ".join(f"@{k} {e.mean:5.2f} ± {e.error:.2f}" for k, e in zip(AT, at, strict=False))
        found = np.mean([curve[-1] <= 1e-9 for curve in each.values()])
        print(f"{name:<44}{cells}  optima {found:.2f}")
    scores = {name: {data: -float(curve.mean()) for data, curve in each.items()} for name, each in means.items()}
    judged(title, pd.DataFrame(scores), options, said)


def surrogates(options: argparse.Namespace) -> None:
    said = (
        "thesis 5.3: GBQR finds 10 of 10 optima in 120 evaluations, the forest 2 in 250; random turns help the forest"
    )
    regret_table("surrogates", "openml100 random_forest", SURROGATES, options, said=said)


def infill(options: argparse.Namespace) -> None:
    said = "mlrMBO offers them without a ranking; thesis 4.4: a margin above 0 is no better"
    regret_table("infill", "openml100 svc", INFILL, options, said=said)


def starts(options: argparse.Namespace) -> None:
    said = (
        "thesis 6.4, flow 6969, share of the optimum after 10 evaluations: GBQR .9831, best .9907, worst .9797, "
        "delta .9898, meta-learner alone .9900; after 50: .9985, .9978, .9982, .9988, .9927; 6.5: delta beats KNN, OPT"
    )
    regret_table("starts", "openml100 random_forest", STARTS, options, said=said, from_others=True)


def learners(options: argparse.Namespace) -> None:
    """Print Kendall's tau-b of meta-learners on data sets that were left out."""
    theirs = {"random_forest": (0.491, 0.456), "adaboost": (0.354, 0.305), "svc": (0.447, 0.420)}
    for name, (both, alone) in theirs.items():
        whole, _ = tested(f"openml100 {name}", options)
        history = history_of(whole, metafeatures=metafeatures(options), log=DECLARED_LOG[f"openml100 {name}"])
        found = compare_rankings(history.thinned(options.runs), options.methods or LEARNERS)
        print(f"## learners: {name}, {history.n_datasets} data sets, {options.runs} runs each")
        for learner, quality in found.items():
            print(f"{learner:<20}{quality.mean:.3f} ± {quality.error:.3f}")
        scores = pd.DataFrame({learner: quality.taus for learner, quality in found.items()})
        said = f"standardised accuracy, four leaves: {both}; hyperparameters {alone}; LGBMRanker lower; KNN much lower"
        judged(f"learners-{name}", scores, options, said)


def batches(options: argparse.Namespace) -> None:
    """Print the regret over recorded seconds of four workers, by what running evaluations count as."""
    _, members = tested("hyperbench RandomForest", options)
    values: dict[str, dict[str, float]] = {name: {} for name in BATCHES}
    for pool in members:
        for name, each in values.items():
            method = methods_of([name])[0]
            lines = [
                simulate_workers(pool, method, "asynchronous", n_workers=4, seed=seed, n_starts=4, evaluations_each=8)
                for seed in range(options.seeds)
            ]
            each[pool.dataset] = float(np.mean([line.regret(pool).mean() for line in lines]))
    print(f"## batches: hyperbench RandomForest, four workers, {len(members)} data sets x {options.seeds} seeds")
    for name, each in values.items():
        estimate = level(each)
        print(f"{name:<28}{estimate.mean:6.2f} ± {estimate.error:.2f}")
    said = "RAMBO, table 1, accuracy level .5: qLCB 4.52 and ei.bel 4.38 on 4 CPUs, 4.72 and 5.00 on 16"
    judged("batches", -pd.DataFrame(values), options, said)


def runtime(options: argparse.Namespace) -> None:
    """Print how well regression techniques predict the logarithm of seconds: thesis, table 5.1."""
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    whole = pools("optimus measured", options.metadata)
    history = history_of(whole, metafeatures=None)
    seconds = np.concatenate([pool.seconds for pool in whole if pool.seconds is not None])
    chosen = np.random.default_rng(0).permutation(len(seconds))[:4000]
    one_hot = np.eye(len(whole))[history.groups[chosen]]
    X = np.column_stack([np.nan_to_num(history.rows[chosen], nan=-1.0), one_hot])
    y = np.log10(np.maximum(seconds[chosen], 1e-3))
    models = {
        "LGBMRegressor": (LGBMRegressor(n_jobs=1, verbosity=-1), 0.1631),
        "GradientBoostingRegressor": (GradientBoostingRegressor(), 0.1730),
        "RandomForestRegressor": (RandomForestRegressor(30, n_jobs=1), 0.1738),
        "ExtraTreesRegressor": (ExtraTreesRegressor(30, n_jobs=1), 0.1845),
        "DecisionTreeRegressor": (DecisionTreeRegressor(), 0.2302),
        "LinearRegression": (LinearRegression(), 0.3646),
        "KNeighborsRegressor": (KNeighborsRegressor(), 0.4916),
    }
    print("## runtime: 4,000 runs of optimus on 9 data sets, five folds; RMSE of log10 seconds")
    for name, (model, theirs) in models.items():
        start = time.process_time()
        predicted = cross_val_predict(model, X, y, cv=KFold(5, shuffle=True, random_state=0))
        error = float(np.sqrt(np.mean((predicted - y) ** 2)))
        print(f"{name:<28}{error:.3f}  theirs {theirs:.3f}  {time.process_time() - start:.1f} CPU s", flush=True)
    print()


def encodings(options: argparse.Namespace) -> None:
    """Print ROC AUC of boosted trees by how categories are encoded, on made-up and bundled tables with many levels."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    from metaml.algorithms import ALGORITHMS
    from metaml.data import read_dataset

    folder = options.metadata.parent / "datasets"
    listed = pd.read_csv(folder / "manifest.csv")
    listed = listed[(listed["task"] == "binary") & (listed["n_categorical"] >= 4) & (listed["n_rows"] < 50_000)]
    values: dict[str, dict[str, float]] = {name: {} for name in ("integer", "one_hot", "impact", "hashed")}
    for name, target in list(zip(listed["name"], listed["target"], strict=True))[: options.datasets]:
        path = next(iter(sorted(folder.rglob(f"{name}.*"))), None)
        if path is None:
            continue
        dataset = read_dataset(path, target=str(target))
        places = np.random.default_rng(0).permutation(len(dataset.y))[:1500]
        X, y = dataset.X.iloc[places].reset_index(drop=True), np.asarray(dataset.y)[places]
        space = ALGORITHMS["xgboost"].space("binary")
        for encoding, each in values.items():
            config = {**space.default(), "encoding": encoding}
            config |= {"max_levels": 64} if encoding == "one_hot" else {}
            scores = []
            for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                model = ALGORITHMS["xgboost"].build(config, task="binary", seed=0, n_threads=1, seconds=None)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X.iloc[train], y[train])
                scores.append(roc_auc_score(y[test], np.asarray(model.predict_proba(X.iloc[test]))[:, 1]))
            each[name] = float(np.mean(scores))
        print(name, {encoding: round(each[name], 4) for encoding, each in values.items()}, flush=True)
    print(f"## encodings: XGBoost's default, {len(values['integer'])} data sets of two classes, 1,500 rows each")
    for encoding, each in values.items():
        estimate = level(each)
        print(f"{encoding:<10}AUC {estimate.mean:.4f} ± {estimate.error:.4f}")
    said = (
        "Coors (2018), figure 15: integer has the best mean rank (11.25 of 35); most data sets show no clear difference"
    )
    judged("encodings", pd.DataFrame(values), options, said)


def bandits(options: argparse.Namespace) -> None:
    """Print the gap to the best of all algorithms: bandits over a GBQR for each, and one surrogate over all (CASH)."""
    names = ("random_forest", "adaboost", "svc")
    by_name = {name: {pool.dataset: pool for pool in tested(f"openml100 {name}", options)[0]} for name in names}
    shared = sorted(set.intersection(*(set(each) for each in by_name.values())))
    chosen = [shared[k] for k in np.random.default_rng(7).permutation(len(shared))[: options.datasets]]
    gbqr = methods_of(["gbqr"])[0]
    gaps: dict[str, dict[str, float]] = {}
    for dataset in chosen:
        members = [by_name[name][dataset] for name in names]
        optimum = max(float(pool.scores.max()) for pool in members)
        orders = {
            seed: [simulate(pool, gbqr, n=ROUNDS, seed=seed) for pool in members] for seed in range(options.seeds)
        }
        for policy in POLICIES_COMPARED:
            best = [
                play(
                    POLICIES[policy](),
                    [record_arm(pool, order) for pool, order in zip(members, each, strict=True)],
                    n_rounds=ROUNDS,
                    rng=np.random.default_rng(seed),
                ).best[-1]
                for seed, each in orders.items()
            ]
            gaps.setdefault(policy, {})[dataset] = 100 * (optimum - float(np.mean(best)))
        joint = joined_pool(members)
        for name in ("gbqr", "forest"):
            best = [
                joint.scores[list(simulate(joint, methods_of([name])[0], n=ROUNDS, seed=seed))].max()
                for seed in range(options.seeds)
            ]
            gaps.setdefault(f"joint {name}", {})[dataset] = 100 * (optimum - float(np.mean(best)))
    print(f"## bandits: gap x 100 after {ROUNDS} rounds, {len(chosen)} data sets of openml100 x {options.seeds} seeds")
    for name, each in gaps.items():
        estimate = level(each)
        print(f"{name:<24}{estimate.mean:6.2f} ± {estimate.error:.2f}")
    said = "thesis 7.5: UCB1, UCB1-tuned, decreasing epsilon and increasing effort beat random turns; others do not"
    judged("bandits", -pd.DataFrame(gaps), options, said)


def joined_pool(members: Sequence[RecordedRuns]) -> RecordedRuns:
    """Return the pools of several algorithms as one, in which the algorithm is a parameter."""
    configs = [
        {"algorithm": pool.algorithm, **{f"{pool.algorithm}__{name}": value for name, value in config.items()}}
        for pool in members
        for config in pool.configs
    ]
    return RecordedRuns(members[0].dataset, "joint", tuple(configs), np.concatenate([pool.scores for pool in members]))


def functions(options: argparse.Namespace) -> None:
    """Print the best value found of test functions in five dimensions: mlrMBO, section 4.1."""
    ends: dict[str, dict[str, float]] = {name: {} for name in ON_FUNCTIONS}
    for function, (low, high, value) in FUNCTIONS.items():
        space = {f"x{k}": (low, high) for k in range(5)}
        for name, each in ends.items():
            found = [
                minimize(
                    lambda config, value=value: value(np.array(list(config.values()))),
                    space,
                    n=40,
                    method=name,
                    n_design=15,
                    seed=seed,
                ).best.values[0]
                for seed in range(options.seeds)
            ]
            each[function] = float(np.mean(found))
        print(function, {name: round(each[function], 3) for name, each in ends.items()}, flush=True)
    print(f"## functions: five dimensions, 15 even places and 25 proposals, {options.seeds} seeds; lower is better")
    said = "mlrMBO (focus search) 1.95, SPOT 2.48, CMA-ES 3.17, DiceOptim 3.97, random 5.19 as mean ranks"
    judged("functions", -pd.DataFrame(ends), options, said)


FUNCTIONS: dict[str, tuple[float, float, Callable[[np.ndarray], float]]] = {
    "Alpine01": (-10.0, 10.0, lambda x: float(np.abs(x * np.sin(x) + 0.1 * x).sum())),
    "Schwefel": (-500.0, 500.0, lambda x: float(418.9829 * len(x) - (x * np.sin(np.sqrt(np.abs(x)))).sum())),
    "Ackley": (
        -32.0,
        32.0,
        lambda x: float(20 + np.e - 20 * np.exp(-0.2 * np.sqrt((x**2).mean())) - np.exp(np.cos(2 * np.pi * x).mean())),
    ),
    "Griewank": (
        -600.0,
        600.0,
        lambda x: float(1 + (x**2).sum() / 4000 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1))))),
    ),
    "Rosenbrock": (-5.0, 10.0, lambda x: float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())),
}
ON_FUNCTIONS = (
    "random",
    "gaussian_process+design+focus",
    "gaussian_process+design+neighbours",
    "gaussian_process+design+near",
    "forest+design+focus",
)
ROUNDS = 30
POLICIES_COMPARED = ("uniform", "ucb1", "ucb1_tuned", "decreasing_epsilon", "increasing_effort", "thompson",
                     "top_two_thompson", "cost_of_improvement")  # fmt: skip
SECTIONS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "runtime": runtime,
    "infill": infill,
    "surrogates": surrogates,
    "learners": learners,
    "starts": starts,
    "batches": batches,
    "bandits": bandits,
    "functions": functions,
    "encodings": encodings,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=", ".join(SECTIONS))
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--datasets", type=int, default=12)
    parser.add_argument("--runs", type=int, default=60, help="runs of each data set that meta-learners are judged on")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--evaluations", type=int, default=40, help="of each optimizer on each data set")
    parser.add_argument("--methods", nargs="+", help="only these optimizers or meta-learners of a section")
    options = parser.parse_args()
    for name in options.sections:
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
