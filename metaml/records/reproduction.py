"""A stored run made again: the same data, folds, configuration and seed, and whether the same comes out."""

import math
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metaml.algorithms import ALGORITHMS
from metaml.data import TASKS, ColumnOptions, Dataset, read_dataset
from metaml.errors import BadDataset, BadRequest
from metaml.evaluation import Evaluator, FoldPlan, Job, Limits, LocalExecutor, Outcome, make_plan
from metaml.evaluation.environment import library_versions
from metaml.records.conversion import kept_plan, stopped_early
from metaml.sources import builtin
from metaml.splits import splitter_of
from metaml_kb.lookup import StoredRun

TOLERANCE = 1e-9
"""Scores that differ by less, absolutely or relatively, are the same."""
SCORED = ("ok", "partial")


@dataclass(frozen=True)
class Difference:
    """A score that differs from the stored one. `fold` is None for a mean, `again` is None if there is no new score."""

    metric: str
    fold: int | None
    stored: float
    again: float | None


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What happened when a stored run was evaluated again.

    - `stored`: the run as the knowledge base has it. `outcome`: what it gave now.
    - `n_compared`, `differences`: how many scores were compared, and those that differ.
    - `versions`: library versions then and now, where they differ; None for a library that is not there.

    >>> from types import SimpleNamespace
    >>> stored = SimpleNamespace(run=SimpleNamespace(status="ok"))
    >>> Reproduction(stored, SimpleNamespace(status="ok"), 5, (), {}).is_same
    True
    """

    stored: StoredRun
    outcome: Outcome
    n_compared: int
    differences: tuple[Difference, ...]
    versions: Mapping[str, tuple[str | None, str | None]]

    @property
    def is_same(self) -> bool:
        """Return whether the run ended as it did before, with the same scores."""
        return self.outcome.status == self.stored.run.status and not self.differences


def reproduce(stored: StoredRun, dataset: Dataset, evaluator: Evaluator | None = None) -> Reproduction:
    """Evaluate a stored run again on its data set, by default in a process of its own, and return the comparison.

    A partial run is evaluated on the folds that it has scores for. A run that was stopped gets the limits it had.
    """
    job = job_of(stored, dataset)
    outcome = _isolated(job, dataset) if evaluator is None else evaluator(job)
    n_compared, differences = compare_scores(stored.run.scores, outcome)
    then = {} if stored.environment is None else stored.environment.versions
    return Reproduction(stored, outcome, n_compared, differences, changed_versions(then) if then else {})


def _isolated(job: Job, dataset: Dataset) -> Outcome:
    # Loading every learner beforehand pays off for many jobs, not for one.
    with LocalExecutor(1, [dataset], preload=()) as executor:
        executor.submit(job)
        answer = executor.next()
    return Outcome("crashed", 0.0, error="the worker never answered") if answer is None else answer[1]


def job_of(stored: StoredRun, dataset: Dataset) -> Job:
    """Return the job that a stored run was the answer to."""
    run = stored.run
    if run.algorithm not in ALGORITHMS:
        raise BadRequest(
            f"Run {stored.key[:8]} is of {run.algorithm}, which this metaml does not have. "
            f"Choose a run of one of: {', '.join(ALGORITHMS)}."
        )
    if stopped_early(run):
        raise BadRequest(
            f"Run {stored.key[:8]} stopped when its time was up, so what came out depends on the speed of the machine. "
            "Choose a run with the status ok."
        )
    n_folds = max((len(folds) for folds in run.scores.values() if isinstance(folds, Sequence)), default=0)
    return Job(
        dataset.fingerprint,
        run.algorithm,
        dict(run.config),
        plan_of(stored, dataset),
        run.seed,
        limits_of(stored),
        folds=tuple(range(n_folds)) if run.status == "partial" else None,
    )


def dataset_of(
    stored: StoredRun, path: Path | None = None, target: str | None = None, ignore: Collection[str] = ()
) -> Dataset:
    """Return the data set of a stored run, from a file or from those that come with scikit-learn."""
    known = stored.dataset
    if known.fingerprint.startswith("name:"):
        raise BadRequest(
            f"Run {stored.key[:8]} is on {known.name}, of which only the name is known. "
            "Choose a run that metaml made itself."
        )
    if path is None:
        return _bundled(stored)
    task = known.task if known.task in TASKS else None
    options = ColumnOptions.from_json(known.details.get("roles"))
    dataset = read_dataset(path, target=target or known.target, task=task, ignore=ignore, options=options)
    if dataset.fingerprint != known.fingerprint:
        raise BadDataset(
            f"{path.name} is not the data that run {stored.key[:8]} was made on: {_shape(dataset)}, while {known.name} "
            f"had {_recorded_shape(stored)}. Give that file, with its rows in the same order."
        )
    return dataset


def _bundled(stored: StoredRun) -> Dataset:
    known = stored.dataset
    if known.name in builtin.names():
        dataset = builtin.load(known.name)
        if dataset.fingerprint == known.fingerprint:
            return dataset
    raise BadRequest(
        f"The rows of {known.name}, which run {stored.key[:8]} was made on, are not in the knowledge base. "
        "Give its file with --data."
    )


def _shape(dataset: Dataset) -> str:
    return (
        f"it has {len(dataset.y)} rows, {dataset.X.shape[1]} features, target {dataset.target!r} "
        f"and fingerprint {dataset.fingerprint[:8]}"
    )


def _recorded_shape(stored: StoredRun) -> str:
    known = stored.dataset
    return f"{known.n_rows} rows, {known.n_columns} features, target {known.target!r} and {known.fingerprint[:8]}"


def plan_of(stored: StoredRun, dataset: Dataset) -> FoldPlan:
    """Return the fold plan of a stored run: as it was kept, else made again from its seed."""
    kept = stored.fold_plan
    plan = kept_plan(kept, len(dataset.y))
    splitter = splitter_of(kept.strategy) if kept.assignment is None else None
    if splitter is not None and kept.n_folds is not None and kept.seed is not None:
        plan = make_plan(dataset, kept.n_folds, kept.seed, kept.max_rows, splitter=splitter)
    if plan is None or plan.hash != kept.key:
        raise BadRequest(
            f"The folds of run {stored.key[:8]} are not known, so it cannot be made again. "
            "Choose a run that metaml made itself."
        )
    return plan


def limits_of(stored: StoredRun) -> Limits:
    """Return the limits that a run without scores had, as far as they are known; one with scores needs none.

    A session may have given its last evaluation less than its settings say: what the run used up is the limit then.
    """
    run = stored.run
    if run.status in SCORED:
        return Limits(math.inf)
    settings = {} if stored.session is None else stored.session.settings
    seconds = float(settings.get("limit_seconds") or math.inf)
    megabytes = settings.get("limit_megabytes")
    if run.status == "timeout":
        seconds = min(seconds, (run.fit_seconds or 0.0) + (run.predict_seconds or 0.0) or math.inf)
    if run.status == "memory":
        megabytes = megabytes or run.peak_megabytes
    return Limits(seconds, None if megabytes is None else float(megabytes))


def compare_scores(
    stored: Mapping[str, float | Sequence[float]], outcome: Outcome
) -> tuple[int, tuple[Difference, ...]]:
    """Return how many stored scores were compared, and those that differ."""
    n_compared, found = 0, []
    for name, values in stored.items():
        pairs: list[tuple[int | None, float, float | None]]
        if isinstance(values, Sequence):
            again = dict(enumerate(outcome.scores.get(name, ())))
            pairs = [(fold, value, again.get(fold)) for fold, value in enumerate(values)]
        else:
            pairs = [(None, values, outcome.score(name) if name in outcome.scores else None)]
        n_compared += len(pairs)
        found += [Difference(name, fold, old, new) for fold, old, new in pairs if not _is_same(old, new)]
    return n_compared, tuple(found)


def _is_same(old: float, new: float | None) -> bool:
    if new is None or math.isnan(old) or math.isnan(new):
        return new is not None and math.isnan(old) and math.isnan(new)
    return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def changed_versions(then: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """Return the versions then and now of Python and the libraries, where they differ.

    >>> changed_versions({"python": "2.7.1"})["python"][0]
    '2.7.1'
    """
    now = {"python": platform.python_version(), **library_versions()}
    names = [*then, *(name for name in now if name not in then)]
    return {name: (then.get(name), now.get(name)) for name in names if then.get(name) != now.get(name)}
