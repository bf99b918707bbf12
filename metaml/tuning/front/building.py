"""From what a session found to its front: single models, ensembles of growing size, and thresholds between two classes.

What a model scores is known from out-of-fold predictions, what it takes from its members' evaluations. What is then on
the front is measured on saved models in a fresh process. Points that are dominated by these measurements are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaml.arrays import Array, Floats, Positions
from metaml.data import Dataset
from metaml.ensemble.selection import score
from metaml.evaluation import METRICS
from metaml.metrics.base import rarer_class
from metaml.model import Member, Model
from metaml.model.columns_read import columns_read
from metaml.model.front import Front, FrontPoint, PointMember, shown_name
from metaml.model.measuring import measure_all
from metaml.pareto import RESOURCES, hypervolume_gains, is_non_dominated, log_amounts
from metaml.search.objectives import (
    DecisionObjective,
    Objective,
    front_objectives,
    moves_thresholds,
    thresholds_of,
)
from metaml.search.settings import TuneSettings
from metaml.tuning.candidates import front_of
from metaml.tuning.closing import averages_folds
from metaml.tuning.final_model import assembled, choose_among, judged, refitted
from metaml.tuning.finished import Chosen, Finished
from metaml.tuning.job_batch import Ending
from metaml.tuning.trials import Found, Trial

MOST_TRIALS, MOST_POINTS = 16, 24
"""The most trials of the front that become models, and the most models that are measured and kept."""
N_CUTS = 4
"""Ensembles are also chosen among the quickest or smallest trials alone. This is how often the list is cut."""
N_THRESHOLDS = 60
REFERENCE = 1.1
SMALLEST = 1e-9
MOST_SHARE, MOST_SECONDS = 0.1, 30.0
"""The share of the time budget that the front may take, and its most seconds."""

Estimators = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class FrontModel:
    """A model that may be on the front: its members, their estimators, and whether these are the models of folds."""

    finished: Finished
    is_of_folds: bool
    values: tuple[float, ...]
    threshold: float | None = None

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """Return the names of the kept members, and their weights."""
        return tuple(
            (part_name(member.trial, is_of_folds=self.is_of_folds), member.weight) for member in self.finished.chosen
        )


def part_name(trial: Trial, *, is_of_folds: bool) -> str:
    """Return what the kept member of a trial is called."""
    return f"{trial.run.identity[:12]}-{'folds' if is_of_folds else 'one'}"


def front_seconds(settings: TuneSettings) -> float:
    """Return the seconds of the budget to keep for the front."""
    if not settings.objectives or settings.seconds is None:
        return 0.0
    return min(MOST_SHARE * settings.seconds, MOST_SECONDS)


def build_front(ending: Ending, *, single: bool = False) -> Front | None:
    """Return the front of a session; None if none was searched, or nothing can be on it."""
    dataset, found, settings = ending.dataset, ending.found, ending.settings
    trials = [trial for trial in found.ranked if trial.outcome.predictions is not None]
    on_front = front_of(trials)
    if not settings.objectives or not on_front:
        return None
    chosen = _spread(on_front, MOST_TRIALS)
    ending = replace(ending, budget=ending.budget.with_at_least(front_seconds(settings)))
    maker = _Maker(dataset, found, settings, front_objectives(settings.objectives, dataset, found.plan))
    for is_of_folds in (False, True):
        estimators = maker.estimators(chosen, ending, is_of_folds=is_of_folds)
        maker.add(chosen, estimators, is_of_folds=is_of_folds, single=single)
    kept = [maker.made[place] for place in _on_front(maker.costs(), MOST_POINTS)]
    if not kept:
        return None
    kept = maker.measured(kept)
    kept = [kept[place] for place in _on_front(np.array([maker.cost(one.values) for one in kept]), MOST_POINTS)]
    return maker.front(kept)


class _Maker:
    """Makes the candidates of a session and says what they are worth."""

    def __init__(self, dataset: Dataset, found: Found, settings: TuneSettings, objectives: Sequence[Objective]) -> None:
        self.dataset, self.found, self.settings, self.objectives = dataset, found, settings, objectives
        self.made: list[FrontModel] = []
        self.parts: dict[str, Model] = {}

    def estimators(self, trials: Sequence[Trial], ending: Ending, *, is_of_folds: bool) -> dict[str, Estimators]:
        """Return the fitted models of each trial: one, of all rows if there is time, or those of all folds."""
        kept = {trial.run.identity: ending.models.get(trial.run.identity) for trial in trials}
        if is_of_folds:
            is_wanted = self.found.plan.n_folds > 1 and averages_folds(self.settings, self.found, 1)
            return {run: own for run, own in kept.items() if len(own) > 1} if is_wanted else {}
        wanted = [Chosen(trial, 1.0) for trial in trials]
        fitted = refitted(ending, wanted)
        ready = {member.trial.run.identity: own[:1] for member, own in fitted}
        return {run: own for run, models in kept.items() if (own := ready.get(run, models[:1]))}

    def add(
        self, trials: Sequence[Trial], estimators: dict[str, Estimators], *, is_of_folds: bool, single: bool
    ) -> None:
        """Add every candidate that these models make: each alone, and ensembles of growing size."""
        known = [trial for trial in trials if trial.run.identity in estimators]
        for trial in known:
            name, own = part_name(trial, is_of_folds=is_of_folds), estimators[trial.run.identity]
            member = Member(trial.run.algorithm, dict(trial.run.config), 1.0, own, trial.score)
            self.parts[name] = Model.of(self.dataset, [member], metric=self.found.metric, facts=self._facts)
        sets = [[Chosen(trial, 1.0)] for trial in known]
        sets += [] if single else list(self._ensembles(known))
        for chosen in {
            tuple((c.trial.run.identity, round(c.weight, 6)) for c in chosen): chosen for chosen in sets
        }.values():
            fitted = [(member, estimators[member.trial.run.identity]) for member in chosen]
            finished = assembled(self.dataset, self.found, fitted, self.settings)
            self.made += self._valued(finished, is_of_folds=is_of_folds)

    @property
    def _facts(self) -> dict[str, object]:
        return {"session": self.found.session, "n_evaluations": len(self.found.trials)}

    def _ensembles(self, trials: Sequence[Trial]) -> Iterator[list[Chosen]]:
        """Yield ensembles of growing size: of the best of all trials, and of the quickest or smallest ones alone."""
        places = [place for place, objective in enumerate(self.objectives, start=1) if objective.name in RESOURCES]
        offered = [list(trials)]
        for place in places:
            cheapest = sorted(trials, key=lambda trial: -trial.scores[place])
            cuts = {len(trials) * number // (N_CUTS + 1) for number in range(1, N_CUTS + 1)}
            offered += [cheapest[:cut] for cut in sorted(cuts) if cut > 1]
        for some in offered:
            chosen = choose_among(self.dataset, self.found, some) if len(some) > 1 else []
            for size in range(2, len(chosen) + 1):
                total = sum(member.weight for member in chosen[:size])
                yield [member._replace(weight=member.weight / total) for member in chosen[:size]]

    def _valued(self, finished: Finished, *, is_of_folds: bool) -> Iterator[FrontModel]:
        """Yield a model as a candidate or, where labels of two classes count, one for each threshold."""
        predictions = np.asarray(finished.predictions, dtype=np.float64)
        fixed = [None if isinstance(one, DecisionObjective) else self._value(one, finished) for one in self.objectives]
        thresholds: list[float | None] = [None]
        positive, weighed = 1, predictions
        if moves_thresholds(self.objectives, self.dataset):
            positive = rarer_class(self.dataset.y)
            thresholds = [*thresholds_of(predictions, self.dataset.y, positive, N_THRESHOLDS).tolist()]
        elif finished.model.multipliers is not None:
            weighed = predictions * np.array(finished.model.multipliers)
        for threshold in thresholds:
            values = tuple(
                one.of_predictions(weighed, threshold, positive) if isinstance(one, DecisionObjective) else known or 0.0
                for one, known in zip(self.objectives, fixed, strict=True)
            )
            if np.isfinite(values).all():
                yield FrontModel(finished, is_of_folds, values, threshold)

    def _value(self, objective: Objective, finished: Finished) -> float:
        """Return what a model is worth by an objective that no threshold changes."""
        name = objective.name
        if name not in RESOURCES:
            if name == self.found.metric:
                return finished.score
            return score(np.asarray(finished.predictions), self.dataset.y, name, **judged(self.dataset, self.found))
        if name == "n_columns":
            return -float(len(columns_read(finished.model)))
        place = 1 + [one.name for one in self.objectives].index(name)
        numbers = [len(member.estimators) for member in finished.model.members]
        taken = zip(numbers, finished.chosen, strict=True)
        return float(sum(n * member.trial.scores[place] for n, member in taken))

    def cost(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return values as costs: lower is better, what a model takes as logarithms."""
        return tuple(
            float(log_amounts(objective.name, np.array(-value))) if objective.name in RESOURCES else -value
            for objective, value in zip(self.objectives, values, strict=True)
        )

    def costs(self) -> Floats:
        """Return the costs of all candidates."""
        return np.array([self.cost(one.values) for one in self.made]).reshape(-1, len(self.objectives))

    def measured(self, candidates: Sequence[FrontModel]) -> list[FrontModel]:
        """Return candidates with the seconds and the bytes of their saved models, if these are objectives."""
        names = [objective.name for objective in self.objectives]
        if not {"predict_seconds", "model_bytes"} & set(names):
            return list(candidates)
        # A threshold changes nothing of what a model takes.
        distinct = {one.parts: one.finished.model for one in candidates}
        found = dict(zip(distinct, measure_all(list(distinct.values()), self.dataset), strict=True))
        known = {
            parts: {"predict_seconds": taken.predict_ms / 1000, "model_bytes": 1e6 * taken.megabytes}
            for parts, taken in found.items()
        }
        return [
            replace(
                one,
                values=tuple(
                    -known[one.parts].get(name, -value) for name, value in zip(names, one.values, strict=True)
                ),
            )
            for one in candidates
        ]

    def front(self, candidates: Sequence[FrontModel]) -> Front:
        """Return these candidates as a front, the best by the first objective first."""
        ordered = sorted(candidates, key=lambda one: self.cost(one.values))
        points = tuple(self._point(number, one) for number, one in enumerate(ordered, start=1))
        used = {name for point in points for name, _ in point.parts}
        kept = {name: model for name, model in self.parts.items() if name in used}
        return Front(tuple(shown_name(one.name) for one in self.objectives), self.found.metric, points, kept)

    def _point(self, number: int, candidate: FrontModel) -> FrontPoint:
        finished, threshold = candidate.finished, candidate.threshold
        multipliers = finished.model.multipliers
        if threshold is not None:
            own = (threshold, 1.0 - threshold) if rarer_class(self.dataset.y) == 1 else (1.0 - threshold, threshold)
            multipliers = tuple(max(factor, SMALLEST) for factor in own)
        calibration = finished.model.calibration
        return FrontPoint(
            number=number,
            kind="single" if len(finished.model.members) == 1 else "ensemble",
            values={
                shown_name(one.name): METRICS[one.name].sign * value if one.name in METRICS else abs(value)
                for one, value in zip(self.objectives, candidate.values, strict=True)
            },
            members=tuple(
                PointMember(member.algorithm, member.config, member.weight, len(member.estimators))
                for member in finished.model.members
            ),
            parts=candidate.parts,
            score=finished.score,
            threshold=threshold,
            multipliers=multipliers,
            calibration=None if calibration is None else calibration.to_dict(),
        )


