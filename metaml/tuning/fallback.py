"""What a user gets if no evaluation is complete: what was fitted so far, or a small tree, and the reason."""

import math
import pickle
from collections import Counter
from collections.abc import Mapping

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.evaluation import metric
from metaml.model import Member, Model, fit_member
from metaml.report.wording import STATUS_WORDS, listed
from metaml.search.settings import TuneSettings, longest_evaluation
from metaml.system.threads import importing
from metaml.tuning.finished import Finished
from metaml.tuning.trials import Found, PartialModel

FALLBACK_CELLS = 500_000
FALLBACK = "decision_tree"


def why_nothing(found: Found, settings: TuneSettings, *, is_stopped: bool) -> str:
    """Return why there is no score to choose by, and what would help."""
    statuses: Counter[str] = Counter(trial.outcome.status for trial in found.trials)
    n = len(found.trials)
    if statuses["ok"]:
        label = metric(found.metric).label
        return f"no evaluation has a defined {label}; give more rows, fewer --folds or another --metric"
    if n and statuses["memory"] == n:
        return f"no evaluation kept to {settings.limits.megabytes:g} MB of memory; raise --limit-memory"
    if n and statuses["timeout"] == n and longest_evaluation(settings, []) == settings.limits.seconds:
        return f"no evaluation was complete within {settings.limits.seconds:g} s; raise --limit-seconds"
    errors = [
        trial.outcome.error for trial in found.trials if trial.outcome.error and trial.outcome.status != "timeout"
    ]
    if n and len(errors) == n:
        which = "the only evaluation went wrong" if n == 1 else f"all {n} evaluations went wrong; the first"
        return f"{which}: {errors[0]}"
    if is_stopped:
        return "the search was stopped before an evaluation was complete"
    if settings.seconds is None:
        ends = listed([f"{statuses[status]} {words}" for status, words in STATUS_WORDS.items() if statuses[status]])
        return f"none of {n} evaluations was complete: {ends}"
    return "no evaluation was complete when the time was up; give more time"


def from_partial(dataset: Dataset, found: Found, partial: PartialModel, why: str) -> Finished:
    """Return the average of the models of some folds: far better than a small tree, but its score is not known."""
    n = len(partial.folds)
    why += f" (what was saved is {partial.algorithm} as fitted to {n} of {found.plan.n_folds} folds)"
    with importing:
        estimators = tuple(pickle.loads(fold.model) for fold in partial.folds)  # noqa: S301 - from our own workers
    member = Member(partial.algorithm, dict(partial.config), 1.0, estimators)
    model = Model.of(dataset, [member], metric=found.metric, facts={"session": found.session, "fallback": why})
    return Finished(model, "fallback", (), math.nan, None, 0.0, why)


def small_tree(dataset: Dataset, found: Found, why: str) -> Finished:
    """Return a small tree fitted to some rows: better than nothing, and labelled as that."""
    model = tree_model(dataset, found.metric, {"session": found.session, "fallback": why})
    return Finished(model, "fallback", (), math.nan, None, 0.0, why)


def tree_model(dataset: Dataset, metric: str, facts: Mapping[str, object] | None = None) -> Model:
    """Return a model that is a tree, fitted to some rows: about the smallest and quickest that there is."""
    n_rows = max(50, FALLBACK_CELLS // max(dataset.X.shape[1], 1))
    algorithm = ALGORITHMS[FALLBACK]
    rows = np.arange(len(dataset.y))
    if len(rows) > n_rows:
        rows = np.sort(np.random.default_rng(0).permutation(len(rows))[:n_rows])
        # Every class must be seen, however few rows are taken.
        if dataset.labels is not None:
            rows = np.unique(np.concatenate([rows, np.unique(dataset.y, return_index=True)[1]]))
    with importing:
        member = fit_member(dataset.part(rows), algorithm, algorithm.space(dataset.task).default(), seed=0)
    return Model.of(dataset, [member], metric=metric, facts=facts)
