"""Which columns matter to a model: how much its score on unseen rows falls when a column is shuffled."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.selection import score
from metaml.evaluation import Job, Limits
from metaml.report import FeatureImportance, feature_importance
from metaml.search.settings import TuneSettings
from metaml.splits import PLAN_SEED
from metaml.tuning.closing import closing_seconds
from metaml.tuning.explained.fold_ensemble import FoldEnsemble, fold_ensemble
from metaml.tuning.finished import Finished
from metaml.tuning.job_batch import Ending
from metaml.tuning.trials import Found, Trial

Array = npt.NDArray[np.float64]
UNTIMED_SECONDS, TIME_SHARE = 10.0, 0.6
"""Seconds where time does not count, else the share of what is left; curves along the columns get some, too."""
LEAST_SECONDS = 0.3
ALL_SHARE, PROBE_ROWS, FEWEST_ROWS, MOST_ROWS = 0.7, 100, 50, 1000
"""The share of the time for asking the whole model, the rows that show how long it takes, and the rows of a fold."""
N_REPEATS = 3
"""How often a column is shuffled if there is one fold only: with several, they show the spread."""


def column_importances(finished: Finished, ending: Ending) -> tuple[list[FeatureImportance], str]:
    """Return the columns by importance to the whole model, or none and a sentence that says why.

    Without the models of each fold, or the time to ask them all, it is that to the heaviest member of layer 1, judged
    on one fold; if what was fitted without that fold was not kept, it is fitted anew. What is left of the time is
    shared with the files that are still to be written.
    """
    dataset, found, settings, models = ending.dataset, ending.found, ending.settings, ending.models
    if not finished.chosen:
        return [], "The importance of the columns was not measured: there is only a fallback."
    seconds = UNTIMED_SECONDS
    if settings.seconds is not None:
        seconds = TIME_SHARE * (ending.budget.left - 0.5 * closing_seconds(settings, ending.budget))
    trial = max(finished.chosen, key=lambda member: (-member.trial.layer, member.weight, member.trial.score)).trial
    too_late = "The importance of the columns was not measured: there was no time left. Give more."
    kept = models.get(trial.run.identity)
    n_folds = max(len(trial.outcome.folds), 1)
    if seconds < max(LEAST_SECONDS, 0.0 if kept else 2 * trial.outcome.fit_seconds / n_folds):
        return [], too_late
    ending = replace(ending, budget=Budget(seconds))
    of_all = _of_all(dataset, found, fold_ensemble(found, finished, models), settings, Budget(ALL_SHARE * seconds))
    if of_all:
        return of_all, ""
    # Of folds in time, the last one has learnt from most rows.
    fold = found.plan.n_folds - 1 if found.plan.is_forward else 0
    estimator = kept[fold] if kept else None
    if not kept:
        estimator, is_late = _fit_to_fold(trial, fold, ending)
        if is_late:
            return [], too_late
    if estimator is None:
        return (
            [],
            "The importance of the columns was not measured: the model could not be fitted to a part of the rows.",
        )
    _, test = found.plan.split(fold)

    def predict(rows: pd.DataFrame) -> Array:
        if dataset.labels is None:
            return np.asarray(estimator.predict(rows), dtype=np.float64)
        probabilities = np.zeros((len(rows), len(dataset.labels)))
        probabilities[:, np.asarray(estimator.classes_, dtype=np.int64)] = estimator.predict_proba(rows)
        # As the model decides: a rare class may never be the most probable one.
        return probabilities if finished.model.multipliers is None else probabilities * finished.model.multipliers

    ranked = feature_importance(
        [(predict, test)],
        dataset.X,
        dataset.y,
        partial(_score, metric=found.metric, y=dataset.y),
        rng=np.random.default_rng(settings.seed),
        budget=ending.budget,
        row_weights=dataset.row_weights,
    )
    return ranked, "" if ranked else too_late


def _score(truth: Array, predicted: Array, weight: Array | None = None, *, metric: str, y: Array) -> float:
    return score(predicted, truth, metric, y=y, row_weights=weight)


def _of_all(
    dataset: Dataset, found: Found, ensemble: FoldEnsemble | None, settings: TuneSettings, budget: Budget
) -> list[FeatureImportance]:
    """Return the columns by importance to the whole model, over all folds; none without fold models or time."""
    if ensemble is None or not len(dataset.X.columns):
        return []
    tests, multipliers = ensemble.tests(), ensemble.model.multipliers

    def predict_by(fold: int, rows: pd.DataFrame) -> Array:
        outputs = ensemble.outputs(rows, fold)
        return outputs if multipliers is None else outputs * np.asarray(multipliers)

    folds = ensemble.folds
    n_repeats = 1 if len(folds) > 1 else N_REPEATS
    begun = budget.left
    probe = tests[folds[0]][:PROBE_ROWS]
    predict_by(folds[0], dataset.X.iloc[probe])
    per_row = (begun - budget.left) / max(len(probe), 1)
    # Every column is shuffled once in each fold; beyond a few rows, time grows with their number.
    affordable = (
        budget.left / (1.5 * per_row * n_repeats * len(folds) * (len(dataset.X.columns) + 1)) if per_row else MOST_ROWS
    )
    if affordable < FEWEST_ROWS:
        return []
    found_all = feature_importance(
        [(partial(predict_by, fold), test) for fold, test in tests.items()],
        dataset.X,
        dataset.y,
        partial(_score, metric=found.metric, y=dataset.y),
        rng=np.random.default_rng(settings.seed),
        budget=budget,
        row_weights=dataset.row_weights,
        most_rows=int(min(affordable, MOST_ROWS)),
        n_repeats=n_repeats,
    )
    return [replace(item, is_of_all=True) for item in found_all]


def _fit_to_fold(trial: Trial, fold: int, ending: Ending) -> tuple[Any, bool]:
    """Return a trial's configuration fitted without the rows of one fold (None if it fails), and whether it is late."""
    executor, budget = ending.executor, ending.budget
    limits = Limits(budget.left, ending.settings.limits.megabytes)
    config, name = dict(trial.run.config), trial.run.algorithm
    job = Job(ending.dataset.fingerprint, name, config, ending.found.plan, PLAN_SEED, limits, folds=(fold,), refit=True)
    ticket = executor.submit(job)
    answer = executor.next(timeout=budget.left)
    if answer is None:
        executor.cancel(ticket)
        return None, True
    return answer[1].estimator, False
