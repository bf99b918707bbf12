"""What the final model learns about its own errors, from rows that it had not seen."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.arrays import Floats, Positions
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.data.roles import NO_ROLES
from metaml.ensemble.conformal import interval_losses, parts_of
from metaml.ensemble.layers import with_predictions
from metaml.errors import BadRequest
from metaml.evaluation import Executor, FoldPlan, Job, Limits
from metaml.model.sample import sample_of
from metaml.model.uncertainty import Uncertainty, scale_of
from metaml.search.settings import TuneSettings
from metaml.splits import PLAN_SEED, given_plan, make_plan
from metaml.system.threads import importing
from metaml.tuning.closing import closing_seconds
from metaml.tuning.finished import Finished
from metaml.tuning.job_batch import Ending, run_batch

MOST_ERRORS = 20_000
"""Errors that a model file keeps: more would not change an interval visibly."""
FEWEST_SCALED = 200
"""With fewer rows, how large an error will be cannot be learnt."""
SCALE_ALGORITHM = "lightgbm"
SCALE_SETTINGS = {"num_leaves": 8, "learning_rate": 0.05, "min_data_in_leaf": 40, "feature_fraction": 1.0}
SCALE_SECONDS, SCALE_SHARE = 5.0, 0.5
"""The most that learning the size of errors may take, and its share of what is left for the end."""
JUDGED_AT = 0.9
N_SCALES = 3
"""How often the size of errors is learnt, on other folds each time. The estimators of all folds are averaged for a new
row, so that its unit is steadier than one estimator's; the errors that are kept must be in units of the same kind."""
SMALLEST = 0.05
"""An error below this share of the median one counts as that: its logarithm would say too much."""


@dataclass(frozen=True, eq=False)
class _Scale:
    """Estimators that predict the logarithm of an error, and the unit that they give each row out of fold."""

    estimators: tuple[Any, ...]
    units: Floats


def with_uncertainty(finished: Finished, ending: Ending) -> Finished:
    """Return the final model with what is known about its errors, if rows were tested, and with some training rows."""
    dataset, found = ending.dataset, ending.found
    if ending.settings.keeps_sample:
        sample = sample_of(dataset, finished.predictions, np.random.default_rng(0))
        finished = replace(finished, model=replace(finished.model, sample=sample))
    if finished.predictions is None:
        return finished
    predicted = np.asarray(finished.predictions, dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1))
    truth, predicted, folds = dataset.y[rows], predicted[rows], found.judging_plan.assignment[rows]
    if not len(rows):
        return finished
    if dataset.labels is not None:
        errors, scale = 1 - predicted[np.arange(len(rows)), truth], None
    else:
        errors = np.abs(truth - predicted.ravel())
        scale = _scale(rows, predicted.ravel(), errors, ending)
    units = np.ones(len(rows)) if scale is None else scale.units
    kept = _sample(len(rows))
    # Only the models of the folds that tested the rows can say what they would have been without each fold.
    has_folds = not found.repeated and finished.model.n_fold_models == found.plan.n_folds
    known = Uncertainty(
        np.maximum((errors / units)[kept], 0.0),
        np.where(has_folds, folds[kept], 0).astype(np.int16),
        () if scale is None else scale.estimators,
    )
    model = replace(finished.model, uncertainty=known)
    return replace(finished, model=model, units=units)


def _sample(n_rows: int) -> Positions:
    if n_rows <= MOST_ERRORS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MOST_ERRORS, replace=False))


