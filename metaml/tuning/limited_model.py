"""A final model that keeps limits on time, size and columns, as measured on the saved file in a fresh process.

Each trial's fold model is timed here first, which says what an ensemble will take. What is chosen so is saved, loaded
and measured elsewhere. If it breaks a limit there, the estimate is corrected and the choice is made again.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.errors import BadRequest
from metaml.evaluation.model_limits import Measured
from metaml.model import Member, Model
from metaml.model.measuring import measure, raw_rows, timed
from metaml.model.reading import TableReader
from metaml.search.settings import TuneSettings
from metaml.tuning.fallback import small_tree, tree_model
from metaml.tuning.final_model import choose_among, finish_with, score_of
from metaml.tuning.finished import Chosen, Finished
from metaml.tuning.job_batch import Ending
from metaml.tuning.trials import FoldModels, Found, Trial
from metaml.tuning.uncertainty import with_uncertainty

MARGIN = 0.9
"""The first choice aims at this share of a limit: an estimate may be too low."""
MOST_ATTEMPTS = 4
MOST_TIMED = 24
"""So many of the best trials are looked at."""
MEASURING_SECONDS = 4.0
"""Seconds of the budget to keep for the fresh processes."""
N_TIMED_ROWS = 10


@dataclass(frozen=True)
class EstimatorCost:
    """What one estimator adds to a model: milliseconds for one row and for 1,000, megabytes."""

    one: float
    many: float
    megabytes: float


def measuring_seconds(settings: TuneSettings, budget: Budget) -> float:
    """Return the seconds to keep for measuring: none if nothing is limited."""
    return MEASURING_SECONDS * budget.drag.factor if settings.model_limits.needs_measuring else 0.0


def check_possible(dataset: Dataset, settings: TuneSettings) -> None:
    """Raise BadRequest before the search if even the smallest model breaks the limits."""
    limits = settings.model_limits
    if not limits.needs_measuring:
        return
    measured = measure(tree_model(dataset, settings.metric), dataset)
    if limits.excess(measured) > 1:
        raise BadRequest(limits.impossible(measured))


def within_limits(done: Finished, ending: Ending, *, single: bool = False) -> Finished:
    """Return a finished model that knows its errors and keeps the limits: the given one, else the best smaller one."""
    dataset, found, limits = ending.dataset, ending.found, ending.settings.model_limits
    if not limits.needs_measuring:
        return with_uncertainty(done, ending)

    def measured_with_errors(made: Finished) -> tuple[Finished, Measured]:
        """Return a model that knows its errors, or without that if it would break the limits, and what it takes."""
        whole = with_uncertainty(made, ending)
        taken = measure(whole.model, dataset)
        if limits.excess(taken) <= 1 or whole is made:
            return whole, taken
        return made, measure(made.model, dataset)

    done, nearest = measured_with_errors(done)
    if limits.excess(nearest) <= 1:
        return _labelled(done, nearest)
    base, costs = _costs(done, dataset, found, ending.models)
    aim = MARGIN
    for _ in range(MOST_ATTEMPTS):
        chosen, is_averaged = _affordable(dataset, found, base, costs, ending.settings, aim, single=single)
        made = _made(chosen, ending, is_averaged=is_averaged)
        if made is None:
            break
        made, measured = measured_with_errors(made)
        if limits.excess(measured) <= 1:
            return _labelled(replace(made, refit_seconds=done.refit_seconds), measured)
        nearest = min(nearest, measured, key=limits.excess)
        aim *= MARGIN / limits.excess(measured)
    smallest = small_tree(dataset, found, "no model that was searched for keeps the limits")
    measured = measure(smallest.model, dataset)
    if limits.excess(measured) <= 1:
        return _labelled(smallest, measured)
    raise BadRequest(limits.impossible(min(nearest, measured, key=limits.excess)))


def _labelled(done: Finished, measured: Measured) -> Finished:
    """Return the finished model with what was measured among its facts."""
    facts = {**done.model.facts, "measured": asdict(measured)}
    return replace(done, model=replace(done.model, facts=facts), measured=measured)


def _costs(
    done: Finished, dataset: Dataset, found: Found, models: FoldModels
) -> tuple[EstimatorCost, dict[str, EstimatorCost]]:
    """Return what any model takes, and what an estimator of each trial adds, by the identity of its run."""
    rows = raw_rows(dataset, N_TIMED_ROWS)
    # As `answer` reads: a single row takes a fraction of what a table of features does.
    read = timed(TableReader(done.model.schema, has_layers=False).read, rows)
    base = EstimatorCost(1000 * read["one"], 1000 * read["many"], 0.0)
    costs = {}
    for trial in _candidates(found):
        kept = models.get(trial.run.identity)
        if kept:
            model = Model.of(dataset, [Member(trial.run.algorithm, {}, 1.0, kept[:1])], metric=found.metric)
            seconds = timed(model.answer, rows)
            one, many = 1000 * seconds["one"] - base.one, 1000 * seconds["many"] - base.many
            costs[trial.run.identity] = EstimatorCost(max(one, 0.0), max(many, 0.0), _megabytes(model))
    return base, costs


def _candidates(found: Found) -> list[Trial]:
    return [trial for trial in found.ranked if trial.outcome.predictions is not None][:MOST_TIMED]


def _megabytes(model: Model) -> float:
    with tempfile.TemporaryDirectory(prefix="metaml-") as folder:
        return model.save(Path(folder)).stat().st_size / 1e6


def _affordable(
    dataset: Dataset,
    found: Found,
    base: EstimatorCost,
    costs: Mapping[str, EstimatorCost],
    settings: TuneSettings,
    aim: float,
    *,
    single: bool,
) -> tuple[list[Chosen], bool]:
    """Return the best members that keep a share of the limits, and whether their fold models are averaged."""

    def keeps(members: Sequence[Trial], n_each: int) -> bool:
        own = [costs[trial.run.identity] for trial in members]
        taken = Measured(
            base.one + n_each * sum(cost.one for cost in own),
            base.many + n_each * sum(cost.many for cost in own),
            n_each * sum(cost.megabytes for cost in own),
            0,
        )
        return settings.model_limits.excess(taken) <= aim

    known = [trial for trial in _candidates(found) if trial.run.identity in costs]
    best: tuple[list[Chosen], bool] = ([], False)
    best_score = float("-inf")
    for n_each in (1,) if settings.refits else (found.plan.n_folds, 1):
        offered = [trial for trial in known if keeps([trial], n_each)]
        if not offered:
            continue
        alone = max(offered, key=lambda trial: trial.score)
        is_one = single or len(offered) == 1
        chosen = [Chosen(alone, 1.0)] if is_one else choose_among(dataset, found, offered)
        while not keeps([member.trial for member in chosen], n_each):
            chosen = chosen[:-1]
        total = sum(member.weight for member in chosen)
        chosen = [member._replace(weight=member.weight / total) for member in chosen]
        value = score_of(dataset, found, chosen)
        if value < alone.score:
            chosen, value = [Chosen(alone, 1.0)], alone.score
        if value > best_score:
            best, best_score = (chosen, n_each > 1), value
    return best


def _made(chosen: Sequence[Chosen], ending: Ending, *, is_averaged: bool) -> Finished | None:
    """Return the model of these members; where there is no time to fit one to all rows, the model of its first fold."""
    if not chosen:
        return None
    budget = ending.budget.with_at_least(MEASURING_SECONDS)
    return finish_with(replace(ending, budget=budget), chosen, is_averaged=is_averaged)
