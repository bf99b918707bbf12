"""Meta-learning on other people's runs: rank correlation, regret and a poisoned knowledge base (openml100-sklearn).

Data sets are left out in ten parts. With k evaluations, k random runs of the left-out data set are known and the others
are ranked. Regret is the distance to the best run of the data set in per cent of the range of its runs.

With `--cache FOLDER` what is learnt for each part is kept there, and other ways to search are tried in a minute. Delete
the folder when the code that learns has changed.

python benchmarks/metalearning.py [--tasks 25] [--seeds 1] [--only tau,regret,poison,speed] [--algorithms svc]
"""

import argparse
import dataclasses
import resource
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from import_tables import METADATA, METAFEATURES, RUNS
from numpy.typing import NDArray
from remembered import remembered

from metaml.acquisition.committee import Committee
from metaml.acquisition.starts import greedy_portfolio
from metaml.arrays import Positions
from metaml.experience.load_history import run_history
from metaml.metafeatures import GROUPS
from metaml.metalearning.assessment.comparison import PER_DATASET
from metaml.metalearning.assessment.neighbours import Neighbours
from metaml.metalearning.assessment.rgpe import RankWeighted
from metaml.metalearning.committee import ExperienceCommittee
from metaml.metalearning.guard import Guard
from metaml.metalearning.history import RunHistory, leave_out_parts
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.prior import Prior
from metaml.metalearning.rank_correlation import kendall
from metaml.metalearning.training import file_contents, train, unpacked
from metaml.metalearning.transfer_gp import ExperienceProcess
from metaml.search.strategy import STRATEGIES
from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.table_import.runs import import_table

Array = NDArray[np.float64]
ALGORITHMS = ("random_forest", "adaboost", "svc")
N_FOLDS = 10
LANDSCAPE_RUNS = 300
EVALUATIONS = (0, 3, 5, 10)
CHECKPOINTS = (1, 3, 5, 10, 20, 30, 50)
GUARDED, UNGUARDED = "experience from the favourite", "  the same without a guard"
MOST_HARM = 1.15
RANKED = ("neighbours", "hyperparameters", "thesis", "simple", "default")
WITHIN_A_SECOND = tuple(name for group in ("simple", "statistical", "information") for name in GROUPS[group].names)
"""What we compute in a second of any data set; landmarkers take longer on large ones."""


@dataclass(frozen=True, eq=False)
class Case:
    """One data set under test, and what was learnt without it."""

    position: int
    rows: Array
    scores: Array
    metafeatures: dict[str, float]
    learners: dict[str, MetaLearner | Neighbours]
    landscape: Landscape
    priors: dict[str, Prior] = field(default_factory=dict)

    def prior(self, learner: str = "default") -> Prior:
        model = self.learners[learner]
        if not isinstance(model, MetaLearner):
            raise SystemExit(f"{learner} is no meta-learner")
        if learner not in self.priors:
            self.priors[learner] = Prior(model, self.landscape, self.metafeatures)
        return self.priors[learner]


def case_of(whole: RunHistory, k: int, learners: dict[str, MetaLearner | Neighbours], landscape: Landscape) -> Case:
    """Return a data set of an experience as a case."""
    places = whole.places[k]
    return Case(k, whole.rows[places], whole.scores[places], whole.metafeatures_of(k), learners, landscape)


def open_tables(folder: str, metadata: Path, algorithms: Sequence[str]) -> KnowledgeBase:
    kb = open_kb(Path(folder) / "kb.db")
    for algorithm in algorithms:
        name = f"openml100-sklearn/runs_{algorithm}.csv.gz"
        import_table(kb, metadata / name, RUNS[name])
    METAFEATURES["openml100-sklearn/metafeatures.csv"](kb, metadata / "openml100-sklearn/metafeatures.csv")
    return kb


def cases(
    whole: RunHistory, recipes: Sequence[str], n_tasks: int | None, *, poison: bool = False, cache: Path | None = None
) -> Iterator[Case]:
    """Yield the data sets under test; the knowledge base holds all others, also when only some are tested.

    With `poison` everything is learnt from inverted scores.
    """
    known = whole.with_scores(-whole.scores) if poison else whole
    tested = np.random.default_rng(1).permutation(whole.n_datasets)[: n_tasks or whole.n_datasets]
    n_described = len(whole.metafeatures.columns)
    name = "-".join([whole.algorithm, *recipes, str(n_described), *(["inverted"] if poison else [])])
    landscape = remembered(
        cache, f"{name}-landscape", lambda: make_landscape(known.thinned(LANDSCAPE_RUNS), n_grid=2000)
    )
    for number, part in enumerate(leave_out_parts(whole.datasets, N_FOLDS)):
        if any(k in tested for k in part):
            every = remembered(
                cache, f"{name}-{number}", partial(part_cases, known, landscape, part, recipes, scores=whole.scores)
            )
            yield from (case for case in every if case.position in tested)


