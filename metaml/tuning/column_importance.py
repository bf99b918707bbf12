"""Which columns matter to a model: how much its score on unseen rows falls when a column is shuffled."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.selection import score
from metaml.evaluation import Executor, Job, Limits
from metaml.report import FeatureImportance, feature_importance
from metaml.search.settings import TuneSettings
from metaml.splits import PLAN_SEED
from metaml.tuning.closing import closing_seconds
from metaml.tuning.finished import Finished
from metaml.tuning.trials import FoldModels, Found, Trial

Array = npt.NDArray[np.float64]
UNTIMED_SECONDS = 10.0
LEAST_SECONDS = 0.3


def column_importances(
    dataset: Dataset,
    found: Found,
    finished: Finished,
    executor: Executor,
    settings: TuneSettings,
    budget: Budget,
    models: FoldModels,
) -> tuple[list[FeatureImportance], str]:
    """Return the columns by importance to the heaviest member of layer 1, or none and a sentence that says why.

    The member is judged on one fold; if what was fitted without that fold was not kept, it is fitted anew. What is left
    of the time is shared with the files that are still to be written.
    """
    if not finished.chosen:
        return [], "The importance of the columns was not measured: there is only a fallback."
    seconds = UNTIMED_SECONDS
    if settings.seconds is not None:
        seconds = budget.left - 0.5 * closing_seconds(settings, budget)
    trial = max(finished.chosen, key=lambda member: (-member.trial.layer, member.weight, member.trial.score)).trial
    too_late = "The importance of the columns was not measured: there was no time left. Give more."
    kept = models.get(trial.run.identity)
    n_folds = max(len(trial.outcome.folds), 1)
    if seconds < max(LEAST_SECONDS, 0.0 if kept else 2 * trial.outcome.fit_seconds / n_folds):
        return [], too_late
    own = Budget(seconds)
    # Of folds in time, the last one has learnt from most rows.
    fold = found.plan.n_folds - 1 if found.plan.is_forward else 0
    estimator = kept[fold] if kept else None
    if not kept:
        estimator, is_late = _fit_to_fold(dataset, found, trial, fold, executor, settings, own)
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
        lambda truth, predicted: score(predicted, truth, found.metric, y=dataset.y),
        rng=np.random.default_rng(settings.seed),
        budget=own,
    )
    return ranked, "" if ranked else too_late


def _fit_to_fold(
    dataset: Dataset,
    found: Found,
    trial: Trial,
    fold: int,
    executor: Executor,
    settings: TuneSettings,
    budget: Budget,
) -> tuple[Any, bool]:
    """Return a trial's configuration fitted without the rows of one fold (None if it fails), and whether it is late."""
    limits = Limits(budget.left, settings.limits.megabytes)
    config, name = dict(trial.run.config), trial.run.algorithm
    job = Job(dataset.fingerprint, name, config, found.plan, PLAN_SEED, limits, folds=(fold,), refit=True)
    ticket = executor.submit(job)
    answer = executor.next(timeout=budget.left)
    if answer is None:
        executor.cancel(ticket)
        return None, True
    return answer[1].estimator, False
