"""When a session asks its knowledge base: what can be read at once opens the search, the rest is recalled meanwhile."""

import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.evaluation import FoldPlan
from metaml.evaluation.environment import environment
from metaml.experience.earlier_versions import EarlierVersions, find_earlier_versions
from metaml.experience.experience import BackgroundTask, Experience, recall_experience
from metaml.experience.lesson_files import LessonRequest, is_in_file, portfolio_at_hand
from metaml.experience.load_history import to_leave_out
from metaml.metafeatures import GROUPS, OUT_OF_TIME
from metaml.metafeatures.description import describe_with
from metaml.metalearning.initial_design import InitialDesign
from metaml.metalearning.portfolio import Portfolio
from metaml.records.conversion import store_metafeatures
from metaml.report import ExperienceFacts
from metaml.report.wording import listed
from metaml.search.plan import SearchPlan, inert_settings, make_search_plan, size_of
from metaml.search.settings import TuneSettings, describe_seconds
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase

LEAST_SECONDS = 20.0
"""With a smaller time budget only the opening is used: to recall everything takes seconds of the workers' time."""


class Advisor:
    """What the knowledge base has to say of one data set: `lineup` at once, more of it after `wait`.

    Seconds are counted in the `ledger` of the session.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        dataset: Dataset,
        settings: TuneSettings,
        *,
        metric: str,
        plan: FoldPlan,
        is_new: bool,
        ledger: MutableMapping[str, float],
    ) -> None:
        self._kb, self._dataset, self._settings = kb, dataset, settings
        self._metric, self._plan, self._is_new, self._ledger = metric, plan, is_new, ledger
        self._recall = BackgroundTask(self._think)
        self.experience: Experience | None = None
        self.opening: InitialDesign | None = None
        self._portfolio: Portfolio | None = None
        self._kin: EarlierVersions | None = None
        self._inert = inert_settings(dataset)
        self.lineup = self._make_plan(None)

    @property
    def is_done(self) -> bool:
        """Return whether everything has been recalled that can be."""
        return self._recall.is_done

    def open(self) -> SearchPlan:
        """Return the line-up with what can be read at once."""
        if self._settings.uses_memory:
            with self._entry("memory"):
                self._portfolio = portfolio_at_hand(self._kb, self._wanted)
            with self._entry("metafeatures"):
                simple = self._simple()
            with self._entry("memory"):
                self._kin = self._look_for_kin(simple)
            if self._portfolio is not None:
                self.opening = self._read(self._portfolio, simple)
            self.lineup = self._make_plan(None)
        return self.lineup

    def begin(self) -> None:
        """BackgroundTask the rest in the background, where there is time to use it."""
        seconds = self._settings.seconds
        if seconds is None or seconds >= LEAST_SECONDS or self._portfolio is None:
            self._recall.begin()
        elif self._is_new:
            self._recall = BackgroundTask(self._describe)
            self._recall.begin()

    def wait(self) -> SearchPlan:
        """Return the line-up with all that is known."""
        if self._settings.uses_memory and self._kin is None:
            self._kin = self._look_for_kin(self._simple())
            self.lineup = self._make_plan(None)
        found = self._recall.wait()
        if found is not None:
            self.experience = found
            self.opening = self._read(found.lessons.portfolio, found.metafeatures)
            self.lineup = self._make_plan(found)
        return self.lineup

    def reasons(self, algorithm: str, config: Config, *, in_detail: bool = True) -> dict[str, Any]:
        """Return what speaks for a configuration, as far as it is known now."""
        if self.experience is not None:
            found = self.experience.reasons(algorithm, config, in_detail=in_detail)
        else:
            found = {} if self.opening is None else self.opening.reasons(algorithm, config)
        carriers = [] if self._kin is None else self._kin.carriers(algorithm, config)
        return {**found, "carriers": [*carriers, *found.get("carriers", [])]} if carriers else found

    def contribution(self, n_warm_starts: int) -> ExperienceFacts | None:
        """Return what the report says of the knowledge base; None where it had nothing to say."""
        told = self._contribution(n_warm_starts)
        kin = self._kin
        if kin is None or not kin.inherited:
            return told
        whose = f"The first of them did best on {listed(kin.names)}, which has the same columns."
        if told is None or not told.n_runs:
            told = ExperienceFacts(n_datasets=len(kin.names), n_runs=kin.n_runs, n_warm_starts=n_warm_starts)
        return replace(told, text=f"{whose} {told.text}".strip())

    def _contribution(self, n_warm_starts: int) -> ExperienceFacts | None:
        if self.experience is not None:
            return self.experience.contribution(n_warm_starts)
        trouble = self._recall.trouble
        if self.opening is None or self._portfolio is None or not self.opening.is_usable:
            return (
                ExperienceFacts(n_datasets=0, n_runs=0, similar=(), n_warm_starts=0, text=trouble) if trouble else None
            )
        is_short = self._settings.seconds is not None and self._settings.seconds < LEAST_SECONDS
        text = "The search was too short to ask for more than its opening." if is_short else ""
        return ExperienceFacts(
            n_datasets=self._portfolio.n_taught,
            n_runs=self._portfolio.n_runs,
            similar=self.opening.similar,
            n_warm_starts=n_warm_starts,
            text=trouble or text,
        )

    def _simple(self) -> dict[str, float]:
        """Return the metafeatures that take no time."""
        return describe_with({"simple": GROUPS["simple"]}, self._dataset, None).values

    def _look_for_kin(self, simple: dict[str, float]) -> EarlierVersions:
        """Return what did best on other states of the data set; nothing where the knowledge base cannot be read."""
        settings = self._settings
        look = partial(
            find_earlier_versions,
            self._kb,
            self._dataset,
            self._plan,
            metric=self._metric,
            algorithms=settings.algorithms,
            simple=simple,
            left_out=self._wanted.left_out,
            budget_seconds=settings.clock,
        )
        return BackgroundTask(look).wait() or EarlierVersions()

    @cached_property
    def _wanted(self) -> LessonRequest:
        left_out = self._settings.exclude_datasets
        gone = to_leave_out(self._kb, left_out) if left_out else ()
        return LessonRequest(self._metric, self._dataset.task, self._settings.algorithms, gone)

    def _think(self) -> Experience | None:
        """Return the memory of this data set, which is described first if it is new and somebody will ask."""
        settings = self._settings
        if settings.uses_memory or is_in_file(self._kb):
            self._describe()
        if not settings.uses_memory:
            return None
        table = self._kb.metafeatures().reindex([self._dataset.fingerprint])
        values = {str(name): float(value) for name, value in table.iloc[0].items()}
        experience = recall_experience(self._kb, self._wanted, values, seconds=settings.clock)
        if experience is not None:
            experience.prepare(settings.algorithms)
        return experience

    def _describe(self) -> None:
        if self._is_new or self._lacks_metafeatures():
            with self._entry("metafeatures"):
                store_metafeatures(self._kb, self._dataset, seconds=describe_seconds(self._settings))

    def _lacks_metafeatures(self) -> bool:
        """Return whether the data set was never described, or not in full for want of time."""
        query = (
            "SELECT count(*) AS described, sum(CASE WHEN metafeature.reason = :reason THEN 1 ELSE 0 END) AS late "
            "FROM metafeature JOIN dataset ON dataset.id = metafeature.dataset_id "
            "WHERE dataset.fingerprint = :fingerprint"
        )
        found = self._kb.sql(query, {"fingerprint": self._dataset.fingerprint, "reason": OUT_OF_TIME}).iloc[0]
        return bool(found["described"] == 0 or found["late"])

    def _read(self, portfolio: Portfolio, metafeatures: dict[str, float]) -> InitialDesign:
        task = self._dataset.task
        return InitialDesign(
            portfolio,
            metafeatures,
            algorithms=self._settings.algorithms,
            is_valid=lambda name, config: ALGORITHMS[name].space(task).is_valid(config),
            n_rows=self._plan.n_used,
            n_folds=self._plan.n_folds,
            reference_seconds=environment()["reference_seconds"],
        )

    def _make_plan(self, experience: Experience | None) -> SearchPlan:
        dataset, settings = self._dataset, self._settings
        return make_search_plan(
            dataset.task,
            size_of(dataset),
            self._inert,
            self.opening,
            experience,
            inherited=() if self._kin is None else self._kin.moves,
            metric=self._metric,
            algorithms=settings.algorithms,
            strategy=settings.strategy,
            bandit=settings.bandit,
            seed=settings.seed,
            seconds=settings.clock,
            n_iterations=settings.n_iterations,
        )

    @contextmanager
    def _entry(self, purpose: str) -> Iterator[None]:
        """Count the seconds of a block in the ledger."""
        begun = time.perf_counter()
        yield
        self._ledger[purpose] += time.perf_counter() - begun