def part_cases(
    known: RunHistory, landscape: Landscape, part: Sequence[int], recipes: Sequence[str], *, scores: Array
) -> list[Case]:
    """Return the data sets of a part with what was learnt without them; those on which all scores tie are left out."""
    training = known.without(part).thinned(PER_DATASET)
    learners: dict[str, MetaLearner | Neighbours] = {}
    for name in recipes:
        # Neighbours look runs up: they need all there are.
        learners[name] = (
            Neighbours().fit(known.without(part)) if name == "neighbours" else MetaLearner(name).fit(training)
        )
    gone = {known.datasets[k] for k in part}
    rest = landscape.keep(k for k, fingerprint in enumerate(landscape.datasets) if fingerprint not in gone)
    truth = dataclasses.replace(known, scores=scores)
    found = [case_of(truth, k, learners, rest) for k in part if np.ptp(scores[known.places[k]]) > 0]
    for case in found:
        for name, model in learners.items():
            if isinstance(model, MetaLearner):
                case.prior(name).points(case.rows)
    # Large, and quickly made again.
    vars(rest).pop("_interpolator", None)
    return found


def tau(
    whole: RunHistory, n_tasks: int | None, n_draws: int, recipes: Sequence[str], *, cache: Path | None = None
) -> None:
    found: dict[tuple[str, int], list[float]] = {}
    for case in cases(whole, recipes, n_tasks, cache=cache):
        for name, model in case.learners.items():
            predicted = model.predict_rows(case.rows, case.metafeatures)
            found.setdefault((name, 0), []).append(kendall(predicted, case.scores))
        for name in [name for name in ("simple", "default") if name in recipes]:
            prior = case.prior(name)
            points = prior.points(case.rows)
            found.setdefault((f"experience, {name}", 0), []).append(kendall(points.mean, case.scores))
            for k in EVALUATIONS[1:]:
                values = []
                for seen, rest in draws(case, k, n_draws):
                    process = ExperienceProcess(case.landscape.log_unit).fit(points.take(seen), case.scores[seen])
                    values.append(kendall(process.predict(points.take(rest))[0], case.scores[rest]))
                found.setdefault((f"experience, {name}", k), []).append(float(np.mean(values)))
        levels = case.landscape.levels_at(case.rows)
        for k in EVALUATIONS[1:]:
            values = []
            for seen, rest in draws(case, k, n_draws):
                weighted = RankWeighted().fit(levels[:, seen], case.rows[seen], case.scores[seen])
                values.append(kendall(weighted.predict(levels[:, rest], case.rows[rest])[0], case.scores[rest]))
            found.setdefault(("rank-weighted data sets", k), []).append(float(np.mean(values)))
    for (name, k), values in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"  tau after {k:>2} evaluations  {name:<28}{np.mean(values):.3f} ± {error:.3f}  ({len(values)} tasks)")


def draws(case: Case, k: int, n: int) -> Iterator[tuple[Positions, Positions]]:
    """Yield `n` times which `k` runs of a data set are known, and which are to be ranked."""
    for draw in range(n):
        order = np.random.default_rng((case.position, draw)).permutation(len(case.rows))
        yield order[:k], order[k:]


class Judge(Protocol):
    """What a search asks: learn from rows and scores, then value every row."""

    def fit(self, X: Array, y: Array, seconds: Array, seed: int) -> Any: ...

    def parts(self, X: Array) -> Array: ...

    def values(self, parts: Array) -> Array: ...


class RankWeightedJudge:
    """The yardstick: expected improvement under data sets weighted by how well they rank the evaluations here."""

    def __init__(self, landscape: Landscape, rows: Array) -> None:
        self.levels = dict(zip((row.tobytes() for row in rows), landscape.levels_at(rows).T, strict=True))

    def fit(self, X: Array, y: Array, seconds: Array, seed: int) -> Self:  # noqa: ARG002
        self.model_ = RankWeighted(seed=seed).fit(self._levels_at(X), X, y)
        return self

    def parts(self, X: Array) -> Array:
        return self.model_.predict(self._levels_at(X), X)[2][:, np.newaxis]

    def values(self, parts: Array) -> Array:
        return parts[:, 0]

    def _levels_at(self, X: Array) -> Array:
        return np.array([self.levels[row.tobytes()] for row in X]).T


