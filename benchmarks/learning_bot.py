"""Does a bot that runs what teaches most per second learn faster than the random bot? Replayed on recorded runs.

python benchmarks/learning_bot.py --metadata FOLDER [--seeds 5]

The runs are those of random search for a random forest in hyperboost-hyperbench, with seconds, 60 configurations of
each data set. For each seed, a third of the data sets is held out. Bots choose among the runs of the others on a
virtual clock. At some shares of the seconds that all of them take, a meta-learner learns from what was run so far, and
ranks the configurations of the held-out data sets: Kendall's tau-b.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from metaml.metalearning.history import make_history
from metaml.metalearning.meta_learner import LearnerRecipe, MetaLearner
from metaml.metalearning.scales import normal_scores
from metaml.random_bot.information import InformationRate, novelty, odds

N_CONFIGS, N_CANDIDATES, REFIT_EVERY, RANDOM_SHARE, LEAST_RUNS = 60, 64, 100, 0.25, 40
SHARES = (0.1, 0.2, 0.4)
RECIPE = LearnerRecipe(metafeatures="simple", n_trees=200, learning_rate=0.1)
SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")
LOG = ("min_samples_leaf", "min_samples_split")


def pool_of(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the runs of random search, some of each data set, and the sizes of the data sets."""
    place = folder / "hyperboost-hyperbench"
    runs = pd.read_csv(place / "runs_RandomForest.csv.gz")
    runs = runs[runs["optimizer"] == "roar_x2"].drop_duplicates(["dataset", "config_id"])
    runs = runs.groupby("dataset").sample(N_CONFIGS, random_state=0).reset_index(drop=True)
    return runs, pd.read_csv(place / "datasets.csv").set_index("dataset")[list(SIZES)]


class Pool:
    """The runs that a bot may make, as arrays, and the history that some of them are."""

    def __init__(self, runs: pd.DataFrame, sizes: pd.DataFrame, names: list[str]) -> None:
        chosen = runs[runs["dataset"].isin(names)].reset_index(drop=True)
        self.names, self.sizes = names, sizes.loc[names]
        self.groups = chosen["dataset"].map(names.index).to_numpy(np.int64)
        columns = [name for name in chosen if name not in ("dataset", "optimizer", "seed", "config_index", "config_id")]
        columns = [name for name in columns if name not in ("n_evals", "loss", "time")]
        self.configs: list[dict[str, Any]] = chosen[columns].to_dict("records")
        self.scores, self.seconds = -chosen["loss"].to_numpy(float), chosen["time"].to_numpy(float)
        every = self.history(np.arange(len(chosen)))
        self.rows = every.rows
        self.described = np.log(self.sizes.to_numpy(float))[self.groups]

    def history(self, places: Any) -> Any:
        """Return the history of some runs."""
        return make_history(
            "random_forest",
            "accuracy",
            datasets=self.names,
            groups=self.groups[places],
            configs=[self.configs[place] for place in places],
            scores=self.scores[places],
            metafeatures=self.sizes,
            seconds=self.seconds[places],
            log=LOG,
            most_per_dataset=None,
        )


def random_bot(pool: Pool, budget: float, seed: int) -> tuple[list[int], list[float]]:
    """Return the runs of the random bot in order, and when each ended: the data set with the fewest runs is next."""
    rng = np.random.default_rng(seed)
    left = {group: list(rng.permutation(np.flatnonzero(pool.groups == group))) for group in set(pool.groups.tolist())}
    order: list[int] = []
    while left and pool.seconds[order].sum() < budget:
        group = max(left, key=lambda group: (len(left[group]), rng.random()))
        order.append(int(left[group].pop()))
        if not left[group]:
            del left[group]
    return order, np.cumsum(pool.seconds[order]).tolist()


def learning_bot(pool: Pool, budget: float, seed: int) -> tuple[list[int], list[float]]:
    """Return the same of the bot that asks what teaches most per second."""
    rng = np.random.default_rng((seed, 1))
    first = [int(rng.choice(np.flatnonzero(pool.groups == group))) for group in range(len(pool.names))]
    order, left = list(first), set(range(len(pool.scores))) - set(first)
    rate, spent = None, float(pool.seconds[first].sum())
    while left and spent < budget:
        if len(order) >= LEAST_RUNS and (rate is None or len(order) % REFIT_EVERY == 0):
            known = np.array(order)
            scores = np.zeros(len(known))
            for group in range(len(pool.names)):
                own = pool.groups[known] == group
                scores[own] = normal_scores(pool.scores[known[own]])
            rows = np.hstack([pool.rows[known], pool.described[known]])
            rate = InformationRate().fit(rows, scores, pool.seconds[known])
        candidates = rng.choice(sorted(left), size=min(N_CANDIDATES, len(left)), replace=False)
        rates = np.ones(len(candidates))
        if rate is not None:
            done = np.array(order)
            novelties = [
                novelty(pool.rows[c], pool.rows[done[pool.groups[done] == pool.groups[c]]]) for c in candidates
            ]
            rows = np.hstack([pool.rows[candidates], pool.described[candidates]])
            rates = rate.predict(rows, np.array(novelties))
        weights = odds(rates, RANDOM_SHARE)
        chosen = int(rng.choice(candidates, p=weights / weights.sum()))
        order.append(chosen)
        left.remove(chosen)
        spent += float(pool.seconds[chosen])
    return order, np.cumsum(pool.seconds[order]).tolist()


def tau(pool: Pool, places: list[int], test: Pool) -> float:
    """Return how well a meta-learner that learnt from some runs ranks those of other data sets, in the mean."""
    learner = MetaLearner((RECIPE,)).fit(pool.history(np.array(places)))
    found = []
    for group, name in enumerate(test.names):
        own = np.flatnonzero(test.groups == group)
        predicted = learner.predict([test.configs[place] for place in own], test.sizes.loc[name].to_dict())
        found.append(kendalltau(predicted, test.scores[own]).statistic)
    return float(np.nanmean(found))


def main() -> None:
    """Print tau of both bots after some shares of the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metadata", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    runs, sizes = pool_of(asked.metadata)
    names = sorted(set(runs["dataset"]) & set(sizes.index))
    results = []
    for seed in range(asked.seeds):
        shuffled = np.random.default_rng(seed).permutation(names).tolist()
        cut = len(shuffled) // 3
        test, pool = Pool(runs, sizes, shuffled[:cut]), Pool(runs, sizes, shuffled[cut:])
        whole = float(pool.seconds.sum())
        for bot, choose in (("random", random_bot), ("learn", learning_bot)):
            order, ends = choose(pool, max(SHARES) * whole, seed)
            for share in SHARES:
                done = [place for place, end in zip(order, ends, strict=True) if end <= share * whole]
                row = {"seed": seed, "bot": bot, "share": share, "runs": len(done), "tau": tau(pool, done, test)}
                results.append(row)
                print(row, flush=True)
    frame = pd.DataFrame(results)
    print(frame.groupby(["share", "bot"])[["runs", "tau"]].agg(["mean", "sem"]).round(3))
    paired = frame.pivot_table(index=["seed", "share"], columns="bot", values="tau")
    gain = paired["learn"] - paired["random"]
    print(gain.groupby("share").agg(["mean", "sem"]).round(4))


if __name__ == "__main__":
    main()
