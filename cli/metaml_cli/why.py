"""`metaml why`: what a run is, who proposed it, what was expected of it, and which past data sets spoke for it."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.pages import printable, wrapped
from metaml_cli.render import Format, show_facts

if TYPE_CHECKING:
    from metaml_kb import ProposalRecord
    from metaml_kb.lookup import StoredRun

LABEL = 15
EXPLAINED = ("expected", "expected_level", "reasons", "carriers", "guard")
PROPOSED = {
    "default": "Nobody: it is the default configuration of {algorithm}, a yardstick for all others.",
    "random": "Chance: it was drawn from the space of {algorithm}.",
    "warm start": "Experience: past data sets suggested it before anything was known of this one.",
    "surrogate": "The surrogates of strategy {proposer!r}: they learnt from the runs before it in its session.",
    "imported": "Nobody here: it was made elsewhere and imported.",
}
PROPOSED_BY_EXPERIENCE = "Experience: a model of past data sets, corrected by the runs before it in its session."
MEASURED = {
    "place": "number {:.0f} of its runs",
    "standing": "{:+.1f} sd",
    "level": "{:.0%} of the way from the median to the best",
    "closeness": "{:.0%} alike",
    "distance": "distance {:.2f}",
}
"""How what is known of a past data set is told."""


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Key of a run, or its beginning, as metaml kb runs shows.")],
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Tell why a run was made: who proposed it, what was predicted, what came out, and which past runs spoke for it.

    Example: metaml why 1f3a9c02
    """
    from metaml_kb.lookup import find_run

    with opened(kb) as base:
        stored = find_run(base, run)
    if form is not Format.table:
        show_facts(facts_of(stored), form)
        return
    typer.echo("\n".join(lines_of(stored)))


def facts_of(stored: "StoredRun") -> dict[str, Any]:
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
        "finished_at": None if run.finished_at is None else _moment(run.finished_at).isoformat(timespec="seconds"),
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


def lines_of(stored: "StoredRun") -> list[str]:
    """Return what a person wants to know of a run as lines of at most 80 columns."""
    run = stored.run
    lines = [*wrapped(f"Run {stored.key}: {run.algorithm} on {stored.dataset.name}, {run.status}"), ""]
    lines += _fact("Data", _data(stored))
    lines += _fact("Configuration", ", ".join(f"{name}={value}" for name, value in run.config.items()) or "none")
    lines += _listed("Score", _scores(stored) or [run.error or "none"])
    lines += _fact("Cost", _cost(stored))
    lines += _fact("Made", _made(stored))
    lines += ["", *_fact("Proposed by", _proposer(stored))]
    if run.proposal is not None:
        lines += _listed("Predicted", _predicted(stored, run.proposal))
    lines += ["", *_experience(stored)]
    return [printable(line) for line in lines]


def _data(stored: "StoredRun") -> str:
    known = stored.dataset
    parts = [f"{known.name}: {known.task}"]
    parts += [f"{known.n_rows:,} rows"] if known.n_rows is not None else []
    parts += [f"{known.n_columns:,} features"] if known.n_columns is not None else []
    parts += [f"target {known.target!r}"] if known.target is not None else []
    return ", ".join(parts)


def _scores(stored: "StoredRun") -> list[str]:
    """Return a line per metric, the one that the session optimised first."""
    first = metric_of(stored)
    names = sorted(stored.run.scores, key=lambda name: (name != first, name))
    return [_score(name, stored.run.scores[name]) for name in names]


def _score(name: str, values: float | Sequence[float]) -> str:
    label, mean = shown(name, mean_of(values))
    told = f"{label} {number(mean)}"
    if isinstance(values, float | int):
        return told
    folds = [shown(name, value)[1] for value in values if not math.isnan(value)]
    return f"{told} ({number(min(folds))} to {number(max(folds))} over {len(folds)} folds)" if folds else told


def _cost(stored: "StoredRun") -> str:
    run = stored.run
    parts = [f"{run.fit_seconds:.2f} s to fit"] if run.fit_seconds is not None else []
    parts += [f"{run.predict_seconds:.2f} s to predict"] if run.predict_seconds is not None else []
    parts += [f"{run.peak_megabytes:,.0f} MB"] if run.peak_megabytes is not None else []
    return ", ".join(parts) or "not known"


def _made(stored: "StoredRun") -> str:
    run, session = stored.run, stored.session
    parts = [f"{_moment(run.finished_at):%Y-%m-%d %H:%M} UTC"] if run.finished_at is not None else []
    if session is not None:
        chance = "" if session.seed is None else f" of seed {session.seed}"
        parts.append(f"by {session.kind} session {session.key[:8]}{chance}")
    return ", ".join([*parts, f"evaluated with seed {run.seed}"])


def _proposer(stored: "StoredRun") -> str:
    run = stored.run
    name = "unknown" if run.proposal is None else run.proposal.proposer
    if run.origin == "surrogate" and name == "experience":
        return PROPOSED_BY_EXPERIENCE
    return PROPOSED[run.origin].format(algorithm=run.algorithm, proposer=name)


