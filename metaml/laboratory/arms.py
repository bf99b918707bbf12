"""Simulates a policy (bandit) that divides rounds between optimizers with recorded evaluations.

Arms are independent: the k-th evaluation of an optimizer is the same under every policy. One recorded order per arm is
therefore enough for all policies.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.bandits import Policy
from metaml.errors import BadRequest
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import Cell


@dataclass(frozen=True, eq=False)
class RecordedArm:
    """The scores (higher is better) of one optimizer's evaluations in their order, and the seconds they took."""

    name: str
    scores: Floats
    seconds: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """One data set: its arms for each seed, and the best score of any configuration of any arm."""

    dataset: str
    optimum: float
    seeds: tuple[tuple[RecordedArm, ...], ...]


@dataclass(frozen=True, eq=False)
class Play:
    """What a policy did: the arm of each round, the best score after it, and the seconds spent until then."""

    chosen: tuple[int, ...]
    best: Floats
    spent: Floats


PolicyFor = Callable[[Problem], Policy]
"""Makes the policy for a data set; a prior must not have been learnt from that data set."""


def record_arm(pool: RecordedRuns, order: Sequence[int]) -> RecordedArm:
    """Return the arm that evaluates configurations of a pool in this order; unknown times count as one second."""
    chosen = list(order)
    seconds = np.ones(len(chosen)) if pool.seconds is None else pool.seconds[chosen]
    return RecordedArm(pool.algorithm, pool.scores[chosen], seconds)


def make_problems(pools: Iterable[RecordedRuns], cells: Iterable[Cell]) -> list[Problem]:
    """Return a problem for each data set that has a pool of every algorithm; finished simulations are its arms.

    All cells must come from one method. Seeds that are missing for one of the arms are left out.
    """
    by_dataset: dict[str, dict[str, RecordedRuns]] = {}
    for pool in pools:
        by_dataset.setdefault(pool.dataset, {})[pool.algorithm] = pool
    algorithms = sorted({name for members in by_dataset.values() for name in members})
    orders = {(cell.dataset, cell.algorithm, cell.seed): cell.order for cell in cells}
    seeds = sorted({seed for _, _, seed in orders})
    problems = []
    for dataset, members in sorted(by_dataset.items()):
        recorded = tuple(
            tuple(record_arm(members[name], orders[dataset, name, seed]) for name in algorithms)
            for seed in seeds
            if len(members) == len(algorithms) and all((dataset, name, seed) in orders for name in algorithms)
        )
        if recorded:
            optimum = max(float(pool.scores.max()) for pool in members.values())
            problems.append(Problem(dataset, optimum, recorded))
    return problems


def play(policy: Policy, arms: Sequence[RecordedArm], *, n_rounds: int, rng: np.random.Generator) -> Play:
    """Return what a policy does in a number of rounds.

    >>> from metaml.bandits import POLICIES
    >>> arms = [RecordedArm("a", np.array([0.2, 0.4]), np.ones(2)), RecordedArm("b", np.array([0.3, 0.1]), np.ones(2))]
    >>> play(POLICIES["round_robin"](), arms, n_rounds=4, rng=np.random.default_rng(0)).best.tolist()
    [0.2, 0.3, 0.3, 0.4]
    """
    table = _Table(arms)
    for made in range(n_rounds):
        table.pull(policy.choose(table.rewards, rng, seconds=table.seconds, rounds_left=n_rounds - made))
    return table.play()


def play_seconds(policy: Policy, arms: Sequence[RecordedArm], *, budget: float, rng: np.random.Generator) -> Play:
    """Return what a policy does in a number of seconds; an evaluation still running at the end is lost.

    The policy gets an estimate of the rounds left, from the mean seconds of the pulls so far.
    """
    table = _Table(arms)
    spent = 0.0
    while True:
        n_pulls = len(table.chosen)
        rounds_left = max(int((budget - spent) * n_pulls / spent), 1) if n_pulls else None
        arm = policy.choose(table.rewards, rng, seconds=table.seconds, rounds_left=rounds_left)
        spent += table.peek_seconds(arm)
        if spent > budget:
            return table.play()
        table.pull(arm)


