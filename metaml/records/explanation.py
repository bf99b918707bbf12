"""What is known of a stored run: what it is, who proposed it, what was predicted, and what came out."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from metaml.evaluation import METRICS, display
from metaml.evaluation.scoring import DEFAULT_METRICS
from metaml.records.session_keys import stored_plan
from metaml_kb.lookup import StoredRun

PROPOSED = {
    "default": "Nobody: it is the default configuration of {algorithm}, a yardstick for all others.",
    "random": "Chance: it was drawn from the space of {algorithm}.",
    "grid": "A grid: it is one of the combinations that were asked for.",
    "warm start": "Experience: past data sets suggested it before anything was known of this one.",
    "surrogate": "The surrogates of strategy {proposer!r}: they learnt from the runs before it in its session.",
    "repeat": "Its session: the configuration did well there, and was evaluated again on other folds.",
    "imported": "Nobody here: it was made elsewhere and imported.",
}
"""Who proposed a run, by its origin."""
PROPOSED_BY_EXPERIENCE = "Experience: a model of past data sets, corrected by the runs before it in its session."


def run_facts(stored: StoredRun) -> dict[str, Any]:
    """Return all that is known of a run as plain JSON."""
    run, dataset, plan, session = stored.run, stored.dataset, stored.fold_plan, stored.session
    machine, proposal = stored.environment, run.proposal
    folds = {name: values for name, values in run.scores.items() if isinstance(values, Sequence)}
    return {
        "run": stored.key,
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "task": dataset.task,
            "target": dataset.target,
            "n_rows": dataset.n_rows,
            "n_columns": dataset.n_columns,
            "source": dataset.source,
        },
        "algorithm": run.algorithm,
        "configuration": dict(run.config),
        "status": run.status,
        "error": run.error,
        "metric": metric_of(stored),
        "scores": {name: defined(mean_of(values)) for name, values in run.scores.items()},
        "fold_scores": {name: [defined(value) for value in values] for name, values in folds.items()},
        "fit_seconds": run.fit_seconds,
        "predict_seconds": run.predict_seconds,
        "peak_megabytes": run.peak_megabytes,
        "finished_at": None if run.finished_at is None else as_datetime(run.finished_at).isoformat(timespec="seconds"),
        "seed": run.seed,
        "fold_plan": {
            "key": plan.key,
            "strategy": plan.strategy,
            "n_folds": plan.n_folds,
            "seed": plan.seed,
            "max_rows": plan.max_rows,
        },
        "session": None
        if session is None
        else {"key": session.key, "kind": session.kind, "seed": session.seed, "settings": dict(session.settings)},
        "environment": None
        if machine is None
        else {"host": machine.host, "processor": machine.processor, "versions": dict(machine.versions)},
        "origin": run.origin,
        "probability": run.probability,
        "proposal": None
        if proposal is None
        else {
            "proposer": proposal.proposer,
            "predicted_score": proposal.predicted_score,
            "predicted_std": proposal.predicted_std,
            "predicted_seconds": proposal.predicted_seconds,
            "acquisition": proposal.acquisition,
            "details": dict(proposal.details),
        },
    }


def proposer_of(stored: StoredRun) -> str:
    """Return who proposed a run, as a sentence."""
    run = stored.run
    name = "unknown" if run.proposal is None else run.proposal.proposer
    if run.origin == "surrogate" and name == "experience":
        return PROPOSED_BY_EXPERIENCE
    return PROPOSED[run.origin].format(algorithm=run.algorithm, proposer=name)


def is_proposed_by_experience(stored: StoredRun) -> bool:
    """Return whether past data sets proposed a run, before its session or in it."""
    return stored.run.origin == "warm start" or proposer_of(stored) == PROPOSED_BY_EXPERIENCE


def metric_of(stored: StoredRun) -> str:
    """Return the metric that a run's session optimised; else the one that its task is judged by, if it has it."""
    scores = stored.run.scores
    plan = None if stored.session is None else stored_plan(stored.session.settings)
    optimised = None if plan is None else plan.get("metric")
    usual = {str(task): name for task, name in DEFAULT_METRICS.items()}.get(stored.dataset.task)
    known = [str(name) for name in (optimised, usual) if name is not None and (name in scores or not scores)]
    return next(iter(known), min(scores, default="score"))


def shown(name: str, value: float) -> tuple[str, float]:
    """Return a metric's label and value as people know them; a metric of others keeps its name."""
    return display(name, value) if name in METRICS else (name, value)


def mean_of(values: float | Sequence[float]) -> float:
    """Return the mean over the folds where a metric is defined, NaN where there are none.

    >>> mean_of([0.5, math.nan, 1.0])
    0.75
    """
    if isinstance(values, float | int):
        return float(values)
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def defined(value: float | None) -> float | None:
    """Return a score, or None where it is undefined: JSON has no other word for it.

    >>> defined(0.5), defined(math.nan)
    (0.5, None)
    """
    return None if value is None or math.isnan(value) else value


def as_datetime(seconds: float) -> datetime:
    """Return a moment that is stored as seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)