def _predicted(stored: "StoredRun", proposal: "ProposalRecord") -> list[str]:
    """Return what was predicted beside what came out."""
    run, lines = stored.run, []
    if proposal.predicted_score is not None:
        lines.append(_predicted_score(stored, proposal.predicted_score, proposal.predicted_std))
    if proposal.predicted_seconds is not None:
        took = (run.fit_seconds or 0.0) + (run.predict_seconds or 0.0)
        lines.append(f"{proposal.predicted_seconds:.2f} s; it took {took:.2f} s")
    if proposal.acquisition is not None:
        lines.append(f"acquisition value {proposal.acquisition:.4g}")
    return lines


def _predicted_score(stored: "StoredRun", predicted: float, std: float | None) -> str:
    from metaml.ensemble.threshold_scores import depends_on_thresholds
    from metaml.evaluation import METRICS

    name = metric_of(stored)
    label, value = shown(name, predicted)
    told = f"{label} {number(value)}" + ("" if std is None else f" ± {number(std)}")
    actual = mean_of(stored.run.scores[name]) if name in stored.run.scores else math.nan
    if math.isnan(actual):
        return f"{told}; nothing came out ({stored.run.status})"
    if name in METRICS and depends_on_thresholds(name):
        # A search predicts what it judges by, but the scores of a run are those at the plain line between classes.
        return f"{told} after thresholds; {number(actual)} came out before them"
    gap = actual - predicted
    # A loss that is shown positive is still stored so that higher is better.
    by = f" by {abs(gap) / std:.1f} sd" if std else ""
    verdict = "as predicted" if gap == 0 else f"{'better' if gap > 0 else 'worse'} than predicted{by}"
    return f"{told}; {number(shown(name, actual)[1])} came out, {verdict}"


def _experience(stored: "StoredRun") -> list[str]:
    """Return which past data sets spoke for the run, or that none did."""
    details = {} if stored.run.proposal is None else stored.run.proposal.details
    reasons = [str(reason) for reason in _list(details.get("reasons"))]
    carriers = [_carrier(item) for item in _list(details.get("carriers")) if isinstance(item, Mapping)]
    lines = []
    if _is_number(details.get("expected")):
        lines += _fact("Experience", f"{details['expected']:+.2f} sd expected, in the scores of a data set like this")
    if _is_number(details.get("expected_level")):
        share = f"{details['expected_level']:.0%} of the way from the median to the best"
        lines += _fact("Experience", f"{share} on past data sets, similar ones counting more")
    lines += _listed("Reasons", reasons) + _listed("Past data sets", carriers)
    if details.get("guard"):
        lines += _fact("Guard", str(details["guard"]))
    if not reasons and not carriers:
        is_advised = stored.run.origin == "warm start" or _proposer(stored) == PROPOSED_BY_EXPERIENCE
        lines.append(
            "Experience proposed it, but its reasons were not kept."
            if is_advised
            else "It was made without experience: no past data set spoke for it."
        )
    others = [f"{name}={value}" for name, value in details.items() if name not in EXPLAINED]
    return [*lines, *(_fact("Details", ", ".join(others)) if others else [])]


def _carrier(item: Mapping[str, Any]) -> str:
    """Return a past data set, how the configuration did there, and how much that means here."""
    known = [form.format(item[name]) for name, form in MEASURED.items() if _is_number(item.get(name))]
    if item.get("run"):
        known.append(f"run {str(item['run'])[:8]}")
    return f"{item.get('dataset', 'unknown')}: {', '.join(known) or 'nothing is known'}"


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def metric_of(stored: "StoredRun") -> str:
    """Return the metric that a run's session optimised; else the one that its task is judged by, if it has it."""
    from metaml.evaluation.scoring import DEFAULT_METRICS

    scores = stored.run.scores
    lineup = None if stored.session is None else stored.session.settings.get("lineup")
    optimised = lineup.get("metric") if isinstance(lineup, Mapping) else None
    usual = {str(task): name for task, name in DEFAULT_METRICS.items()}.get(stored.dataset.task)
    known = [str(name) for name in (optimised, usual) if name is not None and (name in scores or not scores)]
    return next(iter(known), min(scores, default="score"))


def shown(name: str, value: float) -> tuple[str, float]:
    """Return a metric's label and value as people know them; a metric of others keeps its name."""
    from metaml.evaluation import METRICS, display

    return display(name, value) if name in METRICS else (name, value)


def mean_of(values: float | Sequence[float]) -> float:
    """Return the mean over the folds where a metric is defined, NaN where there are none."""
    if isinstance(values, float | int):
        return float(values)
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def number(value: float) -> str:
    """Return a score as a person reads it, as in the report."""
    from metaml.report.wording import number as told

    return told(value)


def defined(value: float | None) -> float | None:
    """Return a score, or None where it is undefined: JSON has no other word for it."""
    return None if value is None or math.isnan(value) else value


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _fact(name: str, told: str) -> list[str]:
    """Return a labelled fact as lines that fit."""
    return wrapped(told, f"{name:<{LABEL}}")


def _listed(name: str, entries: Sequence[str]) -> list[str]:
    """Return several facts under one label."""
    return [line for place, told in enumerate(entries) for line in _fact("" if place else name, told)]
