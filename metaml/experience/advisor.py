"""The advisor of a search: the plan with what can be read at once, and a better one when all experience is read."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.evaluation import METRICS, FoldPlan, default_metric
from metaml.evaluation.environment import environment
from metaml.experience.earlier_versions import EarlierVersions, find_earlier_versions, may_have_earlier_versions
from metaml.experience.experience import BackgroundTask, Experience, recall_experience
from metaml.experience.lesson_files import LessonRequest, is_in_file, portfolio_at_hand
from metaml.experience.load_history import to_leave_out
from metaml.experience.worth_facts import worth_facts
from metaml.metafeatures import GROUPS, OUT_OF_TIME
from metaml.metafeatures.description import describe_with
from metaml.metalearning.initial_design import FinishedRun, InitialDesign
from metaml.metalearning.portfolio import Portfolio
from metaml.records.conversion import store_metafeatures
from metaml.report import ExperienceFacts, WorthFacts
from metaml.search.defaults import default_starts
from metaml.search.fidelity_search import shares_of
from metaml.search.plan import SearchPlan, inert_settings, make_search_plan, size_of
from metaml.search.settings import TuneSettings, describe_seconds
from metaml.spaces import Config
from metaml_kb import KnowledgeBase

LEAST_SECONDS = 20.0
"""With a smaller time budget only the portfolio is used: reading all experience takes seconds of the workers' time."""


class Stopwatch(Protocol):
    """Counts seconds by purpose."""

    def entry(self, purpose: str) -> AbstractContextManager[None]:
        """Count the seconds of a block."""
        ...