def _spread(trials: Sequence[Trial], n: int) -> list[Trial]:
    """Return at most `n` trials that are spread over the front; the best by the first objective is among them."""
    if len(trials) <= n:
        return list(trials)
    points = [point for trial in trials for point in (trial.scores[1:], *trial.curve)]
    owners = [place for place, trial in enumerate(trials) for _ in (0, *trial.curve)]
    order = _greedy(-np.array(points), len(points))
    return [trials[place] for place in list(dict.fromkeys(owners[at] for at in order))[:n]]


def _on_front(costs: Floats, n: int) -> list[int]:
    """Return the positions of at most `n` rows that are on the front, spread over it; of equal rows the first."""
    if not len(costs):
        return []
    _, first = np.unique(costs, axis=0, return_index=True)
    places: Positions = np.sort(first)
    places = places[is_non_dominated(costs[places])]
    return sorted(int(places[at]) for at in _greedy(costs[places], n))


def _greedy(costs: Floats, n: int) -> list[int]:
    """Return `n` rows: the best of each objective, then again and again the one that adds most dominated volume."""
    if len(costs) <= n:
        n = len(costs)
    low, span = costs.min(axis=0), np.ptp(costs, axis=0)
    unit: Array = (costs - low) / np.where(span > 0, span, 1.0)
    taken = list(dict.fromkeys(int(place) for place in unit.argmin(axis=0)))[:n]
    while len(taken) < n:
        gains = hypervolume_gains(unit, unit[taken], np.full(unit.shape[1], REFERENCE))
        gains[taken] = -1.0
        taken.append(int(gains.argmax()))
    return taken
