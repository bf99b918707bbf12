"""How much of a session's time is kept for its end: repeats, second layer, refits, ensemble, files and report."""

from collections.abc import Container, Sequence
from typing import Protocol

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.evaluation import FoldPlan, metric
from metaml.search.settings import TuneSettings
from metaml.tuning.bagging import bagging_seconds, can_be_repeated
from metaml.tuning.second_layer import can_have_layers, second_layer_seconds
from metaml.tuning.trials import FoldModels, Trial, ranked

CLOSING_SECONDS, CLOSING_SHARE, CLOSING_MOST = 0.8, 0.03, 30.0
"""Time for the ensemble, the files and the report: seconds, plus a share of the budget. Up to 30 s of budget the share
is work, which takes longer on a busy machine; beyond that it is a margin, which does not grow."""
REFIT_MARGIN = 1.5
MOST_REFIT_SHARE = 0.3
N_RESERVED = 4
"""Time is kept for refitting this many of the best trials; a larger ensemble takes what is left."""
N_SEEDS = 2
"""How often a member is fitted to all rows, each time with another seed, if time counts and is left."""
LEAST_AVERAGED = 100
"""With fewer rows a fold model misses too many of them; then members are refitted to all rows."""


class Searched(Protocol):
    """What is searched by and on: a session, or what it found."""

    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def plan(self) -> FoldPlan: ...  # noqa: D102


def refit_seconds_of(trial: Trial, plan: FoldPlan) -> float:
    """Return how long fitting a trial's configuration to all rows should take."""
    per_fold = trial.outcome.fit_seconds / max(len(trial.outcome.folds), 1)
    return REFIT_MARGIN * per_fold * len(plan.assignment) / max(plan.n_trained, 1.0)


def n_seeds_of(settings: TuneSettings) -> int:
    """Return how many times each member of the final model is fitted to all rows."""
    return 1 if settings.clock is None else N_SEEDS


def averages_folds(settings: TuneSettings, searched: Searched, n_members: int) -> bool:
    """Return whether the average of the fold models becomes the final model.

    Averaging makes probabilities less extreme than the out-of-fold predictions that the ensemble was chosen by. If the
    metric judges probabilities, the members are therefore fitted again to all rows. Otherwise the average is as good as
    models of all rows, and better where one class is rare. The folds must test every row of not too few.
    """
    if settings.refits:
        return False
    n_rows = len(searched.plan.assignment)
    plan = searched.plan
    # A model of the past alone, or of a part of the rows, does not stand for all of them.
    is_whole = plan.n_tested == n_rows >= LEAST_AVERAGED and plan.training is None
    return is_whole and (n_members == 1 or not metric(searched.metric).is_about_probabilities)


def closing_seconds(settings: TuneSettings, budget: Budget) -> float:
    """Return what the ensemble, the files and the report may take: more where others keep the machine busy."""
    if settings.seconds is None:
        return 0.0
    short = min(settings.seconds, CLOSING_MOST)
    work, margin = CLOSING_SECONDS + CLOSING_SHARE * short, CLOSING_SHARE * (settings.seconds - short)
    return work * budget.drag.factor + margin


def instead_of_refits(plan: FoldPlan, settings: TuneSettings, models: FoldModels) -> Container[str]:
    """Return the runs whose fold models can replace a refit: none if they saw only a part of the rows."""
    return () if settings.refits or plan.n_used < len(plan.assignment) else models


def refit_reserve(
    settings: TuneSettings, trials: Sequence[Trial], searched: Searched, models: FoldModels, budget: Budget
) -> float:
    """Return the seconds to keep for closing, and for the refits of the best trials so far that need one.

    If that of the best trial would take too much of the budget and there are fold models to use instead, none is kept.
    """
    if settings.seconds is None:
        return 0.0
    best = ranked(trials)[:N_RESERVED]
    if averages_folds(settings, searched, len(best)):
        best = [trial for trial in best if trial.run.identity not in models]
    most = MOST_REFIT_SHARE * settings.seconds
    can_do_without = best and best[0].run.identity in instead_of_refits(searched.plan, settings, models)
    if can_do_without and refit_seconds_of(best[0], searched.plan) > most:
        best = []
    costs = [n_seeds_of(settings) * refit_seconds_of(trial, searched.plan) for trial in best]
    refit = max(max(costs), sum(costs) / settings.n_workers) if costs else 0.0
    return closing_seconds(settings, budget) + min(refit, most)


def reserve_for(
    dataset: Dataset,
    settings: TuneSettings,
    trials: Sequence[Trial],
    searched: Searched,
    models: FoldModels,
    budget: Budget,
) -> float:
    """Return the seconds that a search leaves for its end: closing, refits, repeats and the second layer, if any."""
    layer = bagging = 0.0
    if can_be_repeated(searched.plan, settings):
        bagging = bagging_seconds(trials, len(dataset.y), settings)
    if can_have_layers(dataset, searched.plan, settings):
        layer = second_layer_seconds(trials, 0 if dataset.labels is None else len(dataset.labels), settings)
    return bagging + layer + refit_reserve(settings, trials, searched, models, budget)
