"""Tuning: the best configurations of any algorithm for one data set, within a budget.

Defaults first, then what experience suggests, then a bandit over one optimizer per algorithm. Every run is stored
before the next choice is made, and so is every decision: a session can be resumed, and replayed.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.bandits import DEFAULT_POLICY
from metaml.budget import Budget
from metaml.config import Config
from metaml.data import Dataset
from metaml.encoding import Facts
from metaml.errors import BadRequest
from metaml.evaluation import FoldPlan, Job, Limits, Outcome, Pool, Race, default_metric, make_plan, metric
from metaml.optimizer import Optimizer, Proposal
from metaml.recording import environment_record, fold_plan_record, run_of, store_dataset
from metaml.search import Choice, Search
from metaml_kb import KnowledgeBase, ProposalRecord, Run

PLAN_SEED = 0
"""The folds are those of the bot, so that its runs and ours can be compared."""
FIRST = ("lightgbm", "random_forest", "xgboost", "extra_trees", "elastic_net", "gradient_boosting", "svm")
"""The order in which defaults are tried when nothing is known: strong and quick ones first."""
DEFAULT_LIMITS = Limits(seconds=120.0, megabytes=4000.0)
MOST_KEPT = 60
"""Out-of-fold predictions of this many best runs are kept for the ensemble."""
TICK_SECONDS = 0.2
DESCRIBE_SHARE = 0.02


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

    def __post_init__(self) -> None:
        unknown = [name for name in self.algorithms if name not in ALGORITHMS]
        if unknown or not self.algorithms:
            named = ", ".join(unknown) or "nothing"
            raise BadRequest(f"There is no algorithm {named}. Choose among: {', '.join(ALGORITHMS)}.")
        if self.seconds is None and self.n_iterations is None:
            raise BadRequest("A session without end was asked for. Give a time budget or a number of iterations.")


@dataclass(frozen=True, eq=False)
class Trial:
    """A finished evaluation of a session, and when it finished."""

    run: Run
    outcome: Outcome
    score: float
    at: float


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

    @property
    def ranked(self) -> list[Trial]:
        """Return the complete trials, best first."""
        return ranked(self.trials)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete ones of some trials, best first; the earlier of equals."""
    complete = [trial for trial in trials if trial.run.status == "ok" and np.isfinite(trial.score)]
    return sorted(complete, key=lambda trial: -trial.score)


class TuneSession:
    """One data set, one budget, one search, one knowledge base; complete when constructed."""

    def __init__(
        self,
        dataset: Dataset,
        kb: KnowledgeBase,
        settings: TuneSettings,
        pool: Pool,
        *,
        starts: Mapping[str, Sequence[Config]] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.dataset, self.kb, self.settings, self.pool = dataset, kb, settings, pool
        self.budget = budget or Budget(settings.seconds)
        self.metric = default_metric(dataset.task) if settings.metric == "auto" else metric(settings.metric).name
        _check_metric(self.metric, dataset)
        self.plan = make_plan(dataset, settings.n_folds, PLAN_SEED, settings.max_rows)
        is_timed = settings.n_iterations is None
        self.search = Search(self._optimizers(starts or {}), settings.bandit, seed=settings.seed, is_timed=is_timed)
        self.trials: list[Trial] = []
        self._optimiser_seconds = 0.0
        self._n_asked = 0
        share = 1.0 if settings.seconds is None else max(DESCRIBE_SHARE * settings.seconds, 0.1)
        store_dataset(kb, dataset, "file", seconds=min(share, 2.0))
        kb.add_fold_plan(fold_plan_record(self.plan))
        self.key = kb.start_session("tune", seed=settings.seed, settings=self._plain())
        self._machine = kb.add_environment(environment_record())
        pool.add(dataset)

    def resume(self, earlier: Sequence[Trial]) -> None:
        """Take over the finished trials of a session that was cut short; none of them is run again."""
        for trial in earlier:
            self.search.resume(trial.run.algorithm, dict(trial.run.config), trial.outcome)
            self.trials.append(trial)

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
            self.kb.add_event(self.key, "killed", {"algorithm": choice.algorithm, "config": job.config})
        self.kb.finish_session(self.key)
        busy = sum(trial.outcome.seconds for trial in self.trials)
        ledger = {"evaluations": busy, "optimiser": self._optimiser_seconds}
        return Found(self.key, self.metric, self.plan, tuple(self.trials), ledger)

    def _optimizers(self, starts: Mapping[str, Sequence[Config]]) -> dict[str, Optimizer]:
        """Return an optimizer per algorithm; the default configuration is the first of each."""
        n_classes = 0 if self.dataset.labels is None else len(self.dataset.labels)
        facts = Facts(len(self.dataset.y), self.dataset.X.shape[1], n_classes)
        order = [name for name in FIRST if name in self.settings.algorithms]
        order += [name for name in self.settings.algorithms if name not in order]
        optimizers = {}
        for name in order:
            space = ALGORITHMS[name].space(self.dataset.task)
            optimizers[name] = Optimizer(
                space,
                facts=facts,
                strategy=self.settings.strategy,
                starts=[space.default(), *starts.get(name, ())],
                metric=self.metric,
                seed=_seed_of(self.settings.seed, name),
            )
        return optimizers

    def _wants_more(self) -> bool:
        return self.settings.n_iterations is None or self._n_asked < self.settings.n_iterations

    def _next_job(self, left: float) -> tuple[Choice, Job]:
        """Return what to evaluate next, as a job that cannot outlast the session."""
        begun = time.perf_counter()
        choice = self.search.ask(self._rounds_left(left))
        self._optimiser_seconds += time.perf_counter() - begun
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
        details = {"number": self._n_asked, "algorithm": choice.algorithm, "config": job.config}
        self.kb.add_event(self.key, "asked", details)
        self._n_asked += 1
        return choice, job

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
            proposal=_proposal_record(choice.proposal),
        )
        self.kb.add_run(run)
        begun = time.perf_counter()
        self.search.tell(choice.algorithm, job.config, outcome)
        self._optimiser_seconds += time.perf_counter() - begun
        trial = Trial(run, outcome, outcome.score(self.metric), self.budget.used)
        self.trials.append(trial)
        self._forget_predictions()
        return trial

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
            "metric": self.metric,
            "seconds": settings.seconds,
            "n_iterations": settings.n_iterations,
            "algorithms": list(self.search.arms),
            "strategy": settings.strategy,
            "bandit": settings.bandit,
            "n_workers": settings.n_workers,
            "fold_plan": self.plan.hash,
        }


def _check_metric(name: str, dataset: Dataset) -> None:
    if dataset.task not in metric(name).tasks:
        raise BadRequest(
            f"The metric {name} does not fit the {dataset.task} target {dataset.target!r}. "
            f"Leave out --metric, or choose one for {dataset.task}."
        )


def _seed_of(seed: int, algorithm: str) -> int:
    return int.from_bytes(blake2b(f"{seed}|{algorithm}".encode(), digest_size=4).digest(), "big")


def _origin(choice: Choice, dataset: Dataset) -> str:
    if choice.proposal.proposer == "random":
        return "random"
    if choice.proposal.proposer != "start":
        return "surrogate"
    is_default = choice.proposal.config == ALGORITHMS[choice.algorithm].space(dataset.task).default()
    return "default" if is_default else "warm start"


def _proposal_record(proposal: Proposal) -> ProposalRecord:
    return ProposalRecord(
        proposer=proposal.proposer,
        predicted_score=proposal.score,
        predicted_std=proposal.std,
        predicted_seconds=proposal.seconds,
        acquisition=proposal.value,
    )
