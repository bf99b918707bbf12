"""Policies over arms that have experience: how far from the best configuration of all algorithms after 10 to 50 rounds.

    python benchmarks/bandits_experience.py [--families openml100,hyperbench] [--seeds 3] [--repeats 4] [--parts 5]

Data sets are left out in parts. Each arm is the optimiser with experience, learnt without the part under test, from the
meta-learner's favourite. The improvement curves of `curve_thompson` are simulations on the other data sets, each by an
arm that saw neither the part under test nor the data set of the curve. Gaps are score x 100, mean +- standard error
over data sets; differences are paired.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from bandits import FAMILIES, ROUNDS, oracle_gaps, print_table
from metalearning import LANDSCAPE_RUNS, case_of, favourite, search_order
from tables import DECLARED_LOG, METADATA, pools

from metaml.bandits import POLICIES, Policy
from metaml.laboratory.arms import PolicyFor, Problem, gaps, make_problems
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import Cell
from metaml.metalearning.algorithm_ranking import curves_by_arm
from metaml.metalearning.assessment.comparison import PER_DATASET
from metaml.metalearning.committee import ExperienceCommittee
from metaml.metalearning.history import RunHistory, leave_out_parts, make_history
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.search.strategy import STRATEGIES

N_EVALUATIONS = max(ROUNDS)
Curves = list[list[list[float]]]


def described(family: str, metadata: Path) -> pd.DataFrame:
    """Return OpenML's qualities of a family's data sets, by the names its pools have."""
    table = pd.read_csv(metadata / "openml100-sklearn" / "metafeatures.csv", index_col="task_id")
    if family == "openml100":
        return table.set_axis([f"openml:{task}" for task in table.index])
    known = pd.read_csv(metadata / "hyperboost-hyperbench" / "datasets.csv").dropna(subset="openml100_task_id")
    known = known[known["openml100_task_id"].isin(table.index)]
    return table.loc[known["openml100_task_id"]].set_axis(list(known["dataset"]))


def experience_of(members: Sequence[RecordedRuns], table: pd.DataFrame, log: Sequence[str]) -> RunHistory:
    """Return an algorithm's pools as an experience."""
    return make_history(
        members[0].algorithm,
        "score",
        datasets=[pool.dataset for pool in members],
        groups=np.repeat(np.arange(len(members)), [len(pool.scores) for pool in members]),
        configs=[config for pool in members for config in pool.configs],
        scores=np.concatenate([pool.scores for pool in members]),
        metafeatures=table,
        log=log,
        most_per_dataset=None,
    )


def record(whole: RunHistory, landscape: Landscape, part: Sequence[str], n_seeds: int) -> list[Cell]:
    """Return what an arm evaluates on the data sets of a part, learnt from all others."""
    places = [whole.datasets.index(name) for name in part]
    learner = MetaLearner().fit(whole.without(places).thinned(PER_DATASET))
    cells = []
    for k, name in zip(places, part, strict=True):
        case = case_of(whole, k, {"default": learner}, landscape)
        prior = case.prior()
        for seed in range(n_seeds):
            judge = ExperienceCommittee(prior, STRATEGIES["default"])
            order = search_order(case, favourite(case, prior), judge, N_EVALUATIONS, seed)
            cells.append(Cell(whole.algorithm, name, whole.algorithm, "experience", seed, tuple(order)))
    return cells


def contenders(curves: dict[str, Curves]) -> dict[str, PolicyFor]:
    """Return every policy by name; the one with curves has those that never saw the data set under test."""
    made = {name: _constant(make()) for name, make in POLICIES.items() if name not in ("always", "curve_thompson")}
    made["curve_thompson (KB)"] = lambda problem: POLICIES["curve_thompson"](curves[problem.dataset])
    return made


def _constant(policy: Policy) -> PolicyFor:
    return lambda _: policy


def play(family: str, metadata: Path, *, n_seeds: int, n_repeats: int, n_parts: int) -> None:
    """Record the arms of a family, play every policy on the record, and print the gaps."""
    started = time.perf_counter()
    members = {table: pools(table, metadata) for table in FAMILIES[family]}
    shared = sorted(set.intersection(*({pool.dataset for pool in found} for found in members.values())))
    everything = [pool for found in members.values() for pool in found if pool.dataset in shared]
    table = described(family, metadata)
    # The arms of a problem are in the order of their names.
    wholes = sorted(
        (experience_of(found, table, DECLARED_LOG[name]) for name, found in members.items()),
        key=lambda whole: whole.algorithm,
    )
    landscapes = [make_landscape(whole.thinned(LANDSCAPE_RUNS)) for whole in wholes]
    cells: list[Cell] = []
    curves: dict[str, Curves] = {}
    for positions in leave_out_parts(len(shared), n_parts):
        part = [shared[k] for k in positions]
        rests = [
            landscape.keep(k for k, name in enumerate(landscape.datasets) if name not in part)
            for landscape in landscapes
        ]
        for whole, rest in zip(wholes, rests, strict=True):
            cells += record(whole, rest, part, n_seeds)
        known = curves_by_arm(wholes, rests, n=N_EVALUATIONS)
        curves |= dict.fromkeys(part, known)
        print(f"{family}: {len(curves)} of {len(shared)} data sets, {time.perf_counter() - started:.0f} s", flush=True)
    problems: list[Problem] = make_problems(everything, cells)
    found = {}
    for name, policy_for in contenders(curves).items():
        levels = gaps(policy_for, problems, rounds=ROUNDS, n_repeats=n_repeats)
        found[name] = [levels[after] for after in ROUNDS]
    found["oracle arm"] = [oracle_gaps(problems)[after] for after in ROUNDS]
    title = f"{family}: {len(problems)} data sets, {len(problems[0].seeds)} seeds, gap x 100"
    print_table(title, [f"@{after}" for after in ROUNDS], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--parts", type=int, default=5)
    options = parser.parse_args()
    for family in options.families.split(","):
        play(family, options.metadata, n_seeds=options.seeds, n_repeats=options.repeats, n_parts=options.parts)


if __name__ == "__main__":
    main()
