"""The session of `metaml tune`: the best configurations of any algorithm for one data set, within a budget.

Defaults come first, then what experience suggests, then a bandit over one optimizer per algorithm. Every run and every
decision is stored before the next choice is made, so a session can be resumed and replayed.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.ensemble.own_scores import with_own_scores
from metaml.evaluation import Executor, Job, Outcome, make_plan
from metaml.experience.advisor import Advisor
from metaml.experience.lesson_files import is_in_file
from metaml.metalearning.committee import ExperienceCommittee
from metaml.records.conversion import proposal_record, run_of
from metaml.records.kept_predictions import PredictionKeeper
from metaml.records.session_keys import INITIAL_DESIGN_ENDED
from metaml.search.bandit_search import NextTrial
from metaml.search.defaults import default_starts, starts_for_long_searches
from metaml.search.objectives import objectives_of, ranking_metric, valued
from metaml.search.plan import (
    INITIAL_SHARE,
    AnySearch,
    SearchPlan,
    build_search,
    origin_of,
    size_of,
)
from metaml.search.schedules import DEFAULT_SCHEDULE, Turn, schedule_named
from metaml.search.settings import TuneSettings, check_fits, folds_and_rows
from metaml.splits import PLAN_SEED
from metaml.tuning.candidates import without_weak
from metaml.tuning.job_limits import JobLimits, OpenJob
from metaml.tuning.ledger import Ledger
from metaml.tuning.resume import UnfinishedSession, plan_to_keep, settings_to_keep, this_process
from metaml.tuning.second_layer import UNSELECTED, is_base
from metaml.tuning.session_log import SessionLog
from metaml.tuning.stopping.goal import Goal
from metaml.tuning.trials import (
    FoldModels,
    Found,
    PartialModel,
    PredictionFiles,
    Trial,
    TuneProgress,
    expected_gain,
    finished_trial,
    ranked,
)
from metaml_kb import KnowledgeBase
from metaml_kb.errors import KBError

TICK_SECONDS = 0.2
CUT_OFF = ("timeout", "memory", "crashed")
"""How an evaluation ends that a limit, or its worker's death, cut off: its seconds are lost."""

Reserve = Callable[[Sequence[Trial]], float]
"""Given the trials so far, the seconds to keep for the end."""


