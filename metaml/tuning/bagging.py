"""Bagging: the candidates for the final ensemble are evaluated again, on folds that no choice has seen.

A search compares hundreds of configurations on the same folds. On small data the best scores are partly luck, and an
ensemble chosen by them inherits it. It is therefore chosen by repeats: the same configurations, other folds, other
seeds (docs/measured.md). The models of all folds and repeats are averaged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaml.arrays import Array, Floats
from metaml.data import Dataset
from metaml.ensemble.selection import score
from metaml.evaluation import FoldPlan, Job, Outcome
from metaml.records.conversion import fold_plan_record, run_of
from metaml.search.settings import TuneSettings
from metaml.splits import SPLITTERS, make_plan, splitter_of
from metaml.tuning.candidates import candidates_of, is_broad
from metaml.tuning.job_batch import Stage, run_batch
from metaml.tuning.job_limits import allowance_of
from metaml.tuning.session_log import SessionLog
from metaml.tuning.trials import Trial, ranked

MOST_CANDIDATES, FEWEST_CANDIDATES = 20, 3
"""Candidates that are evaluated again; with time for fewer than three, none are."""
MOST_REPEATS = 2
"""A second repeat adds little to the first, a third next to nothing."""
MOST_SHARE = 0.2
"""The largest share of the budget that repeats may take."""
LIMIT = 3.0
"""A repeat may take this many times the seconds of the first evaluation."""
EVENT = "repeat"


@dataclass(frozen=True, eq=False)
class Bagged:
    """The candidates with what they predict in fresh repeats, and the plan of the first of these.

    `n_repeats` is how often most of them were evaluated again; 0 if there was no time.
    """

    trials: tuple[Trial, ...] = ()
    plan: FoldPlan | None = None
    n_repeats: int = 0
    seconds: float = 0.0


def can_be_repeated(plan: FoldPlan, settings: TuneSettings) -> bool:
    """Return whether repeats are wanted and possible: several random folds that test every row."""
    is_wanted = settings.n_repeats != 0 and (settings.n_repeats is not None or settings.clock is not None)
    is_random = splitter_of(plan.strategy) in (SPLITTERS["shuffled"], SPLITTERS["group"])
    return is_wanted and is_random and plan.n_folds > 2 and plan.n_tested == len(plan.assignment)


def _n_repeats(settings: TuneSettings) -> int:
    """Return how often a candidate may be evaluated again."""
    return MOST_REPEATS if settings.n_repeats is None else settings.n_repeats


def repeated_plan(dataset: Dataset, plan: FoldPlan, repeat: int) -> FoldPlan:
    """Return the folds of a repeat, counted from 1: as many, drawn with another seed."""
    return make_plan(dataset, plan.n_folds, plan.seed + repeat)


def bagging_seconds(trials: Sequence[Trial], n_rows: int, settings: TuneSettings) -> float:
    """Return the wall-clock seconds to keep for repeats; 0 if not even one fits."""
    if settings.seconds is None or not is_broad(trials):
        return 0.0
    most = MOST_SHARE * settings.seconds * settings.n_workers
    cost = sum(trial.outcome.seconds for trial in _affordable(_to_repeat(trials, n_rows), most))
    return min(most, _n_repeats(settings) * cost) / settings.n_workers


def _to_repeat(trials: Sequence[Trial], n_rows: int) -> list[Trial]:
    """Return the candidates, the best of each algorithm first, then the others; best first among each."""
    complete = [trial for trial in ranked(trials) if trial.outcome.predictions is not None]
    candidates = candidates_of(complete, n_rows)
    leaders = list({trial.run.algorithm: trial for trial in reversed(candidates)}.values())
    leaders.sort(key=lambda trial: -trial.score)
    others = [trial for trial in candidates if not any(trial is leader for leader in leaders)]
    return [*leaders, *others][:MOST_CANDIDATES]


def _affordable(trials: Sequence[Trial], seconds: float) -> list[Trial]:
    """Return the trials, in order, that together fit into `seconds` of a worker; none if too few do."""
    kept, spent = [], 0.0
    for trial in trials:
        if spent + trial.outcome.seconds <= seconds:
            kept.append(trial)
            spent += trial.outcome.seconds
    return kept if len(kept) >= FEWEST_CANDIDATES else []


@dataclass(frozen=True, eq=False)
class Bagging(Stage):
    """Evaluates the candidates of a session again, and stores these runs in its log; `run` begins."""

    log: SessionLog

    def run(self) -> Bagged:
        """Return what the time allows: every candidate once, then all of them again."""
        if self.settings.clock is not None and not is_broad(self.found.trials):
            return Bagged()
        begun, n_workers = self.budget.used, self.settings.n_workers
        most = self.left
        if self.settings.seconds is not None:
            most = min(most, MOST_SHARE * self.settings.seconds)
        trials = _affordable(_to_repeat(self.found.trials, self.found.plan.n_tested), most * n_workers)
        if not trials:
            return Bagged()
        end, n_repeats = begun + most, _n_repeats(self.settings)
        plans = [repeated_plan(self.dataset, self.found.plan, repeat + 1) for repeat in range(n_repeats)]
        fresh: dict[str, list[Array]] = {trial.run.identity: [] for trial in trials}
        for repeat, plan in enumerate(plans):
            cost = sum(trial.outcome.seconds for trial in trials) / n_workers
            if repeat and self.budget.used + cost > end:
                break
            self.log.kb.add_fold_plan(fold_plan_record(plan))
            for trial, outcome in self._evaluated(trials, plan, end):
                fresh[trial.run.identity].append(np.asarray(outcome.predictions, dtype=np.float64))
        repeated = [self._judged(trial, fresh[trial.run.identity], plans[0]) for trial in trials]
        kept = tuple(ranked([trial for trial in repeated if trial is not None]))
        n_done = max(map(len, fresh.values()))
        return Bagged(kept, plans[0], n_done, self.budget.used - begun)

    def _evaluated(self, trials: Sequence[Trial], plan: FoldPlan, end: float) -> Iterator[tuple[Trial, Outcome]]:
        """Yield the trials with their complete outcomes on other folds; each is stored, and its models are kept."""

        def job_of(trial: Trial, seconds: float) -> Job:
            limit = min(self.settings.limits.seconds, seconds)
            if self.settings.clock is not None:
                limit = min(limit, max(LIMIT * trial.outcome.seconds, 1.0))
            run = trial.run
            return Job(
                run.dataset,
                run.algorithm,
                dict(run.config),
                plan,
                plan.seed,
                replace(self.settings.limits, seconds=limit),
                keep_predictions=True,
                keep_models=True,
                fit_seconds=None if self.settings.clock is None else allowance_of(limit, plan.n_folds),
            )

        def left() -> float:
            return min(end - self.budget.used, self.left)

        for trial, outcome in run_batch(trials, job_of, self.executor, left=left, is_over=self.should_stop):
            run = run_of(
                job_of(trial, outcome.seconds),
                outcome,
                session=self.found.session,
                environment=self.log.environment,
                origin=EVENT,
            )
            details = {
                "run": run.identity,
                "of": trial.run.identity,
                "seconds": outcome.seconds,
                "at": self.budget.used,
            }
            self.log.note(EVENT, details)
            self.log.store(run)
            if outcome.status == "ok":
                self.models.add(trial.run.identity, outcome.models)
                yield trial, outcome

    def _judged(self, trial: Trial, fresh: Sequence[Array], plan: FoldPlan) -> Trial | None:
        """Return a trial with the mean of its fresh predictions and the score of that; None if it has none."""
        if not fresh:
            return None
        predictions: Floats = np.mean(fresh, axis=0)
        folds, weight = plan.assignment.astype(np.float64), self.dataset.row_weights
        value = score(predictions, self.dataset.y, self.found.metric, folds=folds, row_weights=weight)
        outcome = replace(trial.outcome, predictions=predictions)
        return replace(trial, outcome=outcome, scores=(value, *trial.scores[1:]), is_repeated=True)
