"""RAMBO against the asynchronous default on recorded runs, with simulated workers (Thomas 2019, chapter 6).

    python benchmarks/schedules.py --metadata FOLDER [--datasets 6] [--seeds 2] [--minutes 60]
    python benchmarks/schedules.py --metadata FOLDER --report

Pools: optimus (9 data sets) and, of each hyperbench table, the first `--datasets` data sets in a fixed shuffled order.
Two regimes: the seconds as recorded, which can be predicted, and the same seconds shuffled over the configurations of a
pool, which cannot. All ways share 16 random starts and the budget: 20 mean evaluations for each of 4 workers, 10 for
each of 16 (the thesis has half the time for 16, too).
Named before the first run: rambo "beats" the default if the mean regret over time is lower by two standard errors.
Finished simulations are kept in results/schedules.csv and not run again.
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from tables import DECLARED_LOG, METADATA, pools

from metaml.acquisition.candidates import PoolCandidates
from metaml.laboratory.parallel import simulate_workers, without_pattern
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.result_table import paired_difference
from metaml.laboratory.simulate import OptimizerVariant
from metaml.search.plan import RUNTIME_RULE
from metaml.search.schedules import Asynchronous, Rambo, Turn
from metaml.surrogates.duration import Duration
from metaml.system.threads import at_most_threads

RESULTS = Path(__file__).parent / "results" / "schedules.csv"
TABLES = ("optimus", "hyperbench RandomForest", "hyperbench XGBoost", "hyperbench SVC", "hyperbench SGD")
REGIMES = ("recorded", "shuffled")
WORKERS = {4: 20.0, 16: 10.0}
"""Workers, and the time of each in mean evaluations of a pool."""
HEADER = ("table", "dataset", "regime", "workers", "way", "seed", "mean", "final", "evaluations", "busy", "predictable")


class Synchronous:
    """As many proposals of one model as there are workers, without packing: qLCB of the thesis."""

    def ask(self, search, turn: Turn):
        if search.is_in_initial_design:
            return [search.ask(turn.rounds_left)]
        return [] if turn.n_open else [search.take(option) for option in search.options(turn.n_workers)][: turn.most]


TIMED = OptimizerVariant("default", {"cost": RUNTIME_RULE})
PLAIN = OptimizerVariant("default", {})
WAYS = {
    "asynchronous": (TIMED, Asynchronous),
    "asynchronous, no runtime rule": (PLAIN, Asynchronous),
    "rambo": (PLAIN, Rambo),
    "synchronous": (PLAIN, Synchronous),
    "random": (OptimizerVariant("random", {"strategy": "random"}), Asynchronous),
}


def chosen(table: str, metadata: Path, n: int) -> list[RecordedRuns]:
    usable = [pool for pool in pools(table, metadata) if not pool.is_flat]
    order = np.random.default_rng(7).permutation(len(usable))
    return [thinned(usable[k]) for k in order[: len(usable) if table == "optimus" else n]]


def thinned(pool: RecordedRuns, most: int = 500) -> RecordedRuns:
    if len(pool.configs) <= most:
        return pool
    kept = np.sort(np.random.default_rng(0).choice(len(pool.configs), most, replace=False))
    configs = tuple(pool.configs[k] for k in kept)
    return RecordedRuns(pool.dataset, pool.algorithm, configs, pool.scores[kept], pool.seconds[kept])


def predictability(pool: RecordedRuns, candidates: PoolCandidates) -> float:
    """Return Spearman's correlation of predicted and recorded seconds, learnt from 60 runs, on the others."""
    order = np.random.default_rng(1).permutation(len(pool.configs))
    model = Duration().fit(candidates.rows[order[:60]], pool.seconds[order[:60]])
    return float(spearmanr(model.predict(candidates.rows[order[60:]]), pool.seconds[order[60:]]).statistic)


def run(options: argparse.Namespace) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = set()
    if RESULTS.exists():
        done = {tuple(row[name] for name in HEADER[:6]) for row in csv.DictReader(RESULTS.open())}
    end = time.monotonic() + 60 * options.minutes
    by_table = {table: chosen(table, options.metadata, options.datasets) for table in TABLES}
    with RESULTS.open("a", newline="") as file, at_most_threads(1):
        writer = csv.writer(file)
        if not done:
            writer.writerow(HEADER)
        for seed in range(options.seeds):
            for place in range(max(map(len, by_table.values()))):
                for table in TABLES:
                    if place < len(by_table[table]) and time.monotonic() < end:
                        one_pool(table, by_table[table][place], seed, done, writer)
                        file.flush()


def one_pool(table: str, recorded: RecordedRuns, seed: int, done: set, writer) -> None:
    candidates = PoolCandidates(recorded.configs, log=DECLARED_LOG[table])
    for regime in REGIMES:
        pool = recorded if regime == "recorded" else without_pattern(recorded)
        known = predictability(pool, candidates)
        for n_workers, each in WORKERS.items():
            for way, (method, schedule) in WAYS.items():
                key = (table, pool.dataset, regime, str(n_workers), way, str(seed))
                if key in done:
                    continue
                line = simulate_workers(
                    pool,
                    method,
                    schedule(),
                    n_workers=n_workers,
                    seed=seed,
                    evaluations_each=each,
                    candidates=candidates,
                )
                regret = line.regret(pool)
                n, busy = len(line.positions), line.busy_share
                writer.writerow([*key, regret.mean(), regret[-1], n, busy, known])


def report() -> None:
    frame = pd.read_csv(RESULTS)
    print(f"{len(frame)} simulations, {frame.groupby('table')['dataset'].nunique().to_dict()}")
    print("| seconds | workers | schedule | mean regret | minus default | final regret | minus default | evaluations |"
          " busy |\n" + "| --- " * 9 + "|")  # fmt: skip
    frame["pool"] = frame["table"] + " " + frame["dataset"]
    for (regime, n_workers), part in frame.groupby(["regime", "workers"]):
        complete = part.groupby(["pool", "seed"])["way"].nunique() == len(WAYS)
        part = part.set_index(["pool", "seed"]).loc[complete[complete].index].reset_index()
        levels = {
            (way, what): rows.groupby("pool")[what].mean().to_dict()
            for way, rows in part.groupby("way")
            for what in ("mean", "final")
        }
        for way in WAYS:
            rows = part[part["way"] == way]
            cells = []
            for what in ("mean", "final"):
                difference = paired_difference(levels[way, what], levels["asynchronous", what])
                cells += [f"{rows.groupby('pool')[what].mean().mean():.2f}"]
                cells += ["–" if way == "asynchronous" else f"{difference.mean:+.2f} ± {difference.error:.2f}"]
            print(
                f"| {regime} | {n_workers} | {way} | {' | '.join(cells)} | {rows['evaluations'].mean():.0f} | "
                f"{rows['busy'].mean():.0%} |"
            )
        known = part.groupby("pool")["predictable"].first().mean()
        n_pools, n_seeds = part["pool"].nunique(), part["seed"].nunique()
        print(
            f"<!-- {regime}, {n_workers} workers: {n_pools} pools, {n_seeds} seeds, Spearman of seconds {known:.2f} -->"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--datasets", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        run(options)
    report()


if __name__ == "__main__":
    main()
