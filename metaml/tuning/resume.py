"""A session that was cut short: how it is found in the knowledge base, and what it goes on with."""

import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import psutil

from metaml.evaluation import FoldPlan, Limits, Outcome
from metaml.experience.experience import Experience
from metaml.records.conversion import kept_plan, stopped_early
from metaml.records.session_keys import SEARCH_PLAN, stored_plan
from metaml.search.plan import SearchPlan
from metaml.search.settings import TuneSettings
from metaml.splits.given import KeptFolds
from metaml.tuning.trials import PredictionFiles, Trial
from metaml_kb import KnowledgeBase
from metaml_kb.lookup import find_run

CLOCK_SECONDS = 2.0
"""By how much the start of one process may seem to differ as the clock of the machine is set."""


@dataclass(frozen=True, eq=False)
class UnfinishedSession:
    """A session that did not end: its plan, what it had finished, and how much of its time was used."""

    key: str
    search_plan: SearchPlan
    trials: tuple[Trial, ...]
    settings: Mapping[str, Any]
    folds: KeptFolds | None = None

    def resumed(self, settings: TuneSettings) -> TuneSettings:
        """Return the settings to go on with: all that decides what is tried, and how it is judged, stays."""
        kept = self.settings
        return replace(
            settings,
            metric=self.search_plan.metric,
            algorithms=self.search_plan.algorithms,
            strategy=self.search_plan.strategy,
            bandit=self.search_plan.bandit,
            schedule=self.search_plan.schedule,
            objectives=self.search_plan.objectives,
            front_method=self.search_plan.front_method,
            search=self.search_plan.search,
            fidelity=self.search_plan.fidelity,
            seed=self.search_plan.seed,
            seconds=kept["seconds"],
            n_iterations=kept["n_iterations"],
            n_folds=kept["n_folds"],
            # None meant that all rows fitted: without a number, how many do would be decided anew.
            max_rows=kept["max_rows"] or sys.maxsize,
            limits=Limits(kept["limit_seconds"], kept["limit_megabytes"]),
            exclude_datasets=tuple(kept["left_out"]),
            # How other folds were made follows from the data set.
            splitter=self.folds or settings.splitter,
            stop_at=kept.get("stop_at"),
            patience=kept.get("patience"),
        )

    @property
    def used(self) -> float:
        """Return the seconds that had passed when its last evaluation finished."""
        return self.trials[-1].at if self.trials else 0.0


def find_unfinished(kb: KnowledgeBase, dataset: str, prediction_files: PredictionFiles) -> UnfinishedSession | None:
    """Return the newest session on a data set (fingerprint) that did not end, None if all did or are under way."""
    unfinished = kb.sessions("tune", unfinished=True)
    for key, settings in zip(unfinished["key"], unfinished["settings"], strict=True):
        stored = stored_plan(settings)
        if settings.get("dataset") == dataset and stored is not None and "n_folds" in settings:
            resumed = _last(kb, str(key), "resumed") or {}
            if _is_under_way(resumed.get("held_by") or settings.get("held_by")):
                continue
            joined = stored_plan(_last(kb, str(key), "experience joined") or {})
            plan = SearchPlan.from_json(joined or stored)
            trials = trials_of(kb, str(key), plan.metric, prediction_files)
            return UnfinishedSession(str(key), plan, trials, settings, _given_folds(kb, trials))
    return None


def _given_folds(kb: KnowledgeBase, trials: Sequence[Trial]) -> KeptFolds | None:
    """Return the folds that were given to a session; None if they were made from the data set."""
    if not trials:
        return None
    stored = find_run(kb, trials[0].run.identity)
    if stored.fold_plan.strategy != "given":
        return None
    kept = kept_plan(stored.fold_plan, stored.dataset.n_rows or 0)
    return None if kept is None else KeptFolds(kept)


