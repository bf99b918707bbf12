"""Tuning: the best configurations of any algorithm for one data set, within a budget.

Defaults first, then what experience suggests, then a bandit over one optimizer per algorithm. Every run is stored
before the next choice is made, and so is every decision: a session can be resumed, and replayed.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.threshold_scores import depends_on_thresholds, threshold_score
from metaml.evaluation import Job, LocalExecutor, Outcome, Overtime, Race, default_metric, make_plan, metric
from metaml.experience.advisor import Advisor
from metaml.experience.lesson_files import is_in_file
from metaml.metalearning.committee import ExperienceCommittee
from metaml.records.conversion import dataset_record, environment_record, fold_plan_record, proposal_record, run_of
from metaml.search.bandit_search import NextTrial
from metaml.search.plan import OPENING_SHARE, build_search, default_starts, origin_of, size_of
from metaml.search.settings import TuneSettings, check_metric, folds_and_rows, longest_evaluation
from metaml.spaces.config import Config
from metaml.system.background_writer import BackgroundWriter
from metaml.tuning.resume import UnfinishedSession, settings_to_keep, this_process
from metaml.tuning.trials import FoldModels, Found, PartialModel, PredictionFiles, Trial, TuneProgress, ranked
from metaml_kb import KnowledgeBase
from metaml_kb.errors import KBError

PLAN_SEED = 0
"""The folds are those of the bot, so that its runs and ours can be compared."""
MOST_KEPT = 60
"""Out-of-fold predictions and fold models of this many best runs are kept for the ensemble."""
TICK_SECONDS, MOMENT_SECONDS = 0.2, 2.0


@dataclass(eq=False)
class _UnderWay:
    """A job that was asked for and has not come back, what it was chosen by, and since when it is evaluated."""

    choice: NextTrial
    job: Job
    begun: float | None = None


class TuneSession:
    """One data set, one budget, one search, one knowledge base; complete when constructed.

    With `resumed`, a session that was cut short goes on: its line-up is taken over, and none of its runs is repeated.
    """

    def __init__(
        self,
        dataset: Dataset,
        kb: KnowledgeBase,
        settings: TuneSettings,
        executor: LocalExecutor,
        *,
        budget: Budget | None = None,
        resumed: UnfinishedSession | None = None,
        prediction_files: PredictionFiles | None = None,
        models: FoldModels | None = None,
    ) -> None:
        self.dataset, self.kb, self.settings, self.executor = dataset, kb, settings, executor
        self.budget = budget or Budget(settings.seconds)
        self.metric = default_metric(dataset.task) if settings.metric == "auto" else metric(settings.metric).name
        check_metric(self.metric, dataset)
        n_folds, max_rows = folds_and_rows(dataset, settings)
        self.plan = make_plan(dataset, n_folds, PLAN_SEED, max_rows)
        self.prediction_files, self.models = prediction_files or PredictionFiles(None), models
        self.ledger = dict.fromkeys(("metafeatures", "memory", "evaluations", "killed", "optimiser"), 0.0)
        self.trials: list[Trial] = []
        self._rescued: PartialModel | None = None
        self._writer = BackgroundWriter()
        self._is_late: Callable[[], bool] = lambda: self.budget.is_used_up
        executor.add(dataset)
        self._first_defaults = default_starts(
            dataset.task, settings.algorithms, size_of(dataset), seconds=settings.clock
        )
        # While the workers evaluate what is evaluated in any case, there is time to think.
        self._early = [] if resumed is not None else self._begin()
        is_new = kb.add_dataset(dataset_record(dataset, "file", {}))
        kb.add_fold_plan(fold_plan_record(self.plan))
        self._machine = kb.add_environment(environment_record())
        self.advisor = Advisor(
            kb,
            dataset,
            settings,
            metric=self.metric,
            plan=self.plan,
            is_new=is_new,
            ledger=self.ledger,
        )
        if settings.n_iterations is not None or not is_in_file(kb):
            # Where the clock decides nothing, the search waits for experience.
            with self._entry("memory"):
                self.lineup = self.advisor.wait()
        else:
            self.lineup = self.advisor.open()
            self.advisor.begin()
        if resumed is not None:
            self.lineup = resumed.lineup
        self.search = build_search(self.lineup, self.advisor.experience)
        kept = settings_to_keep(settings, dataset.fingerprint, self.plan)
        self.key = (
            kb.start_session("tune", seed=settings.seed, settings={**kept, **self._plan_as_json()})
            if resumed is None
            else resumed.key
        )
        for trial in () if resumed is None else resumed.trials:
            self.search.resume(trial.run.algorithm, dict(trial.run.config), trial.told(self.metric))
            self.trials.append(trial)
        self._n_asked, self._begun = len(self.trials), self.budget.used
        self._events: list[tuple[str, Mapping[str, object]]] = []
        if resumed is not None:
            self._note("resumed", {"held_by": this_process(), **self._plan_as_json()})

    def _begin(self) -> list[tuple[int, Job]]:
        """Return the first jobs of any search, already submitted: as many as there are workers."""
        settings = self.settings
        jobs = [self._job(name, config) for name, config in self._first_defaults]
        n = 0 if self.budget.is_used_up else min(settings.n_workers, settings.n_iterations or len(jobs))
        return [(self.executor.submit(job), job) for job in jobs[:n]]

    def run(
        self,
        *,
        reserve: Callable[[Sequence[Trial]], float] = lambda _: 0.0,
        on_progress: Callable[[TuneProgress], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Evaluate until the budget, less what `reserve` keeps for the end, is used up; return what was found."""
        # The search asks for what is under way already: its opening begins with the default_starts.
        in_flight = {ticket: _UnderWay(self._asked(self.search.ask(), None), job) for ticket, job in self._early}
        self._early = []
        self._is_late = lambda: should_stop() or self.budget.left <= reserve(self.trials)
        self._note_begun(in_flight)
        trouble = ""
        try:
            try:
                self._search(in_flight, reserve, on_progress, should_stop)
            finally:
                self._kill(in_flight)
            self._write_events()
        except KBError as refused:
            # What was found so far makes a model; the session stays open, so that it can be resumed.
            trouble = str(refused)
        experience = self.advisor.contribution(sum(trial.run.origin == "warm start" for trial in self.trials))
        trials, ledger = tuple(self.trials), dict(self.ledger)
        return Found(self.key, self.metric, self.plan, trials, ledger, experience, trouble, self._rescued)

    def _search(
        self,
        in_flight: dict[int, _UnderWay],
        reserve: Callable[[Sequence[Trial]], float],
        on_progress: Callable[[TuneProgress], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Ask, evaluate, store and tell until the time is up, enough was evaluated or somebody wants to stop."""
        while True:
            self._listen_to_experience(in_flight.values())
            left = self.budget.left - reserve(self.trials)
            while len(in_flight) < self._most_open and left > 0 and not should_stop() and self._wants_more():
                asked = self._next(left)
                in_flight[self.executor.submit(asked.job)] = asked
                self._note_begun(in_flight)
            if not in_flight or left <= 0 or should_stop():
                break
            finished = self.executor.next(timeout=min(TICK_SECONDS, left))
            if finished is not None:
                trial = self._store_next(in_flight, finished)
                best = next(iter(ranked(self.trials)), None)
                on_progress(TuneProgress(len(self.trials), self.budget.used, self.metric, best, trial, self.settings))
        while in_flight and (finished := self.executor.next(timeout=0)) is not None:
            # What has finished while the last one was stored is not lost.
            self._store_next(in_flight, finished)

    def _kill(self, in_flight: Mapping[int, _UnderWay]) -> None:
        """End what is still under way."""
        for ticket, asked in in_flight.items():
            self.executor.cancel(ticket)
            self._rescue(ticket, asked.job)
            if asked.begun is not None:
                self.ledger["killed"] += (self.budget.used - asked.begun) / self.settings.n_workers
            self._note("killed", {"algorithm": asked.job.algorithm, "config": asked.job.config})

    def _store_next(self, in_flight: dict[int, _UnderWay], finished: tuple[Job, Outcome]) -> Trial:
        job, outcome = finished
        ticket = next(ticket for ticket, asked in in_flight.items() if asked.job is job)
        choice = in_flight.pop(ticket).choice
        self._note_begun(in_flight)
        trial = self._store(choice, job, outcome)
        self._rescue(ticket, job)
        return trial

    def _rescue(self, ticket: int, job: Job) -> None:
        """Remember what was fitted to the first folds of a job, if it is the best there is while none is complete."""
        folds = self.executor.take_folds(ticket)
        if not folds or any(trial.run.status == "ok" for trial in self.trials):
            return
        score = np.nan_to_num(folds[0].scores.get(self.metric, math.nan), nan=-math.inf)
        if self._rescued is None or score > self._rescued.score:
            self._rescued = PartialModel(job.algorithm, job.config, folds, float(score))

    def _note_begun(self, in_flight: Mapping[int, _UnderWay]) -> None:
        """Write down since when each job is evaluated: those asked for first are, as many as there are workers."""
        for asked in list(in_flight.values())[: self.settings.n_workers]:
            if asked.begun is None:
                asked.begun = self.budget.used

    def close(self, *, on_wait: Callable[[], None] = lambda: None) -> None:
        """Write down that the session ended, and what could not be written in time; before, it can be resumed.

        Where that takes more than a moment, `on_wait` is called before it is waited for.
        """
        moment = Budget(MOMENT_SECONDS)
        if not self._writer.write(partial(self.kb.finish_session, self.key), is_late=lambda: moment.is_used_up):
            on_wait()
            self._writer.wait()
        self.prediction_files.clear()

    def _listen_to_experience(self, under_way: Iterable[_UnderWay]) -> None:
        """Let the knowledge base into the search as soon as it has spoken; from then on, a new search goes on."""
        if self.advisor.experience is not None or not self.advisor.is_done:
            return
        lineup = self.advisor.wait()
        if self.advisor.experience is None:
            return
        with self._entry("memory"):
            self.lineup = lineup
            self.search = build_search(self.lineup, self.advisor.experience)
            for trial in self.trials:
                self.search.resume(trial.run.algorithm, dict(trial.run.config), trial.told(self.metric))
            for asked in under_way:
                self.search.reopen(asked.job.algorithm, asked.job.config)
        self._note("experience joined", self._plan_as_json())

    def _note(self, kind: str, details: Mapping[str, object]) -> None:
        """Write down what happened: with the next run, and so before anything rests on it."""
        self._events.append((kind, details))

    def _write_events(self) -> None:
        """Store what happened since the last run."""
        events, self._events = self._events, []
        self._writer.write(partial(self.kb.add_events, self.key, events), is_late=self._is_late)

    @contextmanager
    def _entry(self, purpose: str) -> Iterator[None]:
        """Count the seconds of a block in the ledger."""
        begun = time.perf_counter()
        yield
        self.ledger[purpose] += time.perf_counter() - begun

    @property
    def _most_open(self) -> int:
        """Return how many evaluations are asked for at a time: under a time budget, one waits for the next worker."""
        return self.settings.n_workers + (self.settings.n_iterations is None)

    def _wants_more(self) -> bool:
        return self.settings.n_iterations is None or self._n_asked < self.settings.n_iterations

    def _next(self, left: float) -> _UnderWay:
        """Return what to evaluate next, as a job that cannot outlast the session."""
        choice = self._next_choice(self._rounds_left(left))
        return _UnderWay(choice, self._job(choice.algorithm, choice.proposal.config, left))

    def _next_choice(self, rounds_left: int | None) -> NextTrial:
        """Return what the search wants next, written down as asked for."""
        with self._entry("optimiser"), self.budget.drag.watch():
            self._leave_opening_in_time()
            choice = self.search.ask(rounds_left)
        return self._asked(choice, rounds_left)

    def _asked(self, choice: NextTrial, rounds_left: int | None) -> NextTrial:
        """Write down what is asked for."""
        details = {"rounds_left": rounds_left, "algorithm": choice.algorithm, "config": choice.proposal.config}
        self._note("asked", details)
        self._n_asked += 1
        return choice

    def _job(self, algorithm: str, config: Config, left: float = math.inf) -> Job:
        left = min(left, self.budget.left)
        complete = ranked(self.trials)
        quickest = min((trial.outcome.seconds for trial in complete), default=None)
        is_first_default = (algorithm, config) in self._first_defaults
        longest = longest_evaluation(self.settings, quickest, is_first_default=is_first_default)
        # Against the best of its own algorithm: what is weaker alone may be what an ensemble lacks.
        best = next((trial for trial in complete if trial.run.algorithm == algorithm), None)
        # What a configuration is worth after thresholds cannot be seen on its first folds.
        has_race = not depends_on_thresholds(self.metric)
        race = Race(self.metric, best.outcome.scores[self.metric]) if best is not None and has_race else None
        return Job(
            self.dataset.fingerprint,
            algorithm,
            config,
            self.plan,
            PLAN_SEED,
            replace(self.settings.limits, seconds=min(longest, left)),
            keep_predictions=True,
            keep_models=self.models is not None,
            tells_folds=self.models is not None and not complete and self.plan.n_folds > 1,
            race=race,
            overtime=self._overtime(complete, left),
        )

    def _overtime(self, complete: Sequence[Trial], left: float) -> Overtime | None:
        """Return what an evaluation may take that is better than the best so far; None where time does not count."""
        if self.settings.clock is None:
            return None
        best = complete[0].outcome.scores[self.metric] if complete else ()
        return Overtime(self.metric, best, self.settings.limits.seconds, until=time.monotonic() + left)

    def _leave_opening_in_time(self) -> None:
        """End an opening that takes too long, and write that down: it is a decision that depends on the clock."""
        share = OPENING_SHARE * (self.budget.left + self.budget.used - self._begun)
        if self.lineup.is_timed and self.search.is_opening and self.budget.used - self._begun > share:
            self.search.end_opening()
            self._note("opening ended", {})

    def _rounds_left(self, left: float) -> int | None:
        """Return how many evaluations are still to come, as far as that is known."""
        if self.settings.n_iterations is not None:
            return self.settings.n_iterations - self._n_asked
        if not self.trials:
            return None
        typical = float(np.mean([trial.outcome.seconds for trial in self.trials]))
        return max(1, int(left * self.settings.n_workers / max(typical, 1e-3)))

    def _store(self, choice: NextTrial, job: Job, outcome: Outcome) -> Trial:
        """Keep a finished evaluation: in the knowledge base first, then in the search."""
        score = threshold_score(outcome, self.dataset.y, self.plan.assignment, self.metric)
        best = next(iter(ranked(self.trials)), None)
        is_best = outcome.status == "ok" and (best is None or score > best.score)
        run = run_of(
            job,
            outcome,
            session=self.key,
            environment=self._machine,
            origin=origin_of(choice, self.dataset.task),
            proposal=proposal_record(choice.proposal, self._reasons(choice, is_best=is_best)),
        )
        trial = Trial(run, replace(outcome, models=()), score, self.budget.used)
        told: dict[str, object] = {"run": run.identity, "seconds": outcome.seconds, "at": trial.at}
        if outcome.expected_seconds:
            told["expected"] = outcome.expected_seconds
        if math.isfinite(score):
            # Nobody could judge again without predictions, and a run that was known before keeps its own scores.
            told["score"] = score
        self._note("finished", told)
        events, self._events = self._events, []
        self._writer.write(partial(self.kb.add_run, run, events=events), is_late=self._is_late)
        if self.models is not None:
            self.models.keep(run.identity, outcome.models)
        self.ledger["evaluations"] += outcome.seconds / self.settings.n_workers
        with self._entry("optimiser"):
            self.search.tell(choice.algorithm, job.config, trial.told(self.metric))
        self.trials.append(trial)
        self.prediction_files.keep(run.identity, outcome.predictions)
        self._forget()
        return trial

    def _reasons(self, choice: NextTrial, *, is_best: bool) -> dict[str, Any]:
        """Return what of experience speaks for a choice: in detail for a new best one."""
        name, proposal = choice.algorithm, choice.proposal
        if proposal.proposer not in ("start", ExperienceCommittee.name):
            return {}
        with self._entry("optimiser"):
            return self.advisor.reasons(name, proposal.config, in_detail=is_best)

    def _forget(self) -> None:
        """Keep predictions and models of the best trials only, to bound memory and disk."""
        best = ranked(self.trials)[:MOST_KEPT]
        kept = {id(trial) for trial in best}
        runs = {trial.run.identity for trial in best}
        self.prediction_files.keep_only(runs)
        if self.models is not None:
            self.models.keep_only(runs)
        self.trials = [
            trial
            if id(trial) in kept or trial.outcome.predictions is None
            else replace(trial, outcome=replace(trial.outcome, predictions=None))
            for trial in self.trials
        ]

    def _plan_as_json(self) -> dict[str, object]:
        """Return the line-up, and what of the knowledge base it rests on."""
        experience = self.advisor.experience
        return {
            "lineup": self.lineup.as_json(),
            "lessons": None if experience is None else experience.lessons.revision,
            # As they were used: describing the data set again, with more time, may find more.
            "metafeatures": {} if experience is None else experience.known,
        }
