"""What a quick model scores under two splits: whether shuffling rows would tell too high a score."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.arrays import Floats
from metaml.data import Dataset
from metaml.data.split_hints import SplitHint
from metaml.errors import MetamlError
from metaml.evaluation import FoldPlan, Job, Limits, Outcome, evaluate, make_plan
from metaml.report import SplitComparison
from metaml.splits import PLAN_SEED, SPLITTERS
from metaml.tuning.closing import closing_seconds
from metaml.tuning.job_batch import Ending

QUICK = "decision_tree"
CONFIG = {"max_depth": 8}
"""Deep enough to recognise a group or a moment by its columns: that is what a shuffled split rewards."""
MOST_ROWS, MOST_CELLS, N_FOLDS = 5_000, 200_000, 5
SECONDS = 1.0
"""What the comparison may take; it is left out if there is no time for it."""


def compare_splits(ending: Ending) -> SplitComparison | None:
    """Return a quick model under a shuffled split and under one by time or group; None if no column asks for that.

    The column is the one that the user named, else one that looks like time or groups.
    """
    dataset, found, settings, budget = ending.dataset, ending.found, ending.settings, ending.budget
    if found.plan.strategy == "given":
        return None
    if settings.seconds is not None and budget.left < closing_seconds(settings, budget) + SECONDS:
        return None
    options = dataset.roles.options
    if options.time is not None or options.group is not None:
        kind, column = ("time", options.time) if options.time is not None else ("group", options.group)
        return _compared(dataset, found.metric, kind, str(column))
    compared = [_of_hint(dataset, hint, found.metric) for hint in dataset.hints]
    told = [comparison for comparison in compared if comparison is not None]
    return max(told, key=lambda comparison: comparison.shuffled - comparison.honest, default=None)


def _of_hint(dataset: Dataset, hint: SplitHint, metric: str) -> SplitComparison | None:
    roles = replace(hint.roles, weights=dataset.row_weights)
    return _compared(replace(dataset, roles=roles), metric, hint.kind, hint.column)


def _compared(dataset: Dataset, metric: str, kind: str, column: str) -> SplitComparison | None:
    max_rows = max(200, min(MOST_ROWS, MOST_CELLS // max(dataset.X.shape[1], 1)))
    try:
        honest_plan = make_plan(dataset, N_FOLDS, PLAN_SEED, max_rows)
        shuffled_plan = make_plan(dataset, N_FOLDS, PLAN_SEED, max_rows, splitter=SPLITTERS["shuffled"])
    except MetamlError:
        return None
    honest, shuffled = (_scores(_evaluated(dataset, plan), metric) for plan in (honest_plan, shuffled_plan))
    if len(honest) < 2 or len(shuffled) < 2:
        return None
    error = math.sqrt(honest.var(ddof=1) / len(honest) + shuffled.var(ddof=1) / len(shuffled))
    return SplitComparison(
        column=column, kind=kind, shuffled=float(shuffled.mean()), honest=float(honest.mean()), error=error
    )


def _evaluated(dataset: Dataset, plan: FoldPlan) -> Outcome:
    algorithm = ALGORITHMS[QUICK]
    config = {**algorithm.space(dataset.task).default(), **CONFIG}
    return evaluate(Job(dataset.fingerprint, QUICK, config, plan, PLAN_SEED, Limits(math.inf)), dataset, algorithm)


def _scores(outcome: Outcome, metric: str) -> Floats:
    values = np.array(outcome.scores.get(metric, ()), dtype=np.float64)
    return np.asarray(values[np.isfinite(values)])