def search_order(case: Case, starts: Sequence[int], judge: Judge, n: int, seed: int) -> list[int]:
    """Return the first `n` evaluations of the candidates a judge prefers."""
    order = list(starts)
    rows, scores = case.rows, case.scores
    rng = np.random.default_rng(seed)
    while len(order) < min(n, len(scores)):
        judge.fit(rows[order], scores[order], np.full(len(order), np.nan), int(rng.integers(2**31)))
        values = judge.values(judge.parts(rows))
        values[order] = -np.inf
        order.append(int(np.argmax(values)))
    return order


def search(case: Case, starts: Sequence[int], judge: Judge, n: int, seed: int) -> Array:
    """Return the regret after 1 to `n` evaluations of the candidates a judge prefers."""
    best = np.maximum.accumulate(case.scores[search_order(case, starts, judge, n, seed)])
    regret: Array = 100 * (case.scores.max() - best) / np.ptp(case.scores)
    return regret


def random_starts(case: Case, seed: int) -> list[int]:
    return [int(k) for k in np.random.default_rng((seed, case.position)).permutation(len(case.rows))[:3]]


def favourite(case: Case, prior: Prior) -> list[int]:
    return [int(np.argmax(prior.points(case.rows).mean))]


def portfolio_of(case: Case, *, given: Sequence[int] = ()) -> list[int]:
    return greedy_portfolio(case.landscape.levels_at(case.rows), 3, given=given)


def contenders(
    case: Case, prior: Prior, seed: int, *, wanted: Collection[str]
) -> Iterator[tuple[str, Judge, list[int]]]:
    """Yield who searches, of those wanted: a name, a judge, and where it starts."""
    first, chance, experts = favourite(case, prior), random_starts(case, seed), STRATEGIES["default"]
    starts: dict[str, Callable[[], list[int]]] = {
        GUARDED: lambda: first,
        UNGUARDED: lambda: first,
        "experience from portfolio-3": lambda: portfolio_of(case),
        "experience from it and two more": lambda: portfolio_of(case, given=first),
        "rank-weighted from portfolio-3": lambda: portfolio_of(case),
        "no KB, 3 random + gbqr": lambda: chance,
        "no KB, 3 random + default": lambda: chance,
    }
    judges: dict[str, Callable[[], Judge]] = {
        UNGUARDED: lambda: ExperienceCommittee(prior, experts, guard=Guard(least=1000)),
        "rank-weighted from portfolio-3": lambda: RankWeightedJudge(case.landscape, case.rows),
        "no KB, 3 random + gbqr": lambda: Committee(STRATEGIES["gbqr"]),
        "no KB, 3 random + default": lambda: Committee(experts),
    }
    for name, start in starts.items():
        if name.strip() in wanted or not wanted:
            judge = judges.get(name, lambda: ExperienceCommittee(prior, experts))
            yield name, judge(), start()


def regret(
    whole: RunHistory, n_tasks: int | None, n_seeds: int, *, wanted: Collection[str], cache: Path | None = None
) -> None:
    curves: dict[str, list[Array]] = {}
    switched = n_searches = 0
    for case in cases(whole, ("default",), n_tasks, cache=cache):
        prior = case.prior()
        found: dict[str, list[Array]] = {}
        for seed in range(n_seeds):
            for name, judge, starts in contenders(case, prior, seed, wanted=wanted):
                found.setdefault(name, []).append(search(case, starts, judge, 50, seed))
                if name == GUARDED and isinstance(judge, ExperienceCommittee):
                    switched += bool(judge.guard.verdicts)
                    n_searches += 1
        for name, own in found.items():
            curves.setdefault(name, []).append(np.mean(own, axis=0))
    show(curves)
    for name in [name for name in curves if GUARDED in curves and name != GUARDED]:
        paired = [first - second for first, second in zip(curves[GUARDED], curves[name], strict=True)]
        show({f"favourite minus {name.strip()}": paired})
    print(f"  the guard changed its mind in {switched} of {n_searches} searches")


