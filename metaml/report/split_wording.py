"""Sentences about rows: how they became folds, what another split would tell, what they weigh, and a test table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from metaml.report.data import ReportData, SplitComparison
from metaml.report.wording import counted, metric_label, number, score_text

STRATEGY_WORDS = {
    "group": "No value of {group!r} is in two folds: the score is that of groups which the model has not seen.",
    "forward": "Each fold is later in {time!r} than the rows it learnt from: the score is that of future rows.",
    "group_forward": (
        "Each fold is later in {time!r} than the rows it learnt from, and has other values of {group!r}: the score is "
        "that of new groups in the future."
    ),
    "given": "The folds are those that were given.",
}


def split_sentences(data: ReportData) -> list[str]:
    """Return how rows were split, what was noticed about it, and what another split would tell; most often nothing."""
    split = data.split
    words = STRATEGY_WORDS.get(split.strategy.removesuffix("_holdout"))
    said = [words.format(group=split.group, time=split.time)] if words else []
    said += split.hints
    if split.other is not None and split.other.is_large:
        said.append(_comparison(data, split.other))
    return said


def _comparison(data: ReportData, other: SplitComparison) -> str:
    label = metric_label(data.metric)
    shuffled, honest = score_text(data.metric, other.shuffled), score_text(data.metric, other.honest)
    where = "later rows" if other.kind == "time" else "new groups"
    tried = f"A quick model has a {label} of {shuffled} on shuffled rows, and {honest} on {where} by {other.column!r}"
    if data.split.strategy.startswith(("group", "forward")):
        return f"{tried}: a shuffled split would have told too much."
    return f"{tried}: expect much less than the score above there, and split by it with --{other.kind}."


def weight_sentences(data: ReportData) -> list[str]:
    """Return how rows were weighed, and what was left out for it; nothing if all count the same."""
    facts = data.weights
    if facts is None:
        return []
    said = (
        f"Rows count by {facts.column!r}, from {number(facts.least)} to {number(facts.most)}, in learning and in every "
        f"score: the {counted(data.dataset.n_rows, 'row')} say as much as {facts.n_effective:,.0f} of equal weight."
    )
    return [said, left_out_sentence(facts.left_out)] if facts.left_out else [said]


def left_out_sentence(algorithms: Sequence[str]) -> str:
    """Return which algorithms are left out as they cannot weigh rows; empty if none is.

    >>> left_out_sentence(["k_neighbors"])
    'Left out, as it cannot weigh rows: k_neighbors.'
    """
    if not algorithms:
        return ""
    return f"Left out, as {'it' if len(algorithms) == 1 else 'they'} cannot weigh rows: {', '.join(algorithms)}."


def own_test_sentence(data: ReportData) -> str:
    """Return what the model scores on the user's own test table; empty without one."""
    facts = data.own_test
    if facts is None:
        return ""
    error = f" ± {abs(facts.error):.2g}" if math.isfinite(facts.error) else ""
    value = f"{metric_label(data.metric)} {score_text(data.metric, facts.score)}{error}"
    return f"On the {counted(facts.n_rows, 'row')} of {facts.name}: {value}."
