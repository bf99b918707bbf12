"""From what a session found to the final model: an ensemble, fitted in time, or a labelled fallback.

The models that cross-validation fitted to each fold are averaged, where that is as good as fitting anew to all rows: it
takes no time, and a model is there as soon as one evaluation is complete (`benchmarks/refit.py`).
"""

import math
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from metaml.algorithms import ALGORITHMS
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.combination import combine
from metaml.ensemble.selection import score, select
from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.ensemble.thresholds import tune_multipliers
from metaml.evaluation import METRICS, Executor, FoldPlan, Job, Limits
from metaml.model import Member, Model, fit_member
from metaml.report.wording import STATUS_WORDS, listed
from metaml.search.settings import TuneSettings, longest_evaluation
from metaml.splits import PLAN_SEED
from metaml.system.threads import importing
from metaml.tuning.trials import FoldModels, Found, PartialModel, Trial, ranked

Array = npt.NDArray[np.float64]
CLOSING_SECONDS, CLOSING_SHARE, CLOSING_MOST = 0.8, 0.03, 30.0
"""Time for the ensemble, the files and the report: seconds, plus a share of the budget. Up to 30 s of budget the share
is work, which takes longer on a busy machine; beyond that it is a margin, which does not grow."""
REFIT_MARGIN = 1.5
MOST_REFIT_SHARE = 0.3
N_RESERVED = 4
"""Time is kept for refitting this many of the best trials; a larger ensemble takes what is left."""
N_QUICK = 10
GRACE_SECONDS, GRACE_SHARE = 1.5, 0.04
"""How far the deadline may be exceeded to fit one of the ten best: the report must still be on time."""
FALLBACK_CELLS = 500_000
FALLBACK = "decision_tree"
LEAST_AVERAGED = 100
"""With fewer rows a fold model misses too many of them; then members are refitted to all rows."""
Fitted = tuple[Trial, float, tuple[Any, ...]]
"""A member: its trial, its weight, and its estimators."""


@dataclass(frozen=True, eq=False)
class Finished:
    """The model, how it was made, and the out-of-fold predictions behind its score (None for a fallback)."""

    model: Model
    kind: str
    chosen: tuple[tuple[Trial, float], ...]
    score: float
    predictions: Array | None
    refit_seconds: float
    why: str = ""


def refit_seconds_of(trial: Trial, plan: FoldPlan) -> float:
    """Return how long fitting a trial's configuration to all rows should take."""
    per_fold = trial.outcome.fit_seconds / max(len(trial.outcome.folds), 1)
    return REFIT_MARGIN * per_fold * len(plan.assignment) / max(plan.n_trained, 1.0)


class Searched(Protocol):
    """What is searched by and on: a session, or what it found."""

    @property
    def metric(self) -> str: ...  # noqa: D102
    @property
    def plan(self) -> FoldPlan: ...  # noqa: D102


def averages_folds(settings: TuneSettings, searched: Searched, n_members: int) -> bool:
    """Return whether the fold models make the better model: they saw all of many rows, and being sure is no matter.

    An ensemble of averaged models is less sure than its out-of-fold predictions, by which it was chosen. Where the
    metric asks how sure a model is, its members are fitted anew.
    """
    if settings.refits:
        return False
    n_rows = len(searched.plan.assignment)
    is_whole = searched.plan.n_tested == n_rows >= LEAST_AVERAGED
    return is_whole and (n_members == 1 or not METRICS[searched.metric].is_about_probabilities)


def closing_seconds(settings: TuneSettings, budget: Budget) -> float:
    """Return what the ensemble, the files and the report may take: more where others keep the machine busy."""
    if settings.seconds is None:
        return 0.0
    short = min(settings.seconds, CLOSING_MOST)
    work, margin = CLOSING_SECONDS + CLOSING_SHARE * short, CLOSING_SHARE * (settings.seconds - short)
    return work * budget.drag.factor + margin


