"""The second layer of a session: depth, once breadth has found what it can build on.

The members of the first layer that feed it are defaults, warm starts, and what was evaluated again on other folds. The
others were chosen for their score among hundreds, so their out-of-fold predictions are too optimistic for a second
layer to learn from. Before the layer is built, the whole stack is tried on rows that no layer has seen. Where it does
not help there, it is left out: on such data its cross-validated score misleads (`benchmarks/layers.py`).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.arrays import Array
from metaml.data import Dataset
from metaml.ensemble.combination import combine
from metaml.ensemble.layers import n_columns_of, second_layer_data
from metaml.ensemble.pool import distinct
from metaml.ensemble.selection import score, select
from metaml.evaluation import FoldPlan, Job, Outcome
from metaml.records.conversion import run_of
from metaml.search.objectives import objective_of
from metaml.search.settings import TuneSettings
from metaml.spaces import Config
from metaml.splits import PLAN_SEED
from metaml.tuning.candidates import is_broad
from metaml.tuning.job_batch import Stage, run_batch
from metaml.tuning.trials import Trial, ranked

LEAST_ROWS = 300
"""With fewer rows a second layer learns the noise of the first."""
FEWEST_BASES, MOST_BASES, MOST_COLUMNS = 3, 14, 120
"""Members of the first layer that feed the second, and the columns that they may become."""
UNSELECTED = ("default", "warm start")
COST_MARGIN, SLACK = 1.3, 2.0
"""The second layer reads more columns than the first; a fit may take twice what is expected before it must stop."""
MOST_SHARE = 0.35
"""The largest share of the budget that the second layer may take, its check included."""
CHECK_FOLD, CHECK_SHARE = 0, 0.8
"""The fold that is set aside for the check, and what the others cost of all five."""
EVENT = "second layer"

Note = Callable[[str, Mapping[str, object]], None]


@dataclass(frozen=True)
class Stacker:
    """A configuration for the second layer, and the worker seconds that it should take there."""

    algorithm: str
    config: Config
    seconds: float


@dataclass(frozen=True, eq=False)
class SecondLayer:
    """The trials of the second layer, and those of the first that feed it.

    `why_not` says why there is none. `gain` is what the check found on rows that no layer had seen, in the unit of the
    metric; NaN without a check.
    """

    bases: tuple[Trial, ...] = ()
    trials: tuple[Trial, ...] = ()
    why_not: str = ""
    gain: float = math.nan
    seconds: float = 0.0


def can_have_layers(dataset: Dataset, plan: FoldPlan, settings: TuneSettings) -> bool:
    """Return whether a second layer is possible: it is wanted, and every row is tested in one of several folds.

    Under a split by time, the earliest rows are never tested: a second layer could not learn from the first on them
    without looking ahead, so there is none.
    """
    is_wanted = settings.n_layers == 2 or (settings.n_layers is None and settings.clock is not None)
    is_whole = plan.n_tested == len(dataset.y) >= LEAST_ROWS and plan.training is None and not plan.is_forward
    return is_wanted and plan.n_folds > 2 and is_whole


def is_base(trial: Trial) -> bool:
    """Return whether a trial may feed a second layer: complete, and not chosen for what it scored on these folds."""
    is_fair = trial.is_repeated or trial.run.origin in UNSELECTED
    return trial.outcome.status == "ok" and is_fair and math.isfinite(trial.score)


def bases_of(trials: Sequence[Trial], n_classes: int) -> list[Trial]:
    """Return the trials that feed a second layer, best first: distinct, one of each algorithm before a second one."""
    kept = [trial for trial in ranked(trials) if is_base(trial) and trial.outcome.predictions is not None]
    kept = [kept[place] for place in distinct([np.asarray(trial.outcome.predictions) for trial in kept])]
    most = min(MOST_BASES, MOST_COLUMNS // n_columns_of(n_classes))
    turns: Counter[str] = Counter()
    by_turn = []
    for place, trial in enumerate(kept):
        by_turn.append((turns[trial.run.algorithm], place))
        turns[trial.run.algorithm] += 1
    return [kept[place] for place in sorted(place for _, place in sorted(by_turn)[:most])]


def stackers_of(trials: Sequence[Trial]) -> list[Stacker]:
    """Return what the second layer tries first: the defaults of the algorithms that can stack, the quickest first.

    What each takes there is known from the first layer.
    """
    defaults = [trial for trial in _that_stack(trials) if trial.run.origin == "default"]
    return sorted(map(_stacker, defaults), key=lambda stacker: stacker.seconds)


def further_stackers(trials: Sequence[Trial]) -> list[Stacker]:
    """Return what the second layer tries if there is still time: the best other configuration of each algorithm."""
    others = {trial.run.algorithm: trial for trial in reversed(_that_stack(trials)) if trial.run.origin != "default"}
    return [_stacker(trial) for trial in ranked(list(others.values()))]


def _that_stack(trials: Sequence[Trial]) -> list[Trial]:
    return [trial for trial in ranked(trials) if ALGORITHMS[trial.run.algorithm].stacks]


def _stacker(trial: Trial) -> Stacker:
    return Stacker(trial.run.algorithm, dict(trial.run.config), COST_MARGIN * trial.outcome.seconds)


def second_layer_seconds(trials: Sequence[Trial], n_classes: int, settings: TuneSettings) -> float:
    """Return the wall-clock seconds to keep for a second layer and its check; 0 if nothing of it fits."""
    if settings.seconds is None or not is_broad(trials):
        return 0.0
    bases, stackers = bases_of(trials, n_classes), stackers_of(trials)
    if len(bases) < FEWEST_BASES:
        return 0.0
    bases, stackers = affordable(bases, stackers, MOST_SHARE * settings.seconds * settings.n_workers)
    return _seconds_of(bases, stackers) / settings.n_workers if stackers else 0.0


def affordable(
    bases: Sequence[Trial], stackers: Sequence[Stacker], seconds: float
) -> tuple[list[Trial], list[Stacker]]:
    """Return the members and stackers that fit, with the check, into some worker seconds; no stacker if too few do.

    The most expensive ones are left out first.
    """
    bases, stackers = list(bases), list(stackers)
    while stackers and _seconds_of(bases, stackers) > seconds:
        slowest = max(bases, key=lambda trial: trial.outcome.seconds)
        # A member of the first layer costs the check only; a stacker costs both.
        if len(bases) > FEWEST_BASES and slowest.outcome.seconds * CHECK_SHARE > stackers[-1].seconds:
            bases.remove(slowest)
        else:
            stackers.pop()
    return bases, stackers


def _seconds_of(bases: Sequence[Trial], stackers: Sequence[Stacker]) -> float:
    """Return the worker seconds of a second layer and of its check, which has one fold fewer."""
    layer = sum(stacker.seconds for stacker in stackers)
    return layer + CHECK_SHARE * (layer + sum(trial.outcome.seconds for trial in bases))


@dataclass(frozen=True, eq=False)
class Stacking(Stage):
    """Builds the second layer of a session on a data set, and tells `note` of it; `run` begins."""

    note: Note = field(kw_only=True)

    def run(self) -> SecondLayer:
        """Return the second layer that the time allows."""
        begun = self.budget.used
        if self.settings.clock is not None and not is_broad(self.found.trials):
            return SecondLayer(why_not="there was time for few evaluations only")
        n_classes = 0 if self.dataset.labels is None else len(self.dataset.labels)
        bases, stackers = bases_of(self.found.offered, n_classes), stackers_of(self.found.trials)
        if len(bases) < FEWEST_BASES:
            return SecondLayer(why_not=f"only {len(bases)} members could feed it")
        bases, stackers = affordable(bases, stackers, self.settings.n_workers * self.left)
        if not stackers:
            return SecondLayer(why_not="there was no time to check it")
        self.note(EVENT, {"bases": [trial.run.identity for trial in bases]})
        gain = self._check(bases, stackers)
        if not gain >= 0:
            why_not = "it did worse on rows that no layer had seen" if gain < 0 else "there was no time to check it"
            return SecondLayer(why_not=why_not, gain=gain, seconds=self.budget.used - begun)
        data = second_layer_data(self.dataset, [_predictions(trial.outcome) for trial in bases])
        trials = self._evaluated(data, [*stackers, *further_stackers(self.found.trials)])
        why_not = "" if trials else "there was no time for it"
        return SecondLayer(tuple(bases), tuple(trials), why_not, gain, self.budget.used - begun)

    def _check(self, bases: Sequence[Trial], stackers: Sequence[Stacker]) -> float:
        """Return what the whole stack gains on rows that it has not seen; NaN if there is no time to find out.

        A fold is set aside. Both layers are built on the others, in the same way, and their models predict it.
        """
        plan = self.found.judging_plan.without_fold(CHECK_FOLD)
        first = self._predicted(self.dataset, plan, [_stacker(trial) for trial in bases])
        if len(first) < FEWEST_BASES:
            return math.nan
        data = second_layer_data(self.dataset, first)
        second = self._predicted(data, plan, stackers)
        if not second:
            return math.nan
        gain = self._unseen_score([*first, *second], plan) - self._unseen_score(first, plan)
        self.note(EVENT, {"gain": gain})
        return gain

    def _unseen_score(self, predictions: Sequence[Array], plan: FoldPlan) -> float:
        """Return the score, on the rows that a plan does not use, of the ensemble chosen on the others."""
        used = np.flatnonzero(plan.assignment >= 0)
        weights = select(
            [prediction[used] for prediction in predictions],
            self.dataset.y[used],
            self.found.metric,
            folds=plan.assignment[used].astype(np.float64),
            row_weights=self.dataset.weights_of(used),
        )
        unseen = plan.unused
        together = combine([prediction[unseen] for prediction in predictions], weights)
        weight = self.dataset.weights_of(unseen)
        return score(together, self.dataset.y[unseen], self.found.metric, y=self.dataset.y, row_weights=weight)

    def _predicted(self, data: Dataset, plan: FoldPlan, stackers: Sequence[Stacker]) -> list[Array]:
        """Return what each configuration predicts for all rows, as far as it is complete in time."""
        self.executor.add(data)

        def job_of(stacker: Stacker, seconds: float) -> Job:
            return replace(self._job(data, plan, stacker, seconds), predicts_unused=True, keep_models=False)

        outcomes = run_batch(stackers, job_of, self.executor, left=lambda: self.left, is_over=self.should_stop)
        return [_predictions(outcome) for _, outcome in outcomes if outcome.status == "ok"]

    def _evaluated(self, data: Dataset, stackers: Sequence[Stacker]) -> list[Trial]:
        """Return the complete trials of the second layer."""
        self.executor.add(data)
        objective = objective_of(self.found.metric, self.dataset, self.found.judging_plan)

        def job_of(stacker: Stacker, seconds: float) -> Job:
            return self._job(data, self.found.judging_plan, stacker, seconds)

        trials = []
        for stacker, outcome in run_batch(
            stackers, job_of, self.executor, left=lambda: self.left, is_over=self.should_stop
        ):
            job = job_of(stacker, outcome.seconds)
            run = run_of(job, outcome, session=self.found.session, environment="", origin=EVENT)
            trial = Trial(run, replace(outcome, models=()), (objective.value(outcome),), self.budget.used, layer=2)
            self.note(EVENT, {**trial.as_event(), "algorithm": run.algorithm, "status": outcome.status})
            if outcome.status == "ok" and math.isfinite(trial.score):
                self.models.keep(run.identity, outcome.models)
                trials.append(trial)
        return trials

    def _job(self, data: Dataset, plan: FoldPlan, stacker: Stacker, seconds: float) -> Job:
        limits = replace(self.settings.limits, seconds=min(self.settings.limits.seconds, seconds))
        return Job(
            data.fingerprint,
            stacker.algorithm,
            stacker.config,
            plan,
            PLAN_SEED,
            limits,
            keep_predictions=True,
            keep_models=True,
            fit_seconds=None if self.settings.clock is None else SLACK * stacker.seconds / plan.n_folds,
        )


def _predictions(outcome: Outcome) -> Array:
    return np.asarray(outcome.predictions, dtype=np.float64)
