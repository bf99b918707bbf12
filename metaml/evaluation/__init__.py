"""Evaluating configurations: fold plans, scores, cross-validation, and workers under limits.

`make_plan` decides the folds, a `Job` asks for an evaluation, `evaluate` makes it in this process and a `Pool` in
worker processes; both answer with an `Outcome`.
"""

from metaml.evaluation.crossval import evaluate
from metaml.evaluation.environment import environment
from metaml.evaluation.folds import given_plan, make_plan
from metaml.evaluation.isolation import IsolatedEvaluator
from metaml.evaluation.job import Evaluator, FoldDone, FoldPlan, Job, Limits, Outcome, Overtime, Race, Status
from metaml.evaluation.pool import Pool
from metaml.evaluation.scoring import METRICS, Metric, all_scores, default_metric, display, metric

__all__ = [
    "METRICS",
    "Evaluator",
    "FoldDone",
    "FoldPlan",
    "IsolatedEvaluator",
    "Job",
    "Limits",
    "Metric",
    "Outcome",
    "Overtime",
    "Pool",
    "Race",
    "Status",
    "all_scores",
    "default_metric",
    "display",
    "environment",
    "evaluate",
    "given_plan",
    "make_plan",
    "metric",
]