def reserve_for(
    settings: TuneSettings, trials: Sequence[Trial], searched: Searched, models: FoldModels, budget: Budget
) -> float:
    """Return the seconds to keep for the end: closing, and the refits of the best trials so far that need one."""
    if settings.seconds is None:
        return 0.0
    best = ranked(trials)[:N_RESERVED]
    if averages_folds(settings, searched, len(best)):
        best = [trial for trial in best if trial.run.identity not in models]
    costs = [refit_seconds_of(trial, searched.plan) for trial in best]
    refit = max(max(costs), sum(costs) / settings.n_workers) if costs else 0.0
    return closing_seconds(settings, budget) + min(refit, MOST_REFIT_SHARE * settings.seconds)


def finish(
    dataset: Dataset,
    found: Found,
    executor: Executor,
    settings: TuneSettings,
    budget: Budget,
    *,
    models: FoldModels,
    single: bool = False,
    is_stopped: bool = False,
) -> Finished:
    """Return the model that the time left allows: the ensemble, as much of it as can be fitted, or a fallback.

    `is_stopped` tells that the search was ended before its budget was.
    """
    # A resumed session may have lost the predictions of earlier trials: the best of them can only stand alone.
    kept = [trial for trial in found.ranked if trial.outcome.predictions is not None] or found.ranked[:1]
    if not kept:
        why = _why_nothing(found, settings, is_stopped=is_stopped)
        return (
            _fallback(dataset, found, why)
            if found.partial_model is None
            else _from_partial(dataset, found, found.partial_model, why)
        )
    weighted = _weighted(dataset, found, kept, single)
    best = found.ranked[0]
    if best.outcome.predictions is None and best.score > _score_of(dataset, found, weighted):
        weighted = [(best, 1.0)]
    begun = budget.used
    fitted = _fitted(dataset, found, weighted, executor, settings, budget, models)
    if not fitted and settings.seconds is not None:
        # Any model that was searched for is worth a moment beyond the time; the quickest to fit comes first.
        quickest = min(kept[:N_QUICK], key=lambda trial: refit_seconds_of(trial, found.plan))
        grace = Budget(max(budget.left, 0.0) + GRACE_SECONDS + GRACE_SHARE * settings.seconds, drag=budget.drag)
        fitted = _refitted(dataset, found, [(quickest, 1.0)], executor, settings, grace)
    if not fitted:
        ends = "in time; give more time"
        if settings.seconds is None:
            ends = "within its limits; raise --limit-seconds or --limit-memory"
        why = f"the best configuration could not be fitted to all rows {ends}"
        return replace(_fallback(dataset, found, why), refit_seconds=budget.used - begun)
    fitted = _best_of(dataset, found, fitted, is_whole=len(fitted) == len(weighted))
    return replace(_assembled(dataset, found, fitted, settings), refit_seconds=budget.used - begun)


def _assembled(dataset: Dataset, found: Found, fitted: Sequence[Fitted], settings: TuneSettings) -> Finished:
    """Return the model that is made of fitted members, with its thresholds and its score."""
    total = sum(weight for _, weight, _ in fitted)
    members = [
        Member(trial.run.algorithm, dict(trial.run.config), weight / total, estimators, trial.score)
        for trial, weight, estimators in fitted
    ]
    chosen = tuple((trial, weight / total) for trial, weight, _ in fitted)
    if chosen[0][0].outcome.predictions is None:
        model = Model.of(dataset, members, metric=found.metric, score=chosen[0][0].score, facts=_facts(found))
        return Finished(model, "single", chosen, chosen[0][0].score, None, 0.0)
    predictions = combine([_predictions(trial) for trial, _ in chosen], np.array([weight for _, weight in chosen]))
    multipliers = None
    if dataset.labels is not None and depends_on_thresholds(found.metric):
        multipliers = tune_multipliers(predictions, dataset.y, found.metric, seed=settings.seed)
    value = score(predictions, dataset.y, found.metric, folds=_folds(found))
    model = Model.of(
        dataset,
        members,
        metric=found.metric,
        score=value,
        multipliers=multipliers,
        facts=_facts(found),
    )
    kind = "single" if len(members) == 1 else "ensemble"
    return Finished(model, kind, chosen, value, predictions, 0.0)