def gaps(
    policy_for: PolicyFor, problems: Sequence[Problem], *, rounds: Sequence[int], n_repeats: int = 1
) -> dict[int, dict[str, float]]:
    """Return, for each number of rounds and data set, the gap between the best score and the optimum, times 100.

    Gaps are means over seeds and repeats (a policy can be random). The budget is the largest number of rounds.
    """
    levels: dict[int, dict[str, float]] = {after: {} for after in rounds}
    at = np.asarray(rounds) - 1
    for problem in problems:
        policy = policy_for(problem)
        found = [
            play(policy, arms, n_rounds=max(rounds), rng=np.random.default_rng((seed, repeat))).best[at]
            for seed, arms in enumerate(problem.seeds)
            for repeat in range(n_repeats)
        ]
        for after, best in zip(rounds, np.mean(found, axis=0), strict=True):
            levels[after][problem.dataset] = 100.0 * (problem.optimum - float(best))
    return levels


def gaps_over_seconds(
    policy_for: PolicyFor, problems: Sequence[Problem], *, budgets: Mapping[str, float], n_repeats: int = 1
) -> dict[str, float]:
    """Return, for each data set, the gap between the best score and the optimum, times 100, after its budget.

    Budgets are in seconds. Before the first result, the worst first score of all arms counts as the best score.
    """
    levels = {}
    for problem in problems:
        policy = policy_for(problem)
        found = []
        for seed, arms in enumerate(problem.seeds):
            worst = min(float(arm.scores[0]) for arm in arms)
            for repeat in range(n_repeats):
                rng = np.random.default_rng((seed, repeat))
                done = play_seconds(policy, arms, budget=budgets[problem.dataset], rng=rng)
                found.append(float(done.best[-1]) if len(done.best) else worst)
        levels[problem.dataset] = 100.0 * (problem.optimum - float(np.mean(found)))
    return levels


def oracle_arm(problem: Problem, seed: int) -> int:
    """Return the arm with the best final score: an upper bound, as no policy can know it."""
    return int(np.argmax([arm.scores.max() for arm in problem.seeds[seed]]))


def best_curves(problems: Iterable[Problem], leave_out: str) -> list[list[list[float]]]:
    """Return for each arm its best-so-far curves on all data sets but one, as input of `curve_thompson`."""
    others = [arms for problem in problems if problem.dataset != leave_out for arms in problem.seeds]
    if not others:
        raise BadRequest(f"No data set is left beside {leave_out}. Give at least two.")
    return [
        [np.maximum.accumulate(arms[position].scores).tolist() for arms in others] for position in range(len(others[0]))
    ]


class _Table:
    """The state of a simulation: each pull returns the next recorded evaluation; the last one repeats at the end."""

    def __init__(self, arms: Sequence[RecordedArm]) -> None:
        self.arms = arms
        self.chosen: list[int] = []
        self.rewards: list[list[float]] = [[] for _ in arms]
        self.seconds: list[list[float]] = [[] for _ in arms]
        self._best: list[float] = []
        self._spent: list[float] = []

    def peek_seconds(self, arm: int) -> float:
        """Return the seconds of the next evaluation of an arm."""
        return float(self.arms[arm].seconds[self._position(arm)])

    def pull(self, arm: int) -> None:
        """Make the next evaluation of an arm."""
        score, seconds = float(self.arms[arm].scores[self._position(arm)]), self.peek_seconds(arm)
        self._best.append(max(score, self._best[-1]) if self._best else score)
        self._spent.append(seconds + (self._spent[-1] if self._spent else 0.0))
        self.chosen.append(arm)
        self.rewards[arm].append(score)
        self.seconds[arm].append(seconds)

    def play(self) -> Play:
        """Return what was done so far."""
        return Play(tuple(self.chosen), np.array(self._best), np.array(self._spent))

    def _position(self, arm: int) -> int:
        return min(len(self.rewards[arm]), len(self.arms[arm].scores) - 1)
