"""Tuning: the best configurations of any algorithm for one data set, within a budget.

Defaults first, then what experience suggests, then a bandit over one optimizer per algorithm. Every run is stored
before the next choice is made, and so is every decision: a session can be resumed, and replayed.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.bandits import DEFAULT_POLICY
from metaml.budget import Budget
from metaml.data import Dataset
from metaml.encoding import Facts
from metaml.errors import BadRequest
from metaml.evaluation import FoldPlan, Job, Limits, Outcome, Pool, Race, default_metric, make_plan, metric
from metaml.evaluation.environment import environment
from metaml.lineup import OPENING_SHARE, LineUp, line_up, search_of
from metaml.memory import Memory, Wanted, remember
from metaml.metalearning.experience import ExperienceCommittee
from metaml.metalearning.table import to_leave_out
from metaml.recording import environment_record, fold_plan_record, run_of, store_dataset
from metaml.report import Experience
from metaml.search import Choice
from metaml.trials import CutShort, Spool, Trial, ranked
from metaml_kb import KnowledgeBase, ProposalRecord

PLAN_SEED = 0
"""The folds are those of the bot, so that its runs and ours can be compared."""
DEFAULT_LIMITS = Limits(seconds=120.0, megabytes=4000.0)
MOST_KEPT = 60
"""Out-of-fold predictions of this many best runs are kept for the ensemble."""
TICK_SECONDS = 0.2
DESCRIBE_SHARE = 0.02
EVALUATION_SHARE, CELLS_PER_SECOND, LEAST_ROWS = 0.08, 1e6, 2000
"""Larger data are cut so that a cross-validation of the default LightGBM takes about this share of the time."""


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """What is asked for; a session ends after `seconds` or `n_iterations`, whichever comes first."""

    metric: str = "auto"
    seconds: float | None = 300.0
    n_iterations: int | None = None
    algorithms: tuple[str, ...] = tuple(ALGORITHMS)
    strategy: str = "default"
    bandit: str = DEFAULT_POLICY
    n_workers: int = 1
    n_folds: int = 5
    limits: Limits = DEFAULT_LIMITS
    max_rows: int | None = None
    seed: int = 0
    uses_memory: bool = True
    exclude_datasets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [name for name in self.algorithms if name not in ALGORITHMS]
        if unknown or not self.algorithms:
            named = ", ".join(unknown) or "nothing"
            raise BadRequest(f"There is no algorithm {named}. Choose among: {', '.join(ALGORITHMS)}.")
        if self.seconds is None and self.n_iterations is None:
            raise BadRequest("A session without end was asked for. Give a time budget or a number of iterations.")


@dataclass(frozen=True)
class TuneProgress:
    """How far a session has come, for the person who watches."""

    n_done: int
    seconds: float
    metric: str
    best: Trial | None
    last: Trial


@dataclass(frozen=True, eq=False)
class Found:
    """What a session found: its trials in the order in which they finished, and where its seconds went."""

    session: str
    metric: str
    plan: FoldPlan
    trials: tuple[Trial, ...]
    ledger: Mapping[str, float] = field(default_factory=dict)
    experience: Experience | None = None

    @property
    def ranked(self) -> list[Trial]:
        """Return the complete trials, best first."""
        return ranked(self.trials)


class TuneSession:
    """One data set, one budget, one search, one knowledge base; complete when constructed.

    With `resumed`, a session that was cut short goes on: its line-up is taken over, and none of its runs is repeated.
    """

    def __init__(
        self,
        dataset: Dataset,
        kb: KnowledgeBase,
        settings: TuneSettings,
        pool: Pool,
        *,
        budget: Budget | None = None,
        resumed: CutShort | None = None,
        spool: Spool | None = None,
    ) -> None:
        self.dataset, self.kb, self.settings, self.pool = dataset, kb, settings, pool
        self.budget = budget or Budget(settings.seconds)
        self.metric = default_metric(dataset.task) if settings.metric == "auto" else metric(settings.metric).name
        _check_metric(self.metric, dataset)
        self.plan = make_plan(dataset, settings.n_folds, PLAN_SEED, most_rows(dataset, settings))
        self.spool = spool or Spool(None)
        self.ledger = dict.fromkeys(("metafeatures", "memory", "evaluations", "killed", "optimiser"), 0.0)
        self.trials: list[Trial] = []
        self._asked_at: dict[int, float] = {}
        with self._entry("metafeatures"):
            store_dataset(kb, dataset, "file", seconds=_describe_seconds(settings))
        with self._entry("memory"):
            self._machine = kb.add_environment(environment_record())
            self.memory = self._remember()
            self.lineup = self._line_up() if resumed is None else resumed.lineup
            self.search = search_of(self.lineup, self.memory)
        kb.add_fold_plan(fold_plan_record(self.plan))
        self.key = (
            kb.start_session("tune", seed=settings.seed, settings=self._plain()) if resumed is None else resumed.key
        )
        for trial in () if resumed is None else resumed.trials:
            self.search.resume(trial.run.algorithm, dict(trial.run.config), trial.outcome)
            self.trials.append(trial)
        self._n_asked = len(self.trials)
        pool.add(dataset)

    def run(
        self,
        *,
        reserve: Callable[[Sequence[Trial]], float] = lambda _: 0.0,
        on_progress: Callable[[TuneProgress], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Found:
        """Evaluate until the budget, less what `reserve` keeps for the end, is used up; return what was found."""
        in_flight: dict[int, tuple[Choice, Job]] = {}
        while True:
            left = self.budget.left - reserve(self.trials)
            while len(in_flight) < self.settings.n_workers and left > 0 and not should_stop() and self._wants_more():
                choice, job = self._next_job(left)
                in_flight[self.pool.submit(job)] = (choice, job)
            if not in_flight or left <= 0 or should_stop():
                break
            finished = self.pool.next(timeout=min(TICK_SECONDS, left))
            if finished is not None:
                job, outcome = finished
                ticket = next(ticket for ticket, (_, asked) in in_flight.items() if asked is job)
                choice, _ = in_flight.pop(ticket)
                trial = self._store(choice, job, outcome)
                best = next(iter(ranked(self.trials)), None)
                on_progress(TuneProgress(len(self.trials), self.budget.used, self.metric, best, trial))
        for ticket, (choice, job) in in_flight.items():
            self.pool.cancel(ticket)
            self.ledger["killed"] += (self.budget.used - self._asked_at[id(job)]) / self.settings.n_workers
            self.kb.add_event(self.key, "killed", {"algorithm": choice.algorithm, "config": job.config})
        return Found(self.key, self.metric, self.plan, tuple(self.trials), dict(self.ledger), self._contribution())

    def close(self) -> None:
        """Write down that the session ended; before, it can be resumed."""
        self.kb.finish_session(self.key)
        self.spool.clear()

    def _remember(self) -> Memory | None:
        """Return what the knowledge base has to say of this data set."""
        settings = self.settings
        if not settings.uses_memory:
            return None
        left_out = to_leave_out(self.kb, settings.exclude_datasets) if settings.exclude_datasets else ()
        wanted = Wanted(self.metric, self.dataset.task, settings.algorithms, left_out)
        table = self.kb.metafeatures().reindex([self.dataset.fingerprint])
        values = {str(name): float(value) for name, value in table.iloc[0].items()}
        return remember(self.kb, wanted, values, seconds=settings.seconds if settings.n_iterations is None else None)

    def _line_up(self) -> LineUp:
        settings = self.settings
        n_classes = 0 if self.dataset.labels is None else len(self.dataset.labels)
        return line_up(
            self.dataset.task,
            Facts(len(self.dataset.y), self.dataset.X.shape[1], n_classes),
            self.memory,
            metric=self.metric,
            algorithms=settings.algorithms,
            strategy=settings.strategy,
            bandit=settings.bandit,
            seed=settings.seed,
            seconds=settings.seconds,
            n_iterations=settings.n_iterations,
            reference_seconds=environment()["reference_seconds"],
        )

    @contextmanager
    def _entry(self, purpose: str) -> Iterator[None]:
        """Count the seconds of a block in the ledger."""
        begun = time.perf_counter()
        yield
        self.ledger[purpose] += time.perf_counter() - begun

    def _wants_more(self) -> bool:
        return self.settings.n_iterations is None or self._n_asked < self.settings.n_iterations

    def _next_job(self, left: float) -> tuple[Choice, Job]:
        """Return what to evaluate next, as a job that cannot outlast the session."""
        rounds_left = self._rounds_left(left)
        with self._entry("optimiser"):
            self._leave_opening_in_time()
            choice = self.search.ask(rounds_left)
        limits = replace(self.settings.limits, seconds=min(self.settings.limits.seconds, left))
        best = next(iter(ranked(self.trials)), None)
        race = None if best is None else Race(self.metric, best.outcome.scores[self.metric])
        job = Job(
            self.dataset.fingerprint,
            choice.algorithm,
            choice.proposal.config,
            self.plan,
            PLAN_SEED,
            limits,
            keep_predictions=True,
            race=race,
        )
        details = {"rounds_left": rounds_left, "algorithm": choice.algorithm, "config": job.config}
        self.kb.add_event(self.key, "asked", details)
        self._n_asked += 1
        self._asked_at[id(job)] = self.budget.used
        return choice, job

    def _leave_opening_in_time(self) -> None:
        """End an opening that takes too long, and write that down: it is a decision that depends on the clock."""
        seconds = self.settings.seconds
        if self.lineup.is_timed and seconds and self.search.is_opening and self.budget.used > OPENING_SHARE * seconds:
            self.search.end_opening()
            self.kb.add_event(self.key, "opening ended", {})

    def _rounds_left(self, left: float) -> int | None:
        """Return how many evaluations are still to come, as far as that is known."""
        if self.settings.n_iterations is not None:
            return self.settings.n_iterations - self._n_asked
        if not self.trials:
            return None
        typical = float(np.mean([trial.outcome.seconds for trial in self.trials]))
        return max(1, int(left * self.settings.n_workers / max(typical, 1e-3)))

    def _store(self, choice: Choice, job: Job, outcome: Outcome) -> Trial:
        """Keep a finished evaluation: in the knowledge base first, then in the search."""
        run = run_of(
            job,
            outcome,
            session=self.key,
            environment=self._machine,
            origin=_origin(choice, self.dataset),
            proposal=self._proposal_record(choice),
        )
        self.kb.add_run(run)
        trial = Trial(run, outcome, outcome.score(self.metric), self.budget.used)
        told = {"run": run.identity, "seconds": outcome.seconds, "at": trial.at}
        self.kb.add_event(self.key, "finished", told)
        self.ledger["evaluations"] += outcome.seconds / self.settings.n_workers
        with self._entry("optimiser"):
            self.search.tell(choice.algorithm, job.config, outcome)
        self.trials.append(trial)
        self.spool.keep(run.identity, outcome.predictions)
        self._forget_predictions()
        return trial

    def _proposal_record(self, choice: Choice) -> ProposalRecord:
        """Return who proposed a configuration and why, as the knowledge base keeps it."""
        proposal = choice.proposal
        is_advised = self.memory is not None and proposal.proposer in ("start", ExperienceCommittee.name)
        with self._entry("optimiser"):
            details = self.memory.reasons(choice.algorithm, proposal.config) if self.memory and is_advised else {}
        return ProposalRecord(
            proposer=proposal.proposer,
            predicted_score=proposal.score,
            predicted_std=proposal.std,
            predicted_seconds=proposal.seconds,
            acquisition=proposal.value,
            details=details,
        )

    def _contribution(self) -> Experience | None:
        if self.memory is None:
            return None
        return self.memory.contribution(sum(trial.run.origin == "warm start" for trial in self.trials))

    def _forget_predictions(self) -> None:
        """Keep the out-of-fold predictions of the best trials only, to bound memory."""
        kept = {id(trial) for trial in ranked(self.trials)[:MOST_KEPT]}
        self.trials = [
            trial
            if id(trial) in kept or trial.outcome.predictions is None
            else replace(trial, outcome=replace(trial.outcome, predictions=None))
            for trial in self.trials
        ]

    def _plain(self) -> dict[str, object]:
        settings = self.settings
        return {
            "dataset": self.dataset.fingerprint,
            "seconds": settings.seconds,
            "n_iterations": settings.n_iterations,
            "n_workers": settings.n_workers,
            "limit_seconds": settings.limits.seconds,
            "limit_megabytes": settings.limits.megabytes,
            "fold_plan": self.plan.hash,
            "lineup": self.lineup.as_json(),
            "lessons": None if self.memory is None else self.memory.lessons.revision,
            "left_out": list(settings.exclude_datasets),
            # As they were used: describing the data set again, with more time, may find more.
            "metafeatures": {} if self.memory is None else self.memory.known,
        }


def _check_metric(name: str, dataset: Dataset) -> None:
    if dataset.task not in metric(name).tasks:
        raise BadRequest(
            f"The metric {name} does not fit the {dataset.task} target {dataset.target!r}. "
            f"Leave out --metric, or choose one for {dataset.task}."
        )


def _describe_seconds(settings: TuneSettings) -> float:
    """Return the seconds that metafeatures may take; where evaluations are counted, enough for all of them."""
    if settings.seconds is None or settings.n_iterations is not None:
        return 10.0
    return min(max(DESCRIBE_SHARE * settings.seconds, 0.1), 2.0)


def most_rows(dataset: Dataset, settings: TuneSettings) -> int | None:
    """Return the rows to cross-validate on: so many that the time allows a dozen evaluations and more."""
    if settings.max_rows is not None or settings.seconds is None or settings.n_iterations is not None:
        return settings.max_rows
    n_columns, n_classes = max(dataset.X.shape[1], 1), 1 if dataset.labels is None else len(dataset.labels)
    trees = max(n_classes, 1) if dataset.task == "multiclass" else 1
    cells = EVALUATION_SHARE * settings.seconds * CELLS_PER_SECOND
    return max(int(cells / (settings.n_folds * n_columns * trees)), LEAST_ROWS)


def _origin(choice: Choice, dataset: Dataset) -> str:
    if choice.proposal.proposer == "random":
        return "random"
    if choice.proposal.proposer != "start":
        return "surrogate"
    is_default = choice.proposal.config == ALGORITHMS[choice.algorithm].space(dataset.task).default()
    return "default" if is_default else "warm start"
