"""Evaluating configurations: fold plans, scores, cross-validation, and workers under limits.

`make_plan` decides the folds and a `Job` asks for an evaluation. `evaluate` makes it in this process, a `LocalExecutor`
in worker processes; both answer with an `Outcome`. Names are loaded when first used, so that workers can be started
before anything else is imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaml.evaluation.crossval import evaluate
    from metaml.evaluation.executor import Executor
    from metaml.evaluation.isolation import IsolatedEvaluator
    from metaml.evaluation.job import Evaluator, FoldDone, Job, Limits, MinimumScore, Outcome, Overtime, Race, Status
    from metaml.evaluation.local_executor import LocalExecutor
    from metaml.evaluation.scoring import METRICS, Metric, all_scores, default_metric, display, metric
    from metaml.splits import FoldPlan, given_plan, make_plan

_HOMES = {
    "METRICS": ".scoring",
    "MinimumScore": ".job",
    "Evaluator": ".job",
    "Executor": ".executor",
    "FoldDone": ".job",
    "FoldPlan": "metaml.splits",
    "IsolatedEvaluator": ".isolation",
    "Job": ".job",
    "Limits": ".job",
    "Metric": ".scoring",
    "Outcome": ".job",
    "Overtime": ".job",
    "LocalExecutor": ".local_executor",
    "Race": ".job",
    "Status": ".job",
    "all_scores": ".scoring",
    "default_metric": ".scoring",
    "display": ".scoring",
    "evaluate": ".crossval",
    "given_plan": "metaml.splits",
    "make_plan": "metaml.splits",
    "metric": ".scoring",
}

__all__ = [
    "METRICS",
    "Evaluator",
    "Executor",
    "FoldDone",
    "FoldPlan",
    "IsolatedEvaluator",
    "Job",
    "Limits",
    "LocalExecutor",
    "Metric",
    "MinimumScore",
    "Outcome",
    "Overtime",
    "Race",
    "Status",
    "all_scores",
    "default_metric",
    "display",
    "evaluate",
    "given_plan",
    "make_plan",
    "metric",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