def settings_to_keep(settings: TuneSettings, dataset: str, plan: FoldPlan) -> dict[str, object]:
    """Return what a session on a data set (fingerprint) keeps to be resumed, beside its plan."""
    optional = {name: getattr(settings, name) for name in ("user", "project", "stop_at", "patience")}
    return {
        **{name: value for name, value in optional.items() if value is not None},
        "dataset": dataset,
        "seconds": settings.seconds,
        "n_iterations": settings.n_iterations,
        "n_workers": settings.n_workers,
        "limit_seconds": settings.limits.seconds,
        "limit_megabytes": settings.limits.megabytes,
        "fold_plan": plan.hash,
        "n_folds": plan.n_folds,
        "max_rows": plan.max_rows,
        "left_out": list(settings.exclude_datasets),
        "held_by": this_process(),
    }


def plan_to_keep(plan: SearchPlan, experience: Experience | None) -> dict[str, object]:
    """Return the search plan as a session keeps it, and what of the knowledge base it is based on."""
    return {
        SEARCH_PLAN: plan.as_json(),
        "lessons": None if experience is None else experience.lessons.revision,
        # As they were used: describing the data set again, with more time, may find more.
        "metafeatures": {} if experience is None else experience.known,
    }


def this_process() -> dict[str, object]:
    """Return what tells this process from all others, also from one that gets its number later."""
    own = psutil.Process()
    return {"host": platform.node(), "pid": own.pid, "started": own.create_time()}


def _is_under_way(holder: Mapping[str, Any] | None) -> bool:
    """Return whether the process that holds a session is another one of this machine, and lives."""
    if not holder or holder["host"] != platform.node() or holder["pid"] == os.getpid():
        return False
    try:
        return bool(abs(psutil.Process(holder["pid"]).create_time() - holder["started"]) < CLOCK_SECONDS)
    except psutil.Error:
        return False


def _last(kb: KnowledgeBase, session: str, kind: str) -> Mapping[str, Any] | None:
    """Return the details of the last event of a kind in a session, None if there was none."""
    events = kb.events(session, kind)
    return events[-1][1] if events else None


def trials_of(kb: KnowledgeBase, session: str, metric: str, prediction_files: PredictionFiles) -> tuple[Trial, ...]:
    """Return the finished evaluations of a session in the order in which they finished."""
    return tuple(_trial(kb, details, metric, prediction_files) for _, details in kb.events(session, "finished"))


def _trial(kb: KnowledgeBase, details: Mapping[str, Any], metric: str, prediction_files: PredictionFiles) -> Trial:
    stored = find_run(kb, details["run"])
    run = stored.run
    scores = {name: tuple(np.atleast_1d(values).tolist()) for name, values in run.scores.items()}
    n_folds, ran_out_of_time = max(map(len, scores.values()), default=0), stopped_early(run)
    is_look = "share" in details
    has_all_folds = ran_out_of_time and not is_look and n_folds == stored.fold_plan.n_folds
    outcome = Outcome(
        status="ok" if has_all_folds else run.status,  # type: ignore[arg-type]
        seconds=details["seconds"],
        scores=scores,
        folds=tuple(range(n_folds)),
        fit_seconds=run.fit_seconds or 0.0,
        predict_seconds=run.predict_seconds or 0.0,
        peak_megabytes=run.peak_megabytes or 0.0,
        model_bytes=run.model_bytes,
        row_seconds=run.row_seconds,
        n_columns_read=run.n_columns_read,
        error=None if ran_out_of_time else run.error,
        predictions=prediction_files.get(details["run"]),
        expected_seconds=details.get("expected", 0.0),
        stopped_early=ran_out_of_time,
        scale=details.get("scale", 1.0),
    )
    values = details.get("scores") or [details.get("score", outcome.score(metric))]
    given = tuple(math.nan if value is None else value for value in values)
    curve = tuple(tuple(point) for point in details.get("curve", ()))
    share, asked = details.get("share", 1.0), details.get("asked")
    return Trial(run, outcome, given, details["at"], curve=curve, share=share, asked=asked)
