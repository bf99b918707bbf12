"""From what a session found to the final model: an ensemble, fitted in time, or a labelled fallback.

The models that cross-validation fitted to each fold are averaged, where that is as good as fitting anew to all rows: it
takes no time, and a model is there as soon as one evaluation is complete (`benchmarks/refit.py`).
"""

import math
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.boosting import for_all_rows
from metaml.arrays import Floats
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.calibration import calibrate
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.ensemble.thresholds import tune_multipliers
from metaml.evaluation import FoldPlan, Job, Limits
from metaml.model import Member, Model
from metaml.search.settings import TuneSettings
from metaml.splits import PLAN_SEED
from metaml.tuning.candidates import candidates_of
from metaml.tuning.closing import (
    averages_folds,
    closing_seconds,
    instead_of_refits,
    n_seeds_of,
    refit_seconds_of,
)
from metaml.tuning.fallback import from_partial, small_tree, why_nothing
from metaml.tuning.finished import Chosen, Finished, Fitted, shipped_of
from metaml.tuning.job_batch import Ending, run_batch
from metaml.tuning.job_limits import FIT_SHARE
from metaml.tuning.second_layer import SecondLayer
from metaml.tuning.trials import Found, Trial

MANY_ROWS = 5000
N_QUICK = 10
GRACE_SECONDS, GRACE_SHARE = 1.5, 0.04
"""How far the deadline may be exceeded to fit one of the ten best: the report must still be on time."""


def finish(
    ending: Ending, *, second: SecondLayer | None = None, single: bool = False, is_stopped: bool = False
) -> Finished:
    """Return the model that the time left allows: the ensemble, as much of it as can be fitted, or a fallback.

    `second` is the second layer, if one was built. `is_stopped` tells that the search was ended before its budget was.
    """
    dataset, found, settings = ending.dataset, ending.found, ending.settings
    # A resumed session may have lost the predictions of earlier trials: the best of them can only stand alone.
    kept = found.offered or found.ranked[:1]
    if not kept:
        why = why_nothing(found, settings, is_stopped=is_stopped)
        partial = found.partial_model
        return small_tree(dataset, found, why) if partial is None else from_partial(dataset, found, partial, why)
    begun = ending.budget.used
    second = second or SecondLayer()
    fitted: list[Fitted] = []
    if second.trials and not single:
        fitted = _layered(ending, kept, second)
    if not fitted:
        fitted = _one_layer(ending, kept, single=single)
    seconds = ending.budget.used - begun
    if not fitted:
        ends = "in time; give more time"
        if settings.seconds is None:
            ends = "within its limits; raise --limit-seconds or --limit-memory"
        why = f"the best configuration could not be fitted to all rows {ends}"
        return replace(small_tree(dataset, found, why), refit_seconds=seconds)
    done = assembled(dataset, found, fitted, settings)
    why_one_layer = second.why_not
    if second.trials and done.model.n_layers == 1:
        why_one_layer = "its members added nothing"
    return replace(done, refit_seconds=seconds, why_one_layer=why_one_layer)


def finish_with(ending: Ending, chosen: Sequence[Chosen], *, is_averaged: bool) -> Finished | None:
    """Return the model of these members, None if none could be fitted.

    Unless fold models are averaged, each has one estimator: fitted to all rows or, if there is no time, to a fold.
    """
    if is_averaged:
        fitted = _fitted(ending, chosen, is_averaged=True)
    else:
        fitted = refitted(ending, chosen)
        done = {id(member.trial) for member, _ in fitted}
        others = [
            (member, ending.models.get(member.trial.run.identity)[:1])
            for member in chosen
            if id(member.trial) not in done
        ]
        fitted += [(member, estimators) for member, estimators in others if estimators]
    return assembled(ending.dataset, ending.found, fitted, ending.settings) if fitted else None


def _layered(ending: Ending, kept: Sequence[Trial], second: SecondLayer) -> list[Fitted]:
    """Return the fitted members of an ensemble of both layers; none if the second adds nothing, or it is too late.

    Fold models are averaged: the second layer learnt from what such models predict.
    """
    chosen = choose_among(ending.dataset, ending.found, [*kept, *second.trials])
    if not any(member.trial.layer == 2 for member in chosen):
        return []
    weights = {member.trial.run.identity: member.weight for member in chosen}
    feeding = {trial.run.identity for trial in second.bases}
    wanted = [Chosen(trial, weights.get(trial.run.identity, 0.0), True) for trial in second.bases]
    wanted += [member for member in chosen if member.trial.run.identity not in feeding]
    fitted = _fitted(ending, wanted, is_averaged=not ending.settings.refits)
    return fitted if len(fitted) == len(wanted) else []