def poisoned(whole: RunHistory, n_tasks: int, n_seeds: int, *, cache: Path | None = None) -> None:
    """Compare a search without a knowledge base with one whose knowledge base was trained on inverted scores."""
    curves: dict[str, list[Array]] = {}
    when: list[int] = []
    n_searches = 0
    for case in cases(whole, ("default",), n_tasks, poison=True, cache=cache):
        prior = case.prior()
        for seed in range(n_seeds):
            starts = random_starts(case, seed)
            judge = Committee(STRATEGIES["default"])
            curves.setdefault("no KB", []).append(search(case, starts, judge, 30, seed))
            committee = ExperienceCommittee(prior, STRATEGIES["default"])
            # In life the second is the algorithm's default; a random configuration stands in for it here.
            starts = [*favourite(case, prior), starts[0]]
            curves.setdefault("scores inverted", []).append(search(case, starts, committee, 30, seed))
            when += [verdict.n_evaluations for verdict in committee.guard.verdicts[:1]]
            n_searches += 1
    show(curves)
    for what, summary in (("median", np.median), ("mean", np.mean)):
        none, wrong = (float(summary([curve[-1] for curve in curves[name]])) for name in ("no KB", "scores inverted"))
        verdict = "holds" if wrong <= MOST_HARM * none else "is missed"
        print(f"  {what} after 30 of {n_searches}: {wrong:.3f} <= {MOST_HARM} x {none:.3f} {verdict}")
    low, half, high = np.quantile(when, (0.25, 0.5, 0.75)) if when else (np.nan,) * 3
    print(
        f"  switched off in {len(when)} searches, first after {half:.0f} evaluations (quartiles {low:.0f}, {high:.0f})"
    )


def show(curves: dict[str, list[Array]]) -> None:
    for name, found in curves.items():
        table = np.array(found)
        cells = [
            f"@{k} {table[:, k - 1].mean():5.2f} ± {table[:, k - 1].std(ddof=1) / np.sqrt(len(table)):.2f}"
            for k in CHECKPOINTS
            if k <= table.shape[1]
        ]
        print(f"  {name:<32}" + "  ".join(cells) + f"  (n {len(table)})", flush=True)


def speed(kb: KnowledgeBase, names: Sequence[str], folder: str) -> None:
    start, busy, n_runs = time.perf_counter(), time.process_time(), 0
    for name in names:
        found = run_history(kb, f"sklearn_{name}", metric="accuracy", most_per_dataset=LANDSCAPE_RUNS)
        kept = Path(folder) / name
        kept.mkdir()
        for file, content in file_contents(train(found)).items():
            (kept / file).write_bytes(content)
        n_runs += len(found.scores)
    print(f"training on {n_runs} runs: {time.perf_counter() - start:.1f} s, {time.process_time() - busy:.1f} s of work")
    start, busy = time.perf_counter(), time.process_time()
    for name in names:
        unpacked({path.name: path.read_bytes() for path in (Path(folder) / name).iterdir()})
    print(f"from cache: {time.perf_counter() - start:.2f} s, {time.process_time() - busy:.2f} s of work")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metadata", type=Path, default=METADATA)
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument(
        "--tasks", type=int, default=None, help="data sets under test; the others are always learnt from"
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="tau,regret,poison,speed")
    parser.add_argument("--contenders", default="", help="names of searches, separated by ';'; all if empty")
    parser.add_argument("--cache", type=Path, default=None, help="where what is learnt is kept for the next time")
    parser.add_argument("--metafeatures", choices=("all", "quick"), default="all")
    options = parser.parse_args()
    wanted, names = options.only.split(","), options.algorithms.split(",")
    contending = {name.strip() for name in options.contenders.split(";") if name.strip()}
    with tempfile.TemporaryDirectory() as folder, open_tables(folder, options.metadata, names) as kb:
        if "speed" in wanted:
            speed(kb, names, folder)
        for name in names:
            whole = run_history(kb, f"sklearn_{name}", metric="accuracy", most_per_dataset=None)
            if options.metafeatures == "quick":
                quick = [column for column in whole.metafeatures.columns if column in WITHIN_A_SECOND]
                whole = dataclasses.replace(whole, metafeatures=whole.metafeatures[quick])
            n_described = len(whole.metafeatures.columns)
            print(f"{name}: {whole.n_datasets} data sets, {len(whole.scores)} runs, {n_described} metafeatures")
            if "tau" in wanted:
                tau(
                    whole,
                    options.tasks,
                    2,
                    RANKED if options.metafeatures == "all" else ("default",),
                    cache=options.cache,
                )
            if "regret" in wanted:
                regret(whole, options.tasks, options.seeds, wanted=contending, cache=options.cache)
            if "poison" in wanted:
                poisoned(whole, min(options.tasks or 20, 20), options.seeds, cache=options.cache)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} megabytes")


if __name__ == "__main__":
    main()
