"""Do Hyperband, BOHB, successive halving or one look beat the default search at equal seconds?

python benchmarks/fidelities.py --metadata FOLDER [--out fidelities.csv]

Whole evaluations, score and seconds, are recorded ones: random search for four algorithms of hyperboost-hyperbench.
What a look at a share of the rows gives is made up: a loss that grows as the share falls, by an amount that differs
between configurations. `--noise` is the spread of its logarithm: the larger, the more misleading is a look. A look at a
share s takes s^0.8 of the seconds, at least 5 %. All methods have a virtual clock with time for about 20 whole
evaluations, the same surrogate (a Gaussian process) and the same first three configurations. With `--out`, what is in
the csv is not played again.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import PoolCandidates, key_of
from metaml.bandits import DEFAULT_POLICY
from metaml.errors import BadRequest
from metaml.search.bandit_search import Search
from metaml.search.fidelity_search import METHODS, FidelitySearch
from metaml.search.optimizer import Optimizer

TABLES = ("RandomForest", "XGBoost", "SVC", "SGD")
LOG = ("min_samples_leaf", "C", "gamma", "alpha", "eta0", "learning_rate")
DATASETS = ("pendigits", "jm1", "mfeat-pixel", "spambase", "satimage", "phoneme", "churn", "optdigits")
N_CONFIGS, N_WHOLE, SHARES = 100, 20, {"look": (1 / 8, 1.0)}
HALVED = (1 / 64, 1 / 16, 1 / 4, 1.0)
NOT_SETTINGS = ("dataset", "optimizer", "seed", "config_index", "config_id", "n_evals", "loss", "time")
Pool = dict[str, pd.DataFrame]


class Told:
    """What a search is told."""

    def __init__(self, score: float, seconds: float, *, is_whole: bool) -> None:
        self.status = "ok" if is_whole else "partial"
        self.scores, self.seconds, self.expected_seconds = {"score": (score,)}, seconds, 0.0


def pools_of(folder: Path, n_datasets: int) -> dict[str, Pool]:
    """Return, for each data set, the recorded runs of each algorithm: those named first, then others by name."""
    found: dict[str, Pool] = {}
    for table in TABLES:
        runs = pd.read_csv(folder / "hyperboost-hyperbench" / f"runs_{table}.csv.gz")
        runs = runs[runs["optimizer"] == "roar_x2"]
        runs = runs.drop_duplicates(["dataset", "config_id"])
        for name, own in runs.groupby("dataset"):
            kept = own.sample(min(N_CONFIGS, len(own)), random_state=0).reset_index(drop=True)
            found.setdefault(str(name), {})[table] = kept.dropna(axis=1, how="all")
    complete = {name: pool for name, pool in found.items() if len(pool) == len(TABLES)}
    order = [*(name for name in DATASETS if name in complete), *sorted(set(complete) - set(DATASETS))]
    return {name: complete[name] for name in order[:n_datasets]}


def configs_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the configurations of recorded runs."""
    settings = frame[[name for name in frame if name not in NOT_SETTINGS]]
    return [{name: value for name, value in row.items() if pd.notna(value)} for row in settings.to_dict("records")]


def search_of(method: str, pool: Pool, candidates: dict[str, PoolCandidates], seed: int) -> Search:
    """Return a search over the recorded configurations; each algorithm's first one stands for its default."""
    found = METHODS.get(method)
    strategy = "gaussian_process" if found is None or found.strategy is None else found.strategy
    optimizers = {
        name: Optimizer(
            candidates[name],
            strategy=strategy,
            random_every=0 if found is None else found.random_every,
            metric="score",
            seed=seed,
        )
        for name in pool
    }
    rng = np.random.default_rng(seed)
    first = [(name, pool[name].attrs["configs"][int(rng.integers(len(pool[name])))]) for name in list(pool)[:3]]
    if found is None:
        return Search(optimizers, DEFAULT_POLICY, initial_design=first, seed=seed)
    return FidelitySearch(
        optimizers,
        found.bandit or DEFAULT_POLICY,
        method=found,
        shares=SHARES.get(method, HALVED),
        at_once=first,
        initial_design=first,
        seed=seed,
    )