def _one_layer(ending: Ending, kept: Sequence[Trial], *, single: bool) -> list[Fitted]:
    """Return the fitted members of an ensemble, as many as the time allows; if none can be, one of the quickest."""
    dataset, found, models = ending.dataset, ending.found, ending.models
    settings, budget = ending.settings, ending.budget
    best = kept[0] if found.repeated else found.ranked[0]
    chosen = [Chosen(kept[0], 1.0)] if single or len(kept) == 1 else choose_among(dataset, found, kept)
    if best.outcome.predictions is None and best.score > score_of(dataset, found, chosen):
        chosen = [Chosen(best, 1.0)]
    is_averaged = averages_folds(settings, found, len(chosen))
    fitted = _fitted(ending, chosen, is_averaged=is_averaged)
    if len(fitted) == len(chosen):
        return fitted
    # A resumed session has lost the fold models of its first trials, but not those of its own.
    ready = next((trial for trial in kept if trial.run.identity in models), None)
    if ready is not None and ready.score > max((member.trial.score for member, _ in fitted), default=-math.inf):
        own = models.get(ready.run.identity)
        alone_is_better = not fitted or ready.score > score_of(dataset, found, [member for member, _ in fitted])
        if own and alone_is_better:
            return [(Chosen(ready, 1.0), own)]
    if not fitted:
        # Fold models that are too large to be averaged: that of one fold is ready.
        large = ((trial, models.get_one(trial.run.identity)) for trial in kept)
        fitted = [(Chosen(trial, 1.0), own) for trial, own in large if own][:1]
    if not fitted and settings.seconds is not None:
        # A model of the search is better than a fallback, so it gets a few more seconds. Fit the quickest first.
        quickest = min(kept[:N_QUICK], key=lambda trial: refit_seconds_of(trial, found.plan))
        grace = Budget(max(budget.left, 0.0) + GRACE_SECONDS + GRACE_SHARE * settings.seconds, drag=budget.drag)
        fitted = refitted(replace(ending, budget=grace), [Chosen(quickest, 1.0)])
    if not fitted or len(fitted) in (1, len(chosen)):
        return fitted
    # What is left of an ensemble may be worse than its best member alone.
    alone = max(fitted, key=lambda item: item[0].trial.score)
    is_better = score_of(dataset, found, [member for member, _ in fitted]) >= alone[0].trial.score
    return fitted if is_better else [alone]


def assembled(dataset: Dataset, found: Found, fitted: Sequence[Fitted], settings: TuneSettings) -> Finished:
    """Return the model that is made of fitted members, with its thresholds and its score."""
    total = sum(member.weight for member, _ in fitted)
    fitted = [(member._replace(weight=member.weight / total), estimators) for member, estimators in fitted]
    members = [
        Member(
            trial.run.algorithm, dict(trial.run.config), weight, estimators, trial.score, layer=trial.layer, feeds=feeds
        )
        for (trial, weight, feeds, _), estimators in fitted
    ]
    chosen = tuple(member for member, _ in fitted)
    shipped, why = shipped_of(found, fitted, settings)
    first = chosen[0].trial
    if first.outcome.predictions is None:
        model = Model.of(dataset, members, metric=found.metric, score=first.score, facts=_facts(found))
        return Finished(model, "single", chosen, first.score, None, 0.0, shipped=shipped, why_shipped=why)
    plain = predictions = _together(chosen)
    multipliers = calibrated = None
    if dataset.labels is not None and settings.calibrates:
        folds = found.judging_plan.assignment.astype(np.float64)
        calibrated = calibrate(plain, dataset.y, folds, found.metric, dataset.row_weights)
        predictions = plain if calibrated is None else calibrated.predictions
    if dataset.labels is not None and depends_on_thresholds(found.metric):
        kept = None if found.plan.is_shuffled else found.judging_plan.assignment
        multipliers = tune_multipliers(
            predictions, dataset.y, found.metric, seed=settings.seed, folds=kept, row_weights=dataset.row_weights
        )
    value = score(predictions, dataset.y, found.metric, **judged(dataset, found))
    model = Model.of(
        dataset,
        members,
        metric=found.metric,
        score=value,
        multipliers=multipliers,
        calibration=None if calibrated is None else calibrated.calibration,
        facts=_facts(found),
    )
    kind = "single" if len(members) == 1 else "ensemble"
    return Finished(
        model,
        kind,
        chosen,
        value,
        predictions,
        0.0,
        calibrated=calibrated,
        uncalibrated=plain,
        shipped=shipped,
        why_shipped=why,
    )


def _facts(found: Found) -> dict[str, object]:
    return {"session": found.session, "n_evaluations": len(found.trials)}


def judged(dataset: Dataset, found: Found) -> dict[str, Any]:
    """Return how out-of-fold predictions are judged: fold by fold, whether folds follow in time, and row weights."""
    plan = found.judging_plan
    folds = plan.assignment.astype(np.float64)
    return {"folds": folds, "is_forward": plan.is_forward, "row_weights": dataset.row_weights}


def _together(chosen: Sequence[Chosen]) -> Floats:
    """Return the out-of-fold predictions of an ensemble."""
    weighted = [member for member in chosen if member.weight]
    predictions = [np.asarray(member.trial.outcome.predictions, dtype=np.float64) for member in weighted]
    return combine(predictions, np.array([member.weight for member in weighted]))


