"""A stored run explained in words: who proposed it, what was predicted, and which past data sets supported it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.evaluation import METRICS
from metaml.records.explanation import as_datetime, is_proposed_by_experience, mean_of, metric_of, proposer_of, shown
from metaml.report.wording import number
from metaml_kb import ProposalRecord
from metaml_kb.lookup import StoredRun

Block = list[tuple[str, list[str]]]
"""Facts, each a label and one or more texts. A fact without a label is a sentence."""
EXPLAINED = ("expected", "expected_level", "reasons", "carriers", "guard")
MEASURED = {
    "place": "number {:.0f} of its runs",
    "standing": "{:+.1f} sd",
    "level": "{:.0%} of the way from the median to the best",
    "closeness": "{:.0%} alike",
    "distance": "distance {:.2f}",
}
"""The format of each fact about a past data set."""
NOT_KEPT = "Experience proposed it, but its reasons were not kept."
WITHOUT = "It was made without experience: no past data set spoke for it."


def title_of(stored: StoredRun) -> str:
    """Return what a run is in a line."""
    run = stored.run
    return f"Run {stored.key}: {run.algorithm} on {stored.dataset.name}, {run.status}"


def explained(stored: StoredRun) -> tuple[Block, Block, Block]:
    """Return what a person wants to know of a run: what it is, who proposed it, and what experience said."""
    run = stored.run
    is_what: Block = [
        ("Data", [_data(stored)]),
        ("Configuration", [", ".join(f"{name}={value}" for name, value in run.config.items()) or "none"]),
        ("Score", _scores(stored) or [run.error or "none"]),
        ("Cost", [_cost(stored)]),
        ("Made", [_made(stored)]),
    ]
    proposed: Block = [("Proposed by", [proposer_of(stored)])]
    if run.proposal is not None:
        proposed.append(("Predicted", _predicted(stored, run.proposal)))
    return is_what, proposed, _experience(stored)


def _data(stored: StoredRun) -> str:
    known = stored.dataset
    parts = [f"{known.name}: {known.task}"]
    parts += [f"{known.n_rows:,} rows"] if known.n_rows is not None else []
    parts += [f"{known.n_columns:,} features"] if known.n_columns is not None else []
    parts += [f"target {known.target!r}"] if known.target is not None else []
    return ", ".join(parts)


def _scores(stored: StoredRun) -> list[str]:
    """Return one line per metric, with the metric that the session optimised first."""
    first = metric_of(stored)
    names = sorted(stored.run.scores, key=lambda name: (name != first, name))
    return [_score(name, stored.run.scores[name]) for name in names]


def _score(name: str, values: float | Sequence[float]) -> str:

    label, mean = shown(name, mean_of(values))
    text = f"{label} {number(mean)}"
    if isinstance(values, float | int):
        return text
    folds = [shown(name, value)[1] for value in values if not math.isnan(value)]
    return f"{text} ({number(min(folds))} to {number(max(folds))} over {len(folds)} folds)" if folds else text


def _cost(stored: StoredRun) -> str:
    run = stored.run
    parts = [f"{run.fit_seconds:.2f} s to fit"] if run.fit_seconds is not None else []
    parts += [f"{run.predict_seconds:.2f} s to predict"] if run.predict_seconds is not None else []
    parts += [f"{run.peak_megabytes:,.0f} MB"] if run.peak_megabytes is not None else []
    return ", ".join(parts) or "not known"


def _made(stored: StoredRun) -> str:

    run, session = stored.run, stored.session
    parts = [f"{as_datetime(run.finished_at):%Y-%m-%d %H:%M} UTC"] if run.finished_at is not None else []
    if session is not None:
        chance = "" if session.seed is None else f" of seed {session.seed}"
        parts.append(f"by {session.kind} session {session.key[:8]}{chance}")
    return ", ".join([*parts, f"evaluated with seed {run.seed}"])


def _predicted(stored: StoredRun, proposal: ProposalRecord) -> list[str]:
    """Return the predictions, each beside the result."""
    run, lines = stored.run, []
    if proposal.predicted_score is not None:
        lines.append(_predicted_score(stored, proposal.predicted_score, proposal.predicted_std))
    if proposal.predicted_seconds is not None:
        took = (run.fit_seconds or 0.0) + (run.predict_seconds or 0.0)
        lines.append(f"{proposal.predicted_seconds:.2f} s; it took {took:.2f} s")
    if proposal.acquisition is not None:
        lines.append(f"acquisition value {proposal.acquisition:.4g}")
    return lines


def _predicted_score(stored: StoredRun, predicted: float, std: float | None) -> str:

    name = metric_of(stored)
    label, value = shown(name, predicted)
    text = f"{label} {number(value)}" + (f" ± {number(std)}" if std else "")
    actual = mean_of(stored.run.scores[name]) if name in stored.run.scores else math.nan
    if math.isnan(actual):
        return f"{text}; nothing came out ({stored.run.status})"
    if name in METRICS and depends_on_thresholds(name):
        # A search predicts the score after tuned thresholds, but a run stores the score at the default threshold.
        return f"{text} after thresholds; {number(actual)} came out before them"
    gap = actual - predicted
    # Scores are stored so that higher is better, even if a loss is shown as a positive number.
    by = f" by {abs(gap) / std:.1f} sd" if std else ""
    verdict = "as predicted" if gap == 0 else f"{'better' if gap > 0 else 'worse'} than predicted{by}"
    return f"{text}; {number(shown(name, actual)[1])} came out, {verdict}"


def _experience(stored: StoredRun) -> Block:
    """Return which past data sets supported the run, or that none did."""
    details = {} if stored.run.proposal is None else stored.run.proposal.details
    reasons = [str(reason) for reason in _list(details.get("reasons"))]
    carriers = [_carrier(item) for item in _list(details.get("carriers")) if isinstance(item, Mapping)]
    block: Block = []
    if _is_number(details.get("expected")):
        said = f"{details['expected']:+.2f} sd expected, in the scores of a data set like this"
        block.append(("Experience", [said]))
    if _is_number(details.get("expected_level")):
        share = f"{details['expected_level']:.0%} of the way from the median to the best"
        block.append(("Experience", [f"{share} on past data sets, similar ones counting more"]))
    block += [("Reasons", reasons), ("Past data sets", carriers)]
    if details.get("guard"):
        block.append(("Guard", [str(details["guard"])]))
    if not reasons and not carriers:
        block.append(("", [NOT_KEPT if is_proposed_by_experience(stored) else WITHOUT]))
    others = [f"{name}={value}" for name, value in details.items() if name not in EXPLAINED]
    return [*block, *([("Details", [", ".join(others)])] if others else [])]


def _carrier(item: Mapping[str, Any]) -> str:
    """Return a past data set, the result of the configuration there, and how similar the data set is."""
    known = [form.format(item[name]) for name, form in MEASURED.items() if _is_number(item.get(name))]
    if item.get("run"):
        known.append(f"run {str(item['run'])[:8]}")
    return f"{item.get('dataset', 'unknown')}: {', '.join(known) or 'nothing is known'}"


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
