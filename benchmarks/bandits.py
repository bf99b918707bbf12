"""Every policy on recorded runs: how far from the best configuration of all algorithms after 10, 30 and 50 rounds.

    python benchmarks/bandits.py [--seeds 5] [--repeats 4] [--workers 2]

Arms are the default optimizer on random_forest/adaboost/svc of openml100-sklearn (tasks that have all three) and on
the four algorithms of hyperbench, without a KB, three random starts each. What an arm finds is recorded once in
benchmarks/results/bandit-arms.csv (delete it when the optimizer has changed); every policy is then played on
the record. Gaps are score x 100, mean +- standard error over data sets; differences are paired.
The second table of hyperbench gives every policy equal seconds instead of equal rounds.
"""

import argparse
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tables import DECLARED_LOG, METADATA, pools

from metaml.bandits import DEFAULT_POLICY, POLICIES, Policy
from metaml.laboratory.arms import (
    PolicyFor,
    Problem,
    best_curves,
    gaps,
    gaps_over_seconds,
    make_problems,
    oracle_arm,
)
from metaml.laboratory.result_table import Estimate, Levels, level, paired_difference
from metaml.laboratory.simulate import OptimizerVariant, simulate_all

FAMILIES = {
    "openml100": ("openml100 random_forest", "openml100 adaboost", "openml100 svc"),
    "hyperbench": ("hyperbench RandomForest", "hyperbench XGBoost", "hyperbench SVC", "hyperbench SGD"),
}
ROUNDS = (10, 30, 50)
REFERENCE = "round_robin"
# A policy that prefers a cheap arm must not run out of its record within the budget.
SECONDS_IN_PULLS = 15.0


def contenders(problems: Sequence[Problem]) -> dict[str, PolicyFor]:
    """Return every policy by name: the constant one for each arm, the one with curves from the other data sets."""
    made: dict[str, PolicyFor] = {}
    for position, arm in enumerate(problems[0].seeds[0]):
        made[f"always {arm.name}"] = _constant(POLICIES["always"](arm=position))
    for name, make in POLICIES.items():
        if name == "curve_thompson":
            made[f"{name} (KB)"] = lambda problem, make=make: make(best_curves(problems, problem.dataset))
        elif name != "always":
            made[name] = _constant(make())
    made["cost_of_improvement (pulls)"] = _constant(POLICIES["cost_of_improvement"](in_seconds=False))
    return made


def _constant(policy: Policy) -> PolicyFor:
    return lambda _: policy


def oracle_gaps(problems: Sequence[Problem]) -> dict[int, dict[str, float]]:
    """Return the gaps of who knows the arm that ends best and pulls no other."""
    levels: dict[int, dict[str, float]] = {after: {} for after in ROUNDS}
    for problem in problems:
        chosen = [arms[oracle_arm(problem, seed)].scores for seed, arms in enumerate(problem.seeds)]
        for after in ROUNDS:
            best = float(np.mean([scores[:after].max() for scores in chosen]))
            levels[after][problem.dataset] = 100.0 * (problem.optimum - best)
    return levels


def seconds_budgets(problems: Sequence[Problem]) -> dict[str, float]:
    """Return for each data set the seconds of 15 evaluations of average length."""
    return {
        problem.dataset: SECONDS_IN_PULLS
        * float(np.mean([arm.seconds.mean() for arms in problem.seeds for arm in arms]))
        for problem in problems
    }


def print_table(title: str, columns: Sequence[str], found: Mapping[str, Sequence[Levels]]) -> None:
    """Print levels and paired differences to round robin, ordered by the last level."""
    print(f"\n{title}")
    print("| policy | " + " | ".join(columns) + " | " + " | ".join(f"- rr {c}" for c in columns) + " |")
    print("|---" * (1 + 2 * len(columns)) + "|")
    for name, levels in sorted(found.items(), key=lambda item: level(item[1][-1]).mean):
        own = [level(values) for values in levels]
        paired = [paired_difference(a, b) for a, b in zip(levels, found[REFERENCE], strict=True)]
        label = f"**{name}**" if name == DEFAULT_POLICY else name
        print(f"| {label} | " + " | ".join(map(_plain, own)) + " | " + " | ".join(map(_signed, paired)) + " |")


def _plain(estimate: Estimate) -> str:
    return f"{estimate.mean:.2f} ± {estimate.error:.2f}"


def _signed(estimate: Estimate) -> str:
    return f"{estimate.mean:+.2f} ± {estimate.error:.2f}"


def write_levels(path: Path, rows: Sequence[tuple[str, str, str, Levels]]) -> None:
    """Write one line per table, policy, budget and data set."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("table", "policy", "budget", "dataset", "gap"))
        for table, policy, budget, levels in rows:
            writer.writerows((table, policy, budget, dataset, gap) for dataset, gap in levels.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    rows: list[tuple[str, str, str, Levels]] = []
    for family, tables in FAMILIES.items():
        members = {table: pools(table, options.metadata) for table in tables}
        cells = simulate_all(
            members,
            [OptimizerVariant("default")],
            seeds=range(options.seeds),
            n=max(ROUNDS),
            path=options.results / "bandit-arms.csv",
            log=DECLARED_LOG,
            n_workers=options.workers,
        )
        everything = [pool for table in tables for pool in members[table]]
        problems = make_problems(everything, [cell for cell in cells if cell.table in tables])
        policies = contenders(problems)
        found = {}
        for name, policy_for in policies.items():
            levels = gaps(policy_for, problems, rounds=ROUNDS, n_repeats=options.repeats)
            found[name] = [levels[after] for after in ROUNDS]
        found["oracle arm"] = [oracle_gaps(problems)[after] for after in ROUNDS]
        print_table(
            f"{family}: {len(problems)} data sets, {len(problems[0].seeds)} seeds, gap x 100",
            [f"@{after}" for after in ROUNDS],
            found,
        )
        rows += [
            (family, name, f"{after} rounds", values)
            for name, levels in found.items()
            for after, values in zip(ROUNDS, levels, strict=True)
        ]
        if everything[0].seconds is not None:
            budgets = seconds_budgets(problems)
            timed = {
                name: [gaps_over_seconds(policy_for, problems, budgets=budgets, n_repeats=options.repeats)]
                for name, policy_for in policies.items()
            }
            print_table(f"{family}: seconds of 15 average evaluations, gap x 100", ["seconds"], timed)
            rows += [(family, name, "seconds", levels[0]) for name, levels in timed.items()]
    write_levels(options.results / "bandits.csv", rows)


if __name__ == "__main__":
    main()