def choose_among(dataset: Dataset, found: Found, trials: Sequence[Trial]) -> list[Chosen]:
    """Return the ensemble that selection makes of some trials, heaviest first; the best is always among those tried."""
    offered = candidates_of(trials, found.plan.n_tested)
    predictions = [np.asarray(trial.outcome.predictions) for trial in offered]
    weights = select(predictions, dataset.y, found.metric, **judged(dataset, found))
    members = [Chosen(trial, float(weight)) for trial, weight in zip(offered, weights, strict=True) if weight]
    return sorted(members, key=lambda member: -member.weight)


def score_of(dataset: Dataset, found: Found, chosen: Sequence[Chosen]) -> float:
    """Return the score of an ensemble on the rows that its members predicted; that of one alone is known."""
    if len(chosen) == 1:
        return chosen[0].trial.score
    return score(_together(chosen), dataset.y, found.metric, **judged(dataset, found))


def _fitted(ending: Ending, chosen: Sequence[Chosen], *, is_averaged: bool) -> list[Fitted]:
    """Return the members that are fitted or could be in the time left, by layer and weight."""
    models = ending.models
    ready = [member for member in chosen if is_averaged and member.trial.run.identity in models]
    others = [member for member in chosen if member not in ready]
    instead = instead_of_refits(ending.found.plan, ending.settings, models)
    fitted = refitted(ending, others, instead=instead) if others else []
    done = {id(member.trial) for member, _ in fitted}
    ready += [member for member in others if id(member.trial) not in done]
    fitted += [(member, estimators) for member in ready if (estimators := models.get(member.trial.run.identity))]
    return sorted(fitted, key=lambda item: (item[0].trial.layer, -item[0].weight))


def refitted(ending: Ending, chosen: Sequence[Chosen], *, instead: Container[str] = ()) -> list[Fitted]:
    """Return the members that could be fitted to all rows in the time left, and then again with other seeds.

    `instead` has the runs whose fold models can be used instead.
    """
    found, settings, budget = ending.found, ending.settings, ending.budget
    closing = 0.5 * closing_seconds(settings, budget)
    affordable = _affordable(chosen, found.plan, max(budget.left - closing, 0.0), settings.n_workers, instead)
    seeds = range(PLAN_SEED, PLAN_SEED + n_seeds_of(settings))
    fits = [(member, seed) for seed in seeds for member in affordable]

    # With many rows those that early stopping holds out add little, and the mean of several fits makes up for them.
    has_few_rows = len(found.plan.assignment) < MANY_ROWS

    def job_of(fit: tuple[Chosen, int], left: float) -> Job:
        member, seed = fit
        limits = Limits(left if math.isfinite(left) else settings.limits.seconds, settings.limits.megabytes)
        run = member.trial.run
        # A model to read stands alone: no other one evens out which rows it held out.
        uses_all = has_few_rows and (settings.clock is not None or ALGORITHMS[run.algorithm].is_readable)
        config = for_all_rows(dict(run.config)) if uses_all else dict(run.config)
        job = Job(run.dataset, run.algorithm, config, found.plan, seed, limits, refit=True)
        # What stopped early in its folds should be fitted for about as long again.
        own = refit_seconds_of(member.trial, found.plan) if member.trial.outcome.stopped_early else math.inf
        seconds = min(FIT_SHARE * left, own)
        return replace(job, fit_seconds=seconds if math.isfinite(seconds) else None)

    estimators: dict[int, list[Any]] = {id(member.trial): [] for member in affordable}
    for (member, _), outcome in run_batch(fits, job_of, ending.executor, left=lambda: budget.left - closing):
        if outcome.status == "ok":
            estimators[id(member.trial)].append(outcome.estimator)
    return [
        (member._replace(is_refit=True), tuple(fitted))
        for member in affordable
        if (fitted := estimators[id(member.trial)])
    ]


def _affordable(
    chosen: Sequence[Chosen], plan: FoldPlan, left: float, n_workers: int, models: Container[str]
) -> list[Chosen]:
    """Return the members whose refits fit into the seconds left: the best trial first, then the heaviest.

    If there are no fold models and even the best one may be too expensive, the cheapest goes first: any model is better
    than none.
    """
    first = max(chosen, key=lambda member: member.trial.score)
    order = [first, *(member for member in chosen if member is not first)]
    must_fit = not any(member.trial.run.identity in models for member in chosen)
    if must_fit and refit_seconds_of(first.trial, plan) > left:
        cheapest = min(chosen, key=lambda member: refit_seconds_of(member.trial, plan))
        order = [cheapest, *(member for member in order if member is not cheapest)]
    taken: list[Chosen] = []
    spent = 0.0
    for member in order:
        cost = refit_seconds_of(member.trial, plan)
        is_in_time = cost <= left and spent + cost <= n_workers * left
        if is_in_time or (must_fit and not taken):
            taken.append(member)
            spent += cost
    return taken
