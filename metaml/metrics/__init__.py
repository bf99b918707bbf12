"""Metrics: scores of predictions, higher is better. Each says of itself what the rest of metaml needs to know.

A value that the rows at hand cannot define is NaN, never a warning: `roc_auc` with one class present, `kappa` when one
class is both true and predicted throughout, `r2` of a single row, `spearman` of a constant target. Predictions without
any order have a `spearman` of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metaml.errors import BadRequest
from metaml.metrics import classification, regression
from metaml.metrics.base import Metric
from metaml.metrics.own import known, named

if TYPE_CHECKING:
    from metaml.data import Task

__all__ = ["DEFAULT_METRICS", "METRICS", "Metric", "default_metric", "display", "known", "metric"]

METRICS: dict[str, Metric] = {found.name: found for found in (*classification.METRICS, *regression.METRICS)}
"""Every metric by name."""

DEFAULT_METRICS: dict[Task, str] = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "neg_rmse"}


def metric(name: str) -> Metric:
    """Return a metric by name; losses may be named without their sign, and `pinball` needs a quantile.

    >>> metric("log_loss").name
    'neg_log_loss'
    >>> metric("pinball@0.9").name
    'neg_pinball@0.9'
    """
    for candidate in (name, f"neg_{name}"):
        if candidate in METRICS:
            return METRICS[candidate]
    if (own := named(name)) is not None:
        return own
    typed = ", ".join(known_name.removeprefix("neg_") for known_name in METRICS)
    raise BadRequest(f"There is no metric {name!r}. Choose one of: {typed}, pinball@0.9.")


def default_metric(task: Task) -> str:
    """Return the name of the metric that a task is judged by unless another is asked for."""
    return DEFAULT_METRICS[task]


def display(name: str, value: float) -> tuple[str, float]:
    """Return the label and the value people know: a loss is shown positive.

    >>> display("neg_log_loss", -0.31)
    ('log loss', 0.31)
    """
    found = metric(name)
    return found.label, -value + 0.0 if found.is_loss else value