def play(method: str, pool: Pool, candidates: dict[str, PoolCandidates], noise: float, seed: int) -> float:
    """Return the regret at the end: 0 is the best recorded run, 1 the median one."""
    search = search_of(method, pool, candidates, seed)
    whole = pd.concat([frame["loss"] for frame in pool.values()])
    spread = float(whole.median() - whole.min())
    budget = N_WHOLE * float(np.mean([frame["time"].mean() for frame in pool.values()]))
    places = {name: {key_of(c): k for k, c in enumerate(frame.attrs["configs"])} for name, frame in pool.items()}
    spent, best = 0.0, np.inf
    n_left = sum(map(len, pool.values()))
    while spent < budget and n_left > 0:
        try:
            choice = search.ask(max(int((budget - spent) / (budget / N_WHOLE)), 1))
        except BadRequest:
            # All recorded configurations of an algorithm were looked at.
            break
        frame, place = pool[choice.algorithm], places[choice.algorithm][key_of(choice.proposal.config)]
        share, loss = choice.share, float(frame["loss"].iloc[place])
        seconds = float(frame["time"].iloc[place]) * max(share**0.8, 0.05)
        spent += seconds
        n_left -= share == 1.0
        if spent > budget:
            break
        if share == 1.0:
            best = min(best, loss)
        rate = np.random.default_rng((TABLES.index(choice.algorithm), place, seed)).lognormal(0.0, noise)
        shown = loss + 0.2 * spread * rate * (share**-0.5 - 1)
        search.tell(choice.algorithm, choice.proposal.config, Told(-shown, seconds, is_whole=share == 1.0))
    return float(min((best - whole.min()) / spread, 1.0))


def main() -> None:
    """Print the mean regret of each method, and its paired difference to the default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metadata", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--datasets", type=int, default=len(DATASETS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--noise", type=float, nargs="*", default=[0.25, 1.0])
    asked = parser.parse_args()
    names = ["dataset", "noise", "seed", "method"]
    known = pd.read_csv(asked.out).set_index(names)["regret"].to_dict() if asked.out and asked.out.exists() else {}
    rows = []
    for name, pool in pools_of(asked.metadata, asked.datasets).items():
        for frame in pool.values():
            frame.attrs["configs"] = configs_of(frame)
        candidates = {table: PoolCandidates(frame.attrs["configs"], log=LOG) for table, frame in pool.items()}
        wanted = product(asked.noise, range(asked.seeds), ("default", *METHODS))
        for noise, seed, method in wanted:
            if method == "default" and noise != asked.noise[0]:
                continue
            found = known.get((name, noise, seed, method))
            rows.append(
                (name, noise, seed, method, play(method, pool, candidates, noise, seed) if found is None else found)
            )
            if found is None:
                print(*rows[-1], flush=True)
                if asked.out:
                    pd.DataFrame([rows[-1]], columns=[*names, "regret"]).to_csv(
                        asked.out, mode="a", header=not asked.out.exists(), index=False
                    )
    frame = pd.DataFrame(rows, columns=["dataset", "noise", "seed", "method", "regret"])
    usual = frame[frame["method"] == "default"].set_index(["dataset", "seed"])["regret"]
    for (noise, method), own in frame.groupby(["noise", "method"], sort=False):
        gap = (own.set_index(["dataset", "seed"])["regret"] - usual).groupby("dataset").mean()
        print(f"{noise:4} {method:10} {own['regret'].mean():.3f}  {gap.mean():+.3f} ± {gap.sem():.3f}  n={len(gap)}")


if __name__ == "__main__":
    main()