def _scale(rows: Positions, predicted: Floats, errors: Floats, ending: Ending) -> _Scale | None:
    """Return how large errors are expected to be, if that makes intervals better by a standard error; else None."""
    dataset, settings, budget = ending.dataset, ending.settings, ending.budget
    typical = float(np.median(errors))
    seconds = settings.limits.seconds
    if settings.seconds is not None:
        seconds = min(SCALE_SECONDS, SCALE_SHARE * (budget.left - 0.5 * closing_seconds(settings, budget)))
    if len(rows) < FEWEST_SCALED or not typical > 0 or seconds <= 0 or SCALE_ALGORITHM not in ALGORITHMS:
        return None
    logs = np.log(np.maximum(errors, SMALLEST * typical) / typical)
    plans = scale_plans(dataset, rows, ending.found.judging_plan)
    outcomes = _learn(dataset, rows, predicted, logs, plans, ending.executor, settings, seconds)
    if not outcomes:
        return None
    units = scale_of(np.mean([expected for _, expected in outcomes], axis=0))
    tested = np.isfinite(units)
    plain = interval_losses(errors[tested], np.quantile(errors[tested], JUDGED_AT) * np.ones(tested.sum()), JUDGED_AT)
    share = np.quantile(errors[tested] / units[tested], JUDGED_AT)
    gains = plain - interval_losses(errors[tested], share * units[tested], JUDGED_AT)
    is_better = gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains))
    estimators = tuple(estimator for learnt, _ in outcomes for estimator in learnt)
    return _Scale(estimators, units) if is_better and tested.all() else None


def scale_plans(dataset: Dataset, rows: Positions, judging: FoldPlan) -> list[FoldPlan]:
    """Return the folds on which the size of errors is learnt: those that tested the rows, then others of their kind.

    Groups stay together. Where folds follow one another in time, there are no others.
    """
    parts = parts_of(judging.assignment[rows]).astype(np.int64)
    plans, n_parts = [given_plan(parts)], int(parts.max()) + 1
    for repeat in range(1, 1 if judging.is_forward else N_SCALES):
        if dataset.roles.groups is not None:
            other = parts_of(make_plan(dataset, n_parts, PLAN_SEED + repeat).assignment[rows])
        else:
            other = np.random.default_rng(repeat).permutation(parts)
        plans.append(given_plan(other.astype(np.int64)))
    return plans


def _learn(
    dataset: Dataset,
    rows: Positions,
    predicted: Floats,
    logs: Floats,
    plans: Sequence[FoldPlan],
    executor: Executor,
    settings: TuneSettings,
    seconds: float,
) -> list[tuple[tuple[Any, ...], Floats]]:
    """Return, for each plan in time, an estimator of the logarithm of an error per fold, and what they predict."""
    X = with_predictions(dataset.X.iloc[rows].reset_index(drop=True), [predicted])
    fingerprint = blake2b(dataset.fingerprint.encode() + predicted.tobytes(), digest_size=16).hexdigest()
    # Weights do not count here: an interval should cover a share of the rows, and each row is one.
    data = replace(dataset, X=X, y=logs, rows=dataset.rows[rows], fingerprint=fingerprint, roles=NO_ROLES)
    config = {**ALGORITHMS[SCALE_ALGORITHM].space("regression").default(), **SCALE_SETTINGS}
    try:
        executor.add(data)
    except BadRequest:
        # There may be no space for it. Then intervals are as wide for all rows.
        return []
    end = Budget(seconds)

    def job_of(plan: FoldPlan, left: float) -> Job:
        return Job(
            fingerprint,
            SCALE_ALGORITHM,
            config,
            plan,
            PLAN_SEED,
            Limits(left, settings.limits.megabytes),
            keep_predictions=True,
            keep_models=True,
            fit_seconds=None if settings.clock is None else 0.5 * left / plan.n_folds,
        )

    learnt: dict[str, tuple[tuple[Any, ...], Floats]] = {}
    for plan, outcome in run_batch(plans, job_of, executor, left=lambda: end.left):
        if outcome.status == "ok" and outcome.predictions is not None and len(outcome.models) == plan.n_folds:
            with importing:
                estimators = tuple(pickle.loads(model) for model in outcome.models)  # noqa: S301 - from our own workers
            learnt[plan.hash] = estimators, np.asarray(outcome.predictions, dtype=np.float64).ravel()
    return [learnt[plan.hash] for plan in plans if plan.hash in learnt]
