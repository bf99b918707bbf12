"""The job of a configuration: its limits, the run it must beat, and how far it may exceed its limit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.evaluation import METRICS, FoldPlan, Job, MinimumScore, Overtime, Race, default_metric
from metaml.search.bandit_search import NextTrial
from metaml.search.fidelity import at_share
from metaml.search.settings import TuneSettings, longest_evaluation
from metaml.spaces import Config
from metaml.splits import PLAN_SEED
from metaml.tuning.candidates import least_score
from metaml.tuning.trials import Trial, ranked

FIT_SHARE, LEAST_REST = 0.8, 0.6
"""The part of an evaluation's time that its fits may take. The rest is for predictions, scores and sending the models;
it takes a moment even if the evaluation is short."""


def allowance_of(seconds: float, n_folds: int) -> float:
    """Return the seconds that each fit may take in an evaluation of this many seconds.

    >>> [round(allowance_of(seconds, 1), 2) for seconds in (1.0, 2.0, 10.0)]
    [0.5, 1.4, 8.0]
    """
    rest = max((1 - FIT_SHARE) * seconds, min(LEAST_REST, seconds / 2))
    return (seconds - rest) / n_folds


@dataclass(frozen=True, eq=False)
class JobLimits:
    """What every job of a session has in common; `defaults`, the first and the expensive ones, may take longer.

    Workers know the metrics of the list. If the session is judged by another one, no run is a race, and the default
    metric of the task says which evaluation is ahead.
    """

    dataset: Dataset
    plan: FoldPlan
    metric: str
    settings: TuneSettings
    budget: Budget
    keeps_models: bool
    defaults: Sequence[tuple[str, Config]]

    def job(
        self,
        algorithm: str,
        config: Config,
        trials: Sequence[Trial],
        left: float = math.inf,
        *,
        is_always_kept: bool = True,
        share: float = 1.0,
    ) -> Job:
        """Return the job of a configuration, given the trials so far and the seconds left to the search.

        Unless its predictions and models are always kept, they are returned only if they may be used. With a `share`
        below 1 it is a look at a low fidelity: nothing of it can join an ensemble, and it has no race.
        """
        left = min(left, self.budget.left)
        complete = ranked(trials)
        taken = [trial.outcome.seconds for trial in complete]
        is_default = (algorithm, config) in self.defaults
        longest = min(longest_evaluation(self.settings, taken, is_first_default=is_default), left)
        if share < 1.0:
            return self._look(algorithm, config, share, longest)
        return Job(
            self.dataset.fingerprint,
            algorithm,
            config,
            self.plan,
            PLAN_SEED,
            replace(self.settings.limits, seconds=longest),
            keep_predictions=True,
            keep_models=self.keeps_models,
            tells_folds=self.keeps_models and not complete and self.plan.n_folds > 1,
            race=self._race(algorithm, complete),
            overtime=self._overtime(complete, left),
            bar=None if is_always_kept or self.settings.objectives else self._bar(algorithm, trials),
            fit_seconds=self._allowance(longest, self.plan),
        )

    def _look(self, algorithm: str, config: Config, share: float, longest: float) -> Job:
        config, plan = at_share(share, self.settings.fidelity, algorithm, config, self.plan, self.dataset)
        return Job(
            self.dataset.fingerprint,
            algorithm,
            config,
            plan,
            PLAN_SEED,
            replace(self.settings.limits, seconds=longest),
            keep_predictions=depends_on_thresholds(self.metric),
            fit_seconds=self._allowance(longest, plan),
        )

    def _allowance(self, seconds: float, plan: FoldPlan) -> float | None:
        """Return the seconds that each fit may take in an evaluation of this many seconds; None if time does not count.

        A learner that runs out of it gives the best model that it has: fewer trees are better than none.
        """
        if self.settings.clock is None:
            return None
        return allowance_of(seconds, plan.n_folds)

    def _race(self, algorithm: str, complete: Sequence[Trial]) -> Race | None:
        # A score after thresholds cannot be seen on the first folds, nor can what is quick or small lose by its score.
        if depends_on_thresholds(self.metric) or self.settings.objectives or self.metric not in METRICS:
            return None
        # The best of its own algorithm: what is weaker alone may be what an ensemble lacks.
        best = next((trial for trial in complete if trial.run.algorithm == algorithm), None)
        return None if best is None else Race(self.metric, best.outcome.scores[self.metric])

    def _bar(self, algorithm: str, trials: Sequence[Trial]) -> MinimumScore | None:
        """Return what an evaluation must score to be kept; None if what it predicts is always used."""
        settings = self.settings
        needs_predictions = depends_on_thresholds(self.metric) or self.metric not in METRICS
        if settings.keep_predictions or settings.objectives or needs_predictions:
            return None
        return MinimumScore(self.metric, least_score(algorithm, trials))

    def _overtime(self, complete: Sequence[Trial], left: float) -> Overtime | None:
        """Return how far an evaluation that is ahead may exceed its limit; None if time does not count."""
        if self.settings.clock is None:
            return None
        judge = self.metric if self.metric in METRICS else default_metric(self.dataset.task)
        best = complete[0].outcome.scores[judge] if complete else ()
        return Overtime(judge, best, self.settings.limits.seconds, left)


@dataclass(eq=False)
class OpenJob:
    """A job that was submitted, the choice behind it, and when a worker began it (seconds of the budget)."""

    choice: NextTrial
    job: Job
    begun: float | None = None