def _why_nothing(found: Found, settings: TuneSettings, *, is_stopped: bool) -> str:
    """Return why there is no score to choose by, and what would help."""
    statuses = Counter(trial.run.status for trial in found.trials)
    n = len(found.trials)
    if statuses["ok"]:
        label = METRICS[found.metric].label
        return f"no evaluation has a defined {label}; give more rows, fewer --folds or another --metric"
    if n and statuses["memory"] == n:
        return f"no evaluation kept to {settings.limits.megabytes:g} MB of memory; raise --limit-memory"
    if n and statuses["timeout"] == n and longest_evaluation(settings, None) == settings.limits.seconds:
        return f"no evaluation was complete within {settings.limits.seconds:g} s; raise --limit-seconds"
    errors = [trial.outcome.error for trial in found.trials if trial.outcome.error and trial.run.status != "timeout"]
    if n and len(errors) == n:
        which = "the only evaluation went wrong" if n == 1 else f"all {n} evaluations went wrong; the first"
        return f"{which}: {errors[0]}"
    if is_stopped:
        return "the search was stopped before an evaluation was complete"
    if settings.seconds is None:
        ends = listed([f"{statuses[status]} {words}" for status, words in STATUS_WORDS.items() if statuses[status]])
        return f"none of {n} evaluations was complete: {ends}"
    return "no evaluation was complete when the time was up; give more time"


def _facts(found: Found) -> dict[str, object]:
    return {"session": found.session, "n_evaluations": len(found.trials)}


def _folds(found: Found) -> Array:
    return found.plan.assignment.astype(np.float64)


def _predictions(trial: Trial) -> Array:
    return np.asarray(trial.outcome.predictions, dtype=np.float64)


def _weighted(dataset: Dataset, found: Found, kept: Sequence[Trial], single: bool) -> list[tuple[Trial, float]]:
    """Return the members that are wanted, heaviest first; the best trial is always among those tried."""
    if single or len(kept) == 1:
        return [(kept[0], 1.0)]
    predictions = [np.asarray(trial.outcome.predictions) for trial in kept]
    weights = select(predictions, dataset.y, found.metric, folds=_folds(found))
    members = [(trial, float(weight)) for trial, weight in zip(kept, weights, strict=True) if weight > 0]
    return sorted(members, key=lambda member: -member[1])


def _score_of(dataset: Dataset, found: Found, weighted: Sequence[tuple[Trial, float]]) -> float:
    """Return the score of an ensemble on the rows that its members predicted; that of one alone is known."""
    if len(weighted) == 1:
        return weighted[0][0].score
    together = combine([_predictions(trial) for trial, _ in weighted], np.array([weight for _, weight in weighted]))
    return score(together, dataset.y, found.metric, folds=_folds(found))


def _fitted(
    dataset: Dataset,
    found: Found,
    weighted: Sequence[tuple[Trial, float]],
    executor: Executor,
    settings: TuneSettings,
    budget: Budget,
    models: FoldModels,
) -> list[Fitted]:
    """Return the members that are fitted or could be in the time left, heaviest first."""
    is_averaged = averages_folds(settings, found, len(weighted))
    ready = [member for member in weighted if is_averaged and member[0].run.identity in models]
    others = [member for member in weighted if member not in ready]
    fitted = _refitted(dataset, found, others, executor, settings, budget) if others else []
    done = {id(trial) for trial, _, _ in fitted}
    ready += [member for member in others if id(member[0]) not in done]
    fitted += [(trial, weight, estimators) for trial, weight in ready if (estimators := models.get(trial.run.identity))]
    return sorted(fitted, key=lambda member: -member[1])


def _refitted(
    dataset: Dataset,
    found: Found,
    weighted: Sequence[tuple[Trial, float]],
    executor: Executor,
    settings: TuneSettings,
    budget: Budget,
) -> list[Fitted]:
    """Return the members that could be fitted to all rows in the time left."""
    closing = 0.5 * closing_seconds(settings, budget)
    fitted: list[Fitted] = []
    waiting = _affordable(weighted, found.plan, settings.n_workers * max(budget.left - closing, 0.0))
    under_way: dict[int, tuple[Trial, float, Job]] = {}
    while waiting or under_way:
        left = budget.left - closing
        if left <= 0:
            break
        while waiting and len(under_way) < settings.n_workers:
            trial, weight = waiting.pop(0)
            job = _refit_job(dataset, found, trial, settings, left)
            under_way[executor.submit(job)] = (trial, weight, job)
        finished = executor.next(timeout=min(left, 1.0))
        if finished is None:
            continue
        ticket = next(ticket for ticket, (_, _, job) in under_way.items() if job is finished[0])
        trial, weight, _ = under_way.pop(ticket)
        if finished[1].status == "ok":
            fitted.append((trial, weight, (finished[1].estimator,)))
    for ticket in under_way:
        executor.cancel(ticket)
    return fitted


