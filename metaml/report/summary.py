"""The facts of a report as plain JSON and csv: what programs, and `metaml show`, read."""

import csv
import io
import json
import math
from collections import Counter
from dataclasses import asdict
from typing import Any

from metaml.evaluation.scoring import display, metric
from metaml.report.data import DatasetFacts, ExperienceFacts, Final, OwnTestFacts, ReportData
from metaml.report.split_wording import own_test_sentence, split_sentences, weight_sentences
from metaml.report.wording import (
    basis,
    comparison,
    complete,
    directions_sentence,
    effort,
    metric_label,
    model_words,
    score_error,
    score_text,
    validated,
)
from metaml.report.worth import worth_text

FORMAT = 1
"""Increases when a key changes its meaning or is removed; new keys may be added at any time."""

COLUMNS = (
    "rank",
    "number",
    "algorithm",
    "score",
    "status",
    "origin",
    "seconds",
    "at",
    "predicted_score",
    "config",
    "run",
)


def summary(data: ReportData) -> dict[str, Any]:
    """Return what best.json holds. Scores are higher-is-better; `shown` is the value people know; None is unknown."""
    final, best = data.final, next(iter(complete(data)), None)
    return {
        "format": FORMAT,
        "headline": _headline(data),
        "dataset": {**_dataset(data.dataset), "directions": directions_sentence(data) or None},
        "metric": {
            "name": data.metric,
            "label": metric_label(data.metric),
            "is_loss": metric(data.metric).is_loss,
            # The scores shown are those of labels after the tuned decision thresholds.
            "is_after_thresholds": data.is_after_thresholds,
        },
        "split": {
            "strategy": data.split.strategy,
            "group": data.split.group,
            "time": data.split.time,
            "hints": list(data.split.hints),
            "said": split_sentences(data),
        },
        "weights": None if data.weights is None else {**asdict(data.weights), "said": weight_sentences(data)},
        "costs": [] if data.evidence is None else [asdict(row) for row in data.evidence.costs],
        "test": None if data.own_test is None else _own_test(data.metric, data.own_test),
        "model": None if final is None else _model(data.metric, final),
        "best": None
        if best is None
        else {
            "number": best.number,
            "run": best.run or None,
            "algorithm": best.algorithm,
            "score": _plain(best.score),
            "shown": _plain(display(data.metric, best.score)[1]),
            "config": dict(best.config),
        },
        "baselines": {name: _plain(score) for name, score in data.baselines.items()},
        "evaluations": dict(Counter(trial.status for trial in data.trials)),
        "experience": None if data.experience is None else _experience(data.experience),
        "session": {
            "key": data.session.session,
            "started": data.session.started,
            "seed": data.session.seed,
            "n_workers": data.session.n_workers,
            "bandit": data.session.bandit,
            "budget_seconds": data.session.budget_seconds,
            "used_seconds": round(data.session.used_seconds, 3),
        },
        "ledger": {name: round(seconds, 3) for name, seconds in data.ledger.items()},
        "versions": dict(data.session.versions),
    }


def _dataset(facts: DatasetFacts) -> dict[str, Any]:
    """Return what best.json says about the data."""
    return {
        "name": facts.name,
        "n_rows": facts.n_rows,
        "n_features": facts.n_features,
        "task": facts.task,
        "target": facts.target,
        "target_was_guessed": facts.target_was_guessed,
        "repairs": [str(repair) for repair in facts.repairs],
        "warnings": list(facts.warnings),
        "increasing": list(facts.increasing),
        "decreasing": list(facts.decreasing),
    }


def _model(metric: str, final: Final) -> dict[str, Any]:
    """Return what best.json says about the final model."""
    return {
        "kind": final.kind,
        "score": _plain(final.score),
        "shown": _plain(display(metric, final.score)[1]),
        "why": final.why,
        "n_layers": final.n_layers,
        "why_one_layer": final.why_one_layer,
        "shipped": final.shipped,
        "why_shipped": final.why_shipped,
        "multipliers": None if final.multipliers is None else dict(final.multipliers),
        "members": [
            {
                "algorithm": member.algorithm,
                "weight": _plain(member.weight),
                "score": _plain(member.score),
                "layer": member.layer,
                "feeds": member.feeds,
                "config": dict(member.config),
            }
            for member in final.members
        ],
    }


def _own_test(metric: str, facts: OwnTestFacts) -> dict[str, Any]:
    """Return what best.json says about the user's own test table."""
    return {
        "name": facts.name,
        "n_rows": facts.n_rows,
        "score": _plain(facts.score),
        "shown": _plain(display(metric, facts.score)[1]),
        "standard_error": _plain(facts.error),
        "notes": list(facts.notes),
    }


def _experience(facts: ExperienceFacts) -> dict[str, Any]:
    """Return what best.json says about experience."""
    return {
        "n_datasets": facts.n_datasets,
        "n_runs": facts.n_runs,
        "n_warm_starts": facts.n_warm_starts,
        "guard_off": dict(facts.guard_off),
        "similar": [{"name": name, "distance": _plain(value)} for name, value in facts.similar],
        "worth": None if facts.worth is None else asdict(facts.worth),
        "worth_text": worth_text(facts),
    }


def leaderboard_csv(data: ReportData) -> str:
    """Return every evaluation as csv, best first, those without a comparable score last and without a rank."""
    best = complete(data)
    ranked = {id(trial) for trial in best}
    others = sorted((trial for trial in data.trials if id(trial) not in ranked), key=lambda trial: trial.number)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place, trial in enumerate([*best, *others], start=1):
        rank = place if place <= len(best) else ""
        score = "" if _plain(trial.score) is None else repr(trial.score)
        writer.writerow(
            [
                rank,
                trial.number,
                trial.algorithm,
                score,
                trial.status,
                trial.origin,
                f"{trial.seconds:.4f}",
                f"{trial.at:.4f}",
                "" if trial.predicted_score is None else f"{trial.predicted_score:.6g}",
                json.dumps(trial.config),
                trial.run,
            ]
        )
    return text.getvalue()


def _headline(data: ReportData) -> str:
    if data.final is None:
        return f"No model was found. {effort(data)}"
    reached = f"{metric_label(data.metric)}{basis(data)} {score_text(data.metric, data.final.score)}{score_error(data)}"
    known = f": {validated(data)} {reached}." if math.isfinite(data.final.score) else "; its score is not known."
    why = f"It was saved because {data.final.why}." if data.final.why else ""
    said = [f"{model_words(data)}{known}", own_test_sentence(data), why, comparison(data), effort(data)]
    return " ".join(sentence for sentence in said if sentence)


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