class Advisor:
    """What the knowledge base says about one data set, as a plan for its search.

    `quick_plan` reads the portfolio and earlier versions of the table, which takes milliseconds. `begin` reads the
    rest in the background, and `full_plan` waits for it. The constructor stores; nothing is read before.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        dataset: Dataset,
        settings: TuneSettings,
        *,
        metric: str,
        plan: FoldPlan,
        ledger: Stopwatch,
    ) -> None:
        self._kb, self._dataset, self._settings = kb, dataset, settings
        self._metric, self._fold_plan, self._ledger = metric, plan, ledger
        self._task: BackgroundTask[Experience] = BackgroundTask(self._read_all)
        self._is_new = False
        self.experience: Experience | None = None
        self.design: InitialDesign | None = None
        self._portfolio: Portfolio | None = None
        self._earlier: EarlierVersions | None = None

    @property
    def may_know_the_table(self) -> bool:
        """Return whether an earlier version of the table may be known. Then the plan decides what comes first."""
        if not self._settings.uses_memory or self._settings.clock is None:
            return False
        return bool(BackgroundTask(lambda: may_have_earlier_versions(self._kb, self._dataset)).wait())

    @property
    def is_done(self) -> bool:
        """Return whether everything was read that can be."""
        return self._task.is_done

    def quick_plan(self) -> SearchPlan:
        """Return the plan that follows from what can be read at once."""
        if self._settings.uses_memory:
            with self._ledger.entry("memory"):
                self._portfolio = portfolio_at_hand(self._kb, self._request)
            with self._ledger.entry("metafeatures"):
                simple = self._simple_metafeatures()
            with self._ledger.entry("memory"):
                self._earlier = self._find_earlier_versions(simple)
            if self._portfolio is not None:
                self.design = self._design(self._portfolio, simple)
        return self._plan()

    def begin(self, *, is_new: bool) -> None:
        """Read the rest in the background, if there is time to use it; a new data set is described in any case."""
        self._is_new = is_new
        seconds = self._settings.seconds
        if seconds is None or seconds >= LEAST_SECONDS or self._portfolio is None:
            self._task.begin()
        elif is_new:
            self._task = BackgroundTask(self._describe)
            self._task.begin()

    def full_plan(self, *, is_new: bool = False, finished: Sequence[FinishedRun] = ()) -> SearchPlan:
        """Return the plan that follows from all experience; wait until it is read.

        `finished` are the evaluations so far: they correct how long others are expected to take.
        """
        self._is_new = self._is_new or is_new
        if self._settings.uses_memory and self._earlier is None:
            self._earlier = self._find_earlier_versions(self._simple_metafeatures())
        found = self._task.wait()
        if found is not None:
            self.experience = found
            self.design = self._design(found.lessons.portfolio, found.metafeatures, finished)
        return self._plan()

    def _plan(self) -> SearchPlan:
        """Return the plan with what is known now: the only place that builds one."""
        return make_search_plan(
            self._dataset.task,
            size_of(self._dataset),
            inert_settings(self._dataset),
            self.design,
            self.experience,
            settings=self._settings,
            metric=self._metric,
            earlier=() if self._earlier is None else self._earlier.configs,
            members=() if self._earlier is None or self._settings.clock is None else self._earlier.members,
            shares=shares_of(self._settings.search, self._settings.fidelity, self._fold_plan),
            n_sources=len(self._dataset.ranking),
        )

    def reasons(self, algorithm: str, config: Config, *, in_detail: bool = True) -> dict[str, Any]:
        """Return why experience suggests a configuration, as far as it is known now."""
        if self.experience is not None:
            found = self.experience.reasons(algorithm, config, in_detail=in_detail)
        else:
            found = {} if self.design is None else self.design.reasons(algorithm, config)
        carriers = [] if self._earlier is None else self._earlier.carriers(algorithm, config)
        return {**found, "carriers": [*carriers, *found.get("carriers", [])]} if carriers else found

    def contribution(
        self, warm_starts: Sequence[tuple[str, Config]], evaluated: Sequence[tuple[float, float]] = ()
    ) -> ExperienceFacts | None:
        """Return what the report says about the knowledge base; None if it contributed nothing.

        `warm_starts` are the ones that were evaluated, each an algorithm and a configuration; `evaluated` are the
        seconds and scores of all complete evaluations.
        """
        n = len(warm_starts)
        facts = self._contribution(n)
        if facts is not None and facts.n_runs and n:
            facts = replace(facts, worth=self._worth(n, evaluated))
        earlier = self._earlier
        if earlier is None or not earlier.inherited:
            return facts
        if facts is None or not facts.n_runs:
            facts = ExperienceFacts(n_datasets=len(earlier.names), n_runs=earlier.n_runs, n_warm_starts=n)
        known = earlier.configs
        n_inherited = sum(pair in known for pair in warm_starts)
        return replace(facts, inherited_from=earlier.names, n_inherited=n_inherited, drift=earlier.drift)

    def _worth(self, n_warm_starts: int, evaluated: Sequence[tuple[float, float]]) -> WorthFacts | None:
        """Return what the warm starts saved; None if nothing can be said."""
        portfolio = self._portfolio if self.experience is None else self.experience.lessons.portfolio
        if portfolio is None:
            return None
        settings, task = self._settings, self._dataset.task
        defaults = default_starts(task, settings.algorithms, size_of(self._dataset), seconds=settings.clock)
        return worth_facts(
            portfolio.of(settings.algorithms),
            self._simple_metafeatures(),
            len(defaults) + n_warm_starts,
            defaults=defaults,
            evaluated=evaluated,
        )

    def _contribution(self, n_warm_starts: int) -> ExperienceFacts | None:
        if self.experience is not None:
            return self.experience.contribution(n_warm_starts)
        error = self._task.error
        if self.design is None or self._portfolio is None or not self.design.is_usable:
            return ExperienceFacts(n_datasets=0, n_runs=0, similar=(), n_warm_starts=0, text=error) if error else None
        is_short = self._settings.seconds is not None and self._settings.seconds < LEAST_SECONDS
        text = "The search was too short to use more than its portfolio." if is_short else ""
        return ExperienceFacts(
            n_datasets=self._portfolio.n_taught,
            n_runs=self._portfolio.n_runs,
            similar=self.design.similar,
            n_warm_starts=n_warm_starts,
            text=error or text,
        )

    def _simple_metafeatures(self) -> dict[str, float]:
        """Return the metafeatures that take no time."""
        return describe_with({"simple": GROUPS["simple"]}, self._dataset, None).values

    def _find_earlier_versions(self, simple: dict[str, float]) -> EarlierVersions:
        """Return what did best on earlier versions of the table; nothing if the knowledge base cannot be read."""
        find = partial(
            find_earlier_versions,
            self._kb,
            self._dataset,
            self._fold_plan,
            metric=self._metric,
            algorithms=self._settings.algorithms,
            simple=simple,
            left_out=self._request.left_out,
            budget_seconds=self._settings.clock,
        )
        return BackgroundTask(find).wait() or EarlierVersions()

    @cached_property
    def _request(self) -> LessonRequest:
        left_out = self._settings.exclude_datasets
        fingerprints = to_leave_out(self._kb, left_out) if left_out else ()
        # Nobody else has runs by costs or functions of this user: what does well by the usual metric does well by most.
        metric = self._metric if self._metric in METRICS else default_metric(self._dataset.task)
        return LessonRequest(metric, self._dataset.task, self._settings.algorithms, fingerprints)

    def _read_all(self) -> Experience | None:
        """Return the experience for this data set, which is described first if it is new and its values are needed."""
        settings = self._settings
        if settings.uses_memory or is_in_file(self._kb):
            self._describe()
        if not settings.uses_memory:
            return None
        table = self._kb.metafeatures().reindex([self._dataset.fingerprint])
        values = {str(name): float(value) for name, value in table.iloc[0].items()}
        experience = recall_experience(self._kb, self._request, values, seconds=settings.clock)
        if experience is not None:
            experience.prepare(settings.algorithms)
        return experience

    def _describe(self) -> None:
        """Compute the metafeatures, unless they are stored and complete."""
        if self._is_new or not self._kb.is_described(self._dataset.fingerprint, unless_reason=OUT_OF_TIME):
            with self._ledger.entry("metafeatures"):
                store_metafeatures(self._kb, self._dataset, seconds=describe_seconds(self._settings))

    def _design(
        self, portfolio: Portfolio, metafeatures: dict[str, float], finished: Sequence[FinishedRun] = ()
    ) -> InitialDesign:
        task = self._dataset.task
        return InitialDesign(
            portfolio,
            metafeatures,
            algorithms=self._settings.algorithms,
            is_valid=lambda name, config: ALGORITHMS[name].space(task).is_valid(config),
            n_rows=self._fold_plan.n_used,
            n_folds=self._fold_plan.n_folds,
            reference_seconds=environment()["reference_seconds"],
            finished=finished,
        )