class TuneSession:
    """One data set, one budget, one search, one knowledge base. The constructor stores; `run` begins.

    With `resumed`, an unfinished session goes on: its search plan is taken over, and no run is repeated. `n_workers`
    returns how many jobs are evaluated at a time; workers of a cluster come and go.
    """

    search_plan: SearchPlan
    search: AnySearch

    def __init__(
        self,
        dataset: Dataset,
        kb: KnowledgeBase,
        settings: TuneSettings,
        executor: Executor,
        *,
        budget: Budget | None = None,
        resumed: UnfinishedSession | None = None,
        prediction_files: PredictionFiles | None = None,
        models: FoldModels | None = None,
        n_workers: Callable[[], int] | None = None,
    ) -> None:
        self.dataset, self.kb, self.settings, self.executor = dataset, kb, settings, executor
        self._n_workers = n_workers or (lambda: settings.n_workers)
        self.budget = budget or Budget(settings.seconds)
        self.metric = ranking_metric(settings.metric, settings.objectives, dataset)
        check_fits(self.metric, settings.algorithms, dataset)
        self.goal = Goal.of(self.metric, settings.stop_at, settings.patience)
        n_folds, max_rows = folds_and_rows(dataset, settings)
        self.plan = make_plan(dataset, n_folds, PLAN_SEED, max_rows, splitter=settings.splitter)
        self.objectives = objectives_of(self.metric, settings.objectives, dataset, self.plan)
        self.prediction_files, self.models = prediction_files or PredictionFiles(None), models
        self.trials: list[Trial] = []
        self.ledger = Ledger()
        self.log = SessionLog(kb)
        self.keeper = PredictionKeeper(settings.keep_predictions)
        self.advisor = Advisor(kb, dataset, settings, metric=self.metric, plan=self.plan, ledger=self.ledger)
        self._resumed = resumed
        size, clock = size_of(dataset), settings.clock
        self._defaults = default_starts(dataset.task, settings.algorithms, size, seconds=clock)
        expensive = starts_for_long_searches(dataset.task, settings.algorithms, size, seconds=clock)
        may_take_longer, keeps = (*self._defaults, *expensive), models is not None
        self._limits = JobLimits(dataset, self.plan, self.metric, settings, self.budget, keeps, may_take_longer)
        self._partial_model: PartialModel | None = None
        self._open: dict[int, OpenJob] = {}
        self._n_asked, self._begun = 0, 0.0

    @property
    def key(self) -> str:
        """Return the session's key in the knowledge base; empty before it begins."""
        return self.log.key

    def run(
        self,
        *,
        reserve: Reserve = lambda _: 0.0,
        on_progress: Callable[[TuneProgress], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Evaluate until the budget, less what `reserve` keeps for the end, is used up; return what was found."""
        self.log.is_late = lambda: self.budget.is_used_up
        self.begin()
        self.log.is_late = lambda: should_stop() or self.budget.left <= reserve(self.trials)
        error = ""
        try:
            try:
                self._search(reserve, on_progress, should_stop)
            finally:
                self._cancel_open_jobs()
            self.log.flush()
        except KBError as refused:
            # What was found so far makes a model; the session stays open, so that it can be resumed.
            error = str(refused)
        warm = [(one.run.algorithm, dict(one.run.config)) for one in self.trials if one.run.origin == "warm start"]
        experience = self.advisor.contribution(warm, [(one.outcome.seconds, one.score) for one in ranked(self.trials)])
        trials, ledger = tuple(self.trials), dict(self.ledger.seconds)
        found = Found(self.key, self.metric, self.plan, trials, ledger, experience, error, self._partial_model)
        return replace(found, ended=self.goal.reached(trials))

    def _search(
        self, reserve: Reserve, on_progress: Callable[[TuneProgress], None], should_stop: Callable[[], bool]
    ) -> None:
        """Ask, evaluate, store and tell until the time is up, enough was evaluated or somebody wants to stop."""
        while True:
            self._use_new_experience(self._open.values())
            left = self.budget.left - reserve(self.trials)
            while len(self._open) < self._most_open and left > 0 and not should_stop() and self._wants_more():
                if not (choices := self._ask(self._rounds_left(left))):
                    break
                for choice in choices:
                    self._submit(choice, left)
            if not self._open or left <= 0 or should_stop() or self.goal.reached(self.trials):
                break
            finished = self.executor.next(timeout=min(TICK_SECONDS, left))
            if finished is not None:
                trial = self._finish(*finished)
                on_progress(self._progress(trial, left))
        while self._open and (finished := self.executor.next(timeout=0)) is not None:
            # What finished while the last run was stored is not lost.
            self._finish(*finished)

    def _progress(self, last: Trial, left: float) -> TuneProgress:
        """Return how far the search is, `left` seconds before it ends."""
        best = next(iter(ranked(self.trials)), None)
        n_more = self._rounds_left(left) if math.isfinite(left) or self.settings.n_iterations else None
        gain = None if n_more is None else expected_gain(self.trials, self.metric, n_more)
        return TuneProgress(len(self.trials), self.budget.used, self.metric, best, last, self.settings, gain)

    def close(self, *, final: Mapping[str, Any] | None = None, on_wait: Callable[[], None] = lambda: None) -> None:
        """Store that the session ended, with what its `final` model scores; before that, it can be resumed.

        If storing takes more than a moment, `on_wait` is called first.
        """
        self.log.close(final=final, on_wait=on_wait)
        self.prediction_files.clear()

    def end_in(self, seconds: float) -> None:
        """Leave at most so many seconds to what follows the search, if time counts at all."""
        if self.settings.clock is not None:
            self.budget = self.budget.ending_in(seconds)
            self.settings = replace(self.settings, seconds=self.budget.seconds)

    # Beginning

    def begin(self) -> None:
        """Submit the first jobs, ask the advisor for a plan, and open the session in the knowledge base."""
        resumed = self._resumed
        self.executor.add(self.dataset)
        # Workers evaluate defaults while the advisor reads the knowledge base, unless something better may be known.
        early = [] if resumed is not None or self.advisor.may_know_the_table else self._submit_defaults()
        is_new = self.log.store_dataset(self.dataset, self.plan)
        self.search_plan = self._plan(is_new=is_new)
        self.search = build_search(self.search_plan, self.advisor.experience)
        if resumed is None:
            kept = settings_to_keep(self.settings, self.dataset.fingerprint, self.plan)
            self.log.start(
                seed=self.settings.seed, settings={**kept, **plan_to_keep(self.search_plan, self.advisor.experience)}
            )
        else:
            self.log.key = resumed.key
            for trial in resumed.trials:
                self._resume(trial)
                self.trials.append(trial)
            self.log.note(
                "resumed", {"held_by": this_process(), **plan_to_keep(self.search_plan, self.advisor.experience)}
            )
        self._n_asked, self._begun = len(self.trials), self.budget.used
        # The search asks for what was submitted already: its plan begins with the defaults.
        self._open = {ticket: OpenJob(self._asked(self.search.ask(), None), job) for ticket, job in early}
        self._note_begun()

    def _submit_defaults(self) -> list[tuple[int, Job]]:
        """Submit the first jobs of any search, one for each worker; return them with their tickets."""
        settings = self.settings
        jobs = [self._limits.job(name, config, ()) for name, config in self._defaults]
        n = 0 if self.budget.is_used_up else min(self._n_workers(), settings.n_iterations or len(jobs))
        return [(self.executor.submit(job), job) for job in jobs[:n]]

    def _plan(self, *, is_new: bool) -> SearchPlan:
        """Return the search plan. With a time budget, it uses only the experience that is loaded already."""
        if self.settings.n_iterations is not None or not is_in_file(self.kb):
            with self.ledger.entry("memory"):
                plan = self.advisor.full_plan(is_new=is_new)
        else:
            plan = self.advisor.quick_plan()
            self.advisor.begin(is_new=is_new)
        return plan if self._resumed is None else self._resumed.search_plan

    def _use_new_experience(self, under_way: Iterable[OpenJob]) -> None:
        """Plan anew as soon as the advisor has read all experience; the new search knows what was done so far."""
        if self.advisor.experience is not None or not self.advisor.is_done:
            return
        done = [trial for trial in self.trials if trial.outcome.status == "ok"]
        finished = [(trial.run.algorithm, dict(trial.run.config), trial.outcome.seconds) for trial in done]
        plan = self.advisor.full_plan(finished=finished)
        if self.advisor.experience is None:
            return
        with self.ledger.entry("memory"):
            self.search_plan = plan
            self.search = build_search(plan, self.advisor.experience)
            for trial in self.trials:
                self._resume(trial)
            for opened in under_way:
                choice = opened.choice
                self.search.reopen(choice.algorithm, choice.proposal.config, share=choice.share)
        self.log.note("experience joined", self._kept_plan)

    def _resume(self, trial: Trial) -> None:
        """Tell a new search of a trial that finished before."""
        outcome = trial.outcome_by(self.metric, self.settings.objectives)
        self.search.resume(trial.run.algorithm, trial.config, outcome, share=trial.share)

    @property
    def _kept_plan(self) -> dict[str, object]:
        return plan_to_keep(self.search_plan, self.advisor.experience)

    # Asking

    @property
    def _most_open(self) -> int:
        """Return how many jobs are open at a time; under a time budget, one waits for the next free worker."""
        return self._n_workers() + (self.settings.n_iterations is None)

    def _wants_more(self) -> bool:
        most = self.settings.n_iterations
        return not self.goal.reached(self.trials) and (most is None or self._n_asked < most)

    def _rounds_left(self, left: float) -> int | None:
        """Return how many evaluations are still to come, as far as that is known."""
        if self.settings.n_iterations is not None:
            return self.settings.n_iterations - self._n_asked
        if not self.trials:
            return None
        typical = float(np.mean([trial.outcome.seconds for trial in self.trials]))
        return max(1, int(left * self._n_workers() / max(typical, 1e-3)))

    def _ask(self, rounds_left: int | None) -> list[NextTrial]:
        """Return what to evaluate next, by the schedule; empty if it waits for open jobs."""
        n_left = None if self.settings.n_iterations is None else self.settings.n_iterations - self._n_asked
        turn = Turn(self._n_workers(), len(self._open), rounds_left, n_left)
        with self.ledger.entry("optimiser"), self.budget.drag.watch():
            self._end_initial_design_in_time()
            is_batch = not self.search.is_in_initial_design and self.search_plan.schedule != DEFAULT_SCHEDULE
            choices = schedule_named(self.search_plan.schedule).ask(self.search, turn)
        # The first choice of a batch says what the batch was made for, so that it can be replayed.
        more = [{"turn": turn.as_json()} if is_batch and not place else {} for place in range(len(choices))]
        return [self._asked(choice, rounds_left, **extra) for choice, extra in zip(choices, more, strict=True)]

    def _asked(self, choice: NextTrial, rounds_left: int | None, **more: object) -> NextTrial:
        details = {"rounds_left": rounds_left, "algorithm": choice.algorithm, "config": choice.proposal.config}
        share = {"share": choice.share} if choice.share < 1.0 else {}
        self.log.note("asked", {**details, **share, **more})
        self._n_asked += 1
        return choice

    def _end_initial_design_in_time(self) -> None:
        """End a portfolio that takes too long, and log it: this decision depends on the clock."""
        share = INITIAL_SHARE * (self.budget.left + self.budget.used - self._begun)
        if self.search_plan.is_timed and self.search.is_in_initial_design and self.budget.used - self._begun > share:
            self.search.end_initial_design()
            self.log.note(INITIAL_DESIGN_ENDED, {})

    def _submit(self, choice: NextTrial, left: float) -> None:
        is_fair = origin_of(choice, self.dataset.task) in UNSELECTED
        job = self._limits.job(
            choice.algorithm, choice.proposal.config, self.trials, left, is_always_kept=is_fair, share=choice.share
        )
        self.log.store_plan(job.plan)
        self._open[self.executor.submit(job)] = OpenJob(choice, job)
        self._note_begun()

    def _note_begun(self) -> None:
        """Note when each job began: the oldest open jobs run, one per worker."""
        for opened in list(self._open.values())[: self._n_workers()]:
            if opened.begun is None:
                opened.begun = self.budget.used

    # Finishing

    def _finish(self, job: Job, outcome: Outcome) -> Trial:
        """Store a finished evaluation, tell the search, and return the trial."""
        ticket = next(ticket for ticket, opened in self._open.items() if opened.job is job)
        choice = self._open.pop(ticket).choice
        self._note_begun()
        trial = self._store(choice, job, outcome)
        self._keep_partial_model(ticket, job)
        return trial

    def _store(self, choice: NextTrial, job: Job, outcome: Outcome) -> Trial:
        """Store a finished evaluation before the search learns of it; one that cannot be stored still counts."""
        is_look = choice.share < 1.0
        objectives = objectives_of(self.metric, (), self.dataset, job.plan) if is_look else self.objectives
        outcome = with_own_scores(outcome, self.metric, self.dataset.y, job.plan.assignment, self.dataset.row_weights)
        scores, curve = valued(outcome, objectives, self.dataset)
        best = next(iter(ranked(self.trials)), None)
        is_best = outcome.status == "ok" and not is_look and (best is None or scores[0] > best.score)
        run = run_of(
            job,
            outcome,
            session=self.key,
            environment=self.log.environment_of(outcome),
            origin=origin_of(choice, self.dataset.task),
            proposal=proposal_record(choice.proposal, self._reasons(choice, is_best=is_best)),
            share=choice.share,
        )
        trial = finished_trial(run, outcome, scores, self.budget.used, choice, curve)
        if self.models is not None:
            self.models.keep(run.identity, outcome.models, outcome.one_model)
        self.trials.append(trial)
        purpose = "killed" if outcome.status in CUT_OFF else "evaluations"
        self.ledger.add(purpose, outcome.seconds / self._n_workers())
        self.log.note("finished", trial.as_event())
        self.keeper.add(self.dataset)
        self.log.store(self.keeper.with_predictions(run, trial.outcome.predictions))
        with self.ledger.entry("optimiser"):
            self.search.tell(choice.algorithm, trial.config, trial.outcome_by(self.metric, self.settings.objectives))
        self.prediction_files.keep(run.identity, trial.outcome.predictions)
        self._forget_weak_trials()
        return trial

    def _reasons(self, choice: NextTrial, *, is_best: bool) -> dict[str, Any]:
        """Return what experience says for a choice: in detail if it is the new best."""
        name, proposal = choice.algorithm, choice.proposal
        if proposal.proposer not in ("start", ExperienceCommittee.name):
            return {}
        with self.ledger.entry("optimiser"):
            return self.advisor.reasons(name, proposal.config, in_detail=is_best)

    def _keep_partial_model(self, ticket: int, job: Job) -> None:
        """Keep what was fitted to the first folds of a job, if it is the best while no trial is complete."""
        folds = self.executor.take_folds(ticket)
        if not folds or any(trial.outcome.status == "ok" for trial in self.trials):
            return
        score = np.nan_to_num(folds[0].scores.get(self.metric, math.nan), nan=-math.inf)
        if self._partial_model is None or score > self._partial_model.score:
            self._partial_model = PartialModel(job.algorithm, job.config, folds, float(score))

    def _cancel_open_jobs(self) -> None:
        """End what is still evaluated."""
        for ticket, opened in self._open.items():
            self.executor.cancel(ticket)
            self._keep_partial_model(ticket, opened.job)
            if opened.begun is not None:
                self.ledger.add("killed", (self.budget.used - opened.begun) / self._n_workers())
            asked = opened.choice
            self.log.note("killed", {"algorithm": asked.algorithm, "config": asked.proposal.config})

    def _forget_weak_trials(self) -> None:
        """Delete predictions and models that no ensemble will choose, to limit memory and disk."""
        self.trials, runs = without_weak(self.trials, is_base)
        self.prediction_files.keep_only(runs)
        if self.models is not None:
            self.models.keep_only(runs)
