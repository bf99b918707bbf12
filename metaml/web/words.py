"""Values of the knowledge base as the pages write them, and links to what they name."""

import math
from typing import Any

from metaml.evaluation.scoring import METRICS, display
from metaml.report.markup import Html, shortened, tag
from metaml.report.wording import STATUS_WORDS, duration, number
from metaml.web.page import link

UNKNOWN = "–"


def metric_name(metric: str) -> str:
    """Return a metric's name in prose; one of others keeps its own.

    >>> metric_name("neg_log_loss"), metric_name("predictive_magic")
    ('log loss', 'predictive magic')
    """
    return METRICS[metric].label if metric in METRICS else metric.replace("_", " ")


def first_upper(text: str) -> str:
    """Return a text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def as_shown(metric: str, score: float | None) -> float:
    """Return a score as people know it: a loss is positive; NaN if there is none."""
    if score is None:
        return math.nan
    return display(metric, score)[1] if metric in METRICS else score


def digits(metric: str, score: float | None) -> str:
    """Return a score in digits; a dash if there is none."""
    return number(as_shown(metric, score))


def is_loss(metric: str) -> bool:
    """Return whether lower is better, as shown."""
    return metric in METRICS and METRICS[metric].is_loss


def better(metric: str) -> str:
    """Return which way is better, as shown."""
    return "lower is better" if is_loss(metric) else "higher is better"


def dataset_link(name: str, fingerprint: str, most: int = 40) -> Html:
    """Return a link to a data set."""
    return link(shortened(name, most), "datasets", fingerprint)


def run_link(key: str) -> Html:
    """Return a link to a run."""
    return link(tag("code", key[:8]), "runs", key)


def algorithm_link(name: str) -> Html:
    """Return a link to an algorithm."""
    return link(shortened(name, 30), "algorithms", name)


def session_link(key: str | None) -> Html | str:
    """Return a link to a session."""
    return UNKNOWN if key is None else link(tag("code", key[:8]), "sessions", key)


def status_text(status: str) -> Html:
    """Return how a run ended, in words; what did not complete stands out."""
    return tag("span", STATUS_WORDS.get(status, status), class_=None if status == "ok" else f"status {status}")


def seconds_text(seconds: float) -> str:
    """Return a duration."""
    return duration(seconds)


def count_text(value: Any) -> str:
    """Return a whole number with thousands separators."""
    return f"{value:,}"