def _affordable(weighted: Sequence[tuple[Trial, float]], plan: FoldPlan, seconds: float) -> list[tuple[Trial, float]]:
    """Return the members whose refits fit into the seconds: the best trial first, then the heaviest.

    If even the best one may be too expensive, the cheapest goes first: any model is better than none.
    """
    first = max(weighted, key=lambda member: member[0].score)
    order = [first, *(member for member in weighted if member is not first)]
    if refit_seconds_of(first[0], plan) > seconds:
        cheapest = min(weighted, key=lambda member: refit_seconds_of(member[0], plan))
        order = [cheapest, *(member for member in order if member is not cheapest)]
    taken: list[tuple[Trial, float]] = []
    spent = 0.0
    for trial, weight in order:
        cost = refit_seconds_of(trial, plan)
        if not taken or spent + cost <= seconds:
            taken.append((trial, weight))
            spent += cost
    return taken


def _best_of(dataset: Dataset, found: Found, fitted: Sequence[Fitted], *, is_whole: bool) -> list[Fitted]:
    """Return the fitted members, or the best one alone if what is left of an ensemble is not better."""
    best = max(fitted, key=lambda member: member[0].score)
    if is_whole or len(fitted) == 1:
        return list(fitted)
    is_better = _score_of(dataset, found, [member[:2] for member in fitted]) >= best[0].score
    return list(fitted) if is_better else [best]


def _refit_job(dataset: Dataset, found: Found, trial: Trial, settings: TuneSettings, left: float) -> Job:
    limits = Limits(left if math.isfinite(left) else settings.limits.seconds, settings.limits.megabytes)
    config = dict(trial.run.config)
    return Job(dataset.fingerprint, trial.run.algorithm, config, found.plan, PLAN_SEED, limits, refit=True)


def _from_partial(dataset: Dataset, found: Found, partial: PartialModel, why: str) -> Finished:
    """Return what was fitted to some of the folds: far better than a small tree, but nobody can say how good it is."""
    n = len(partial.folds)
    why += f" (what was saved is {partial.algorithm} as fitted to {n} of {found.plan.n_folds} folds)"
    with importing:
        estimators = tuple(pickle.loads(fold.model) for fold in partial.folds)  # noqa: S301 - from our own workers
    member = Member(partial.algorithm, dict(partial.config), 1.0, estimators)
    model = Model.of(dataset, [member], metric=found.metric, facts={"session": found.session, "fallback": why})
    return Finished(model, "fallback", (), math.nan, None, 0.0, why)


def _fallback(dataset: Dataset, found: Found, why: str) -> Finished:
    """Return a small tree fitted to some rows: better than nothing, and labelled as that."""
    n_rows = max(50, FALLBACK_CELLS // max(dataset.X.shape[1], 1))
    algorithm = ALGORITHMS[FALLBACK]
    rows = np.arange(len(dataset.y))
    if len(rows) > n_rows:
        rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:n_rows])
        # Every class must be seen, however few rows are taken.
        if dataset.labels is not None:
            rows = np.unique(np.concatenate([rows, np.unique(dataset.y, return_index=True)[1]]))
    part = replace(dataset, X=dataset.X.iloc[rows].reset_index(drop=True), y=dataset.y[rows])
    with importing:
        member = fit_member(part, algorithm, algorithm.space(dataset.task).default(), seed=0)
    model = Model.of(dataset, [member], metric=found.metric, facts={"session": found.session, "fallback": why})
    return Finished(model, "fallback", (), math.nan, None, 0.0, why)
