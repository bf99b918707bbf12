"""A result in MLflow: its settings, scores and files as one run. Nothing is sent unless the caller asks for it."""

import json
import math
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from metaml.errors import BadRequest
from metaml.evaluation.scoring import display
from metaml.model import Model
from metaml.report import ReportData, leaderboard_csv, render, summary

LONGEST = 500
"""The most characters of a parameter in MLflow."""


def log_result(facts: ReportData, model: Model, *, experiment: str | None = None, run_name: str | None = None) -> str:
    """Log a result as a run of MLflow and return the run's key; the tracking server is the one MLflow is set to.

    Raises `BadRequest` if MLflow is not installed.
    """
    try:
        mlflow: Any = import_module("mlflow")
    except ImportError:
        raise BadRequest("MLflow is not installed. Install it with: pip install metaml[mlflow]") from None
    if experiment is not None:
        mlflow.set_experiment(experiment)
    # Somebody's own run that is open becomes the parent.
    with mlflow.start_run(run_name=run_name or facts.dataset.name, nested=mlflow.active_run() is not None) as run:
        mlflow.log_params(_parameters(facts))
        mlflow.set_tag("metaml.session", facts.session.session)
        if model.score is not None:
            mlflow.log_metric(*display(facts.metric, model.score))
        best = -math.inf
        for trial in facts.trials:
            if trial.status == "ok" and trial.score > best:
                best = trial.score
                name, value = display(facts.metric, best)
                mlflow.log_metric(f"best_{name}", value, step=trial.number)
        with TemporaryDirectory() as folder:
            _write(Path(folder), facts, model)
            mlflow.log_artifacts(folder)
    return str(run.info.run_id)


def _parameters(facts: ReportData) -> dict[str, str]:
    best = summary(facts)["best"]
    own = {} if best is None else {"algorithm": best["algorithm"], "config": json.dumps(best["config"], default=str)}
    named = {
        "dataset": facts.dataset.name,
        "target": facts.dataset.target,
        "task": facts.dataset.task,
        "metric": facts.metric,
        "n_rows": facts.dataset.n_rows,
        "n_evaluations": len(facts.trials),
        "seconds": round(facts.session.used_seconds, 1),
        "seed": facts.session.seed,
        **own,
    }
    return {name: str(value)[:LONGEST] for name, value in named.items()}


def _write(folder: Path, facts: ReportData, model: Model) -> None:
    model.save(folder)
    (folder / "report.html").write_text(render(facts), encoding="utf-8")
    (folder / "leaderboard.csv").write_text(leaderboard_csv(facts), encoding="utf-8")
