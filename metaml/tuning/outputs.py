"""The files of a tuning session: the model, the report, the leaderboard, the best configuration as JSON and as code."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from pprint import pformat
from typing import Any

import numpy as np
import pandas as pd

from metaml.data import Dataset
from metaml.data.weights import effective_rows
from metaml.ensemble.threshold_scores import moves_lines
from metaml.ensemble.thresholds import decide
from metaml.errors import BadRequest
from metaml.evaluation import metric
from metaml.evaluation.environment import library_versions
from metaml.metrics.base import some
from metaml.model.front import Front, remove_front, save_front
from metaml.report import (
    DatasetFacts,
    FeatureImportance,
    Final,
    MemberFacts,
    ReportData,
    SessionFacts,
    SplitComparison,
    SplitFacts,
    TrialRow,
    WeightFacts,
    basis,
    calibration_bins,
    confusion_of,
    hyperparameter_importance,
    leaderboard_csv,
    render,
    residual_sample,
    summary,
    validated,
)
from metaml.search.settings import TuneSettings
from metaml.tuning.evidence import evidence_of
from metaml.tuning.finished import Finished
from metaml.tuning.front.facts import front_facts
from metaml.tuning.own_test import OwnTest
from metaml.tuning.plain_code import plain_code
from metaml.tuning.results.readable import readable_facts
from metaml.tuning.stopping.progress import advice
from metaml.tuning.trials import Found

BEST_CODE = '''"""The best configuration that metaml found for a data set, and what it scores.

Run it in the environment it was made in: python best.py PATH_OF_THE_DATA
"""

import sys

from metaml.algorithms import ALGORITHMS
from metaml.data import {imported}read_dataset
from metaml.evaluation import Job, Limits, evaluate, make_plan
from metaml.ensemble.threshold_scores import threshold_score

DATASET = {dataset!r}
ALGORITHM = {algorithm!r}
CONFIG = {config}
# Its {validated} {label}.
SCORE = {score!r}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("Name the file that holds the data: python best.py PATH_OF_THE_DATA", file=sys.stderr)
        sys.exit(2)
    dataset = read_dataset(sys.argv[1], target={target!r}, task={task!r}{ignore}{options})
    plan = make_plan(dataset, {n_folds}, {plan_seed}, {max_rows})
    job = Job(dataset.fingerprint, ALGORITHM, CONFIG, plan, {seed}, Limits(float("inf")), keep_predictions=True)
    outcome = evaluate(job, dataset, ALGORITHMS[ALGORITHM])
    print(threshold_score(outcome, dataset.y, plan.assignment, {metric!r}{judged}))
'''


def report_data(
    dataset: Dataset,
    found: Found,
    finished: Finished,
    settings: TuneSettings,
    used_seconds: float,
    ledger: Mapping[str, float],
    features: Sequence[FeatureImportance],
    no_features: str,
    output: Path | None,
    *,
    comparison: SplitComparison | None = None,
    own_test: OwnTest | None = None,
    left_out: Sequence[str] = (),
    front: Front | None = None,
) -> ReportData:
    """Return all that the report tells; `no_features` says why nothing is known about the importance of columns.

    `left_out` are algorithms that cannot weigh rows.
    """
    trials = [
        TrialRow(
            number=number,
            algorithm=trial.run.algorithm,
            status=trial.outcome.status,
            origin=trial.run.origin,
            score=trial.score,
            seconds=trial.outcome.seconds,
            at=trial.at,
            config=dict(trial.run.config),
            predicted_score=None if trial.run.proposal is None else trial.run.proposal.predicted_score,
            run=trial.run.identity,
        )
        for number, trial in enumerate(found.trials, start=1)
    ]
    data = ReportData(
        dataset=_dataset_facts(dataset),
        metric=found.metric,
        is_after_thresholds=_moves_lines(dataset, found),
        split=_split_facts(dataset, found, comparison),
        weights=_weight_facts(dataset, left_out),
        own_test=None if own_test is None else own_test.facts(finished.model, found.metric, dataset.y),
        session=SessionFacts(
            used_seconds=used_seconds,
            budget_seconds=settings.seconds,
            n_workers=settings.n_workers,
            n_folds=found.plan.n_folds,
            seed=settings.seed,
            session=found.session,
            started=time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() - used_seconds)),
            bandit=settings.bandit,
            output=None if output is None else str(output),
            versions={"metaml": version("metaml"), **library_versions()},
        ),
        trials=trials,
        baselines={
            f"default {trial.run.algorithm}": trial.score
            for trial in found.trials
            if trial.run.origin == "default" and trial.outcome.status == "ok"
        },
        final=_final(dataset, finished),
        hyperparameters=hyperparameter_importance(trials),
        features=features,
        front=None if front is None else front_facts(front, found.trials),
        experience=found.experience,
        ledger=ledger,
        absent={"features": no_features} if no_features else {},
        advice=" ".join(filter(None, (found.ended, advice(found.forecast)))),
    )
    return replace(
        _with_errors(data, dataset, finished),
        evidence=evidence_of(dataset, found, finished),
        readable=readable_facts(dataset, finished.model),
    )


def _moves_lines(dataset: Dataset, found: Found) -> bool:
    if dataset.labels is None:
        return False
    return moves_lines(found.metric, dataset.y, found.plan.assignment, len(dataset.labels))


def _split_facts(dataset: Dataset, found: Found, comparison: SplitComparison | None) -> SplitFacts:
    options = dataset.roles.options
    # Folds that were given are what the user wants.
    hints = () if found.plan.strategy == "given" else tuple(map(str, dataset.hints))
    return SplitFacts(
        strategy=found.plan.strategy, group=options.group, time=options.time, hints=hints, other=comparison
    )


def _weight_facts(dataset: Dataset, left_out: Sequence[str]) -> WeightFacts | None:
    weights, column = dataset.row_weights, dataset.roles.options.weight
    if weights is None or column is None:
        return None
    return WeightFacts(
        column=column,
        least=float(weights.min()),
        most=float(weights.max()),
        n_effective=effective_rows(weights),
        left_out=tuple(left_out),
    )


def _dataset_facts(dataset: Dataset) -> DatasetFacts:
    counts: dict[str, int] = {}
    quantiles: tuple[float, ...] = ()
    if dataset.labels is not None:
        numbers = np.bincount(dataset.y, minlength=len(dataset.labels))
        counts = {str(label): int(n) for label, n in zip(dataset.labels, numbers, strict=True)}
    else:
        quantiles = tuple(float(q) for q in np.quantile(dataset.y, [0, 0.25, 0.5, 0.75, 1]))
    return DatasetFacts(
        name=dataset.name,
        n_rows=len(dataset.y),
        n_features=dataset.X.shape[1],
        task=dataset.task,
        target=dataset.target,
        target_was_guessed=dataset.target_was_guessed,
        class_counts=counts,
        target_quantiles=quantiles,
        repairs=dataset.repairs,
        warnings=dataset.warnings,
        increasing=dataset.roles.options.increasing,
        decreasing=dataset.roles.options.decreasing,
        rising_class="" if dataset.labels is None else str(dataset.labels[-1]),
    )


def _final(dataset: Dataset, finished: Finished) -> Final:
    multipliers = finished.model.multipliers
    labels = () if dataset.labels is None else dataset.labels
    return Final(
        kind=finished.kind,  # type: ignore[arg-type]
        score=finished.score,
        members=[
            MemberFacts(
                algorithm=member.trial.run.algorithm,
                weight=member.weight,
                score=member.trial.score,
                config=dict(member.trial.run.config),
                layer=member.trial.layer,
                feeds=member.feeds,
            )
            for member in finished.chosen
        ],
        multipliers=None if multipliers is None else dict(zip(map(str, labels), multipliers, strict=True)),
        why=finished.why,
        why_one_layer=finished.why_one_layer,
        shipped=finished.shipped,
        why_shipped=finished.why_shipped,
    )


def _with_errors(data: ReportData, dataset: Dataset, finished: Finished) -> ReportData:
    """Add where the model is right and wrong, out of fold."""
    predictions = finished.predictions
    if predictions is None:
        return data
    if dataset.labels is None:
        pairs = residual_sample(dataset.y, predictions.ravel(), np.random.default_rng(0))
        return replace(data, residuals=pairs)
    tested = np.isfinite(predictions).all(axis=1)
    factors = None if finished.model.multipliers is None else np.array(finished.model.multipliers)
    predicted, weight = decide(predictions[tested], factors), some(dataset.row_weights, tested)
    return replace(
        data,
        confusion=confusion_of(dataset.y[tested], predicted, list(dataset.labels), weight),
        calibration=calibration_bins(dataset.y[tested], predictions[tested], row_weights=weight),
    )


def write_files(
    output: Path,
    dataset: Dataset,
    found: Found,
    finished: Finished,
    data: ReportData,
    *,
    predictions: bool = False,
    front: Front | None = None,
) -> None:
    """Write all results of a session into a folder; on request, also the out-of-fold predictions of the model."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        finished.model.save(output)
        if front is None:
            remove_front(output)
        else:
            save_front(front, output)
        (output / "leaderboard.csv").write_text(leaderboard_csv(data), encoding="utf-8")
        (output / "best.json").write_text(
            json.dumps(summary(data), indent=2, ensure_ascii=False, default=str), encoding="utf-8"
        )
        (output / "report.html").write_text(render(data), encoding="utf-8")
        if predictions and finished.predictions is not None:
            _out_of_fold(dataset, finished).to_csv(output / "predictions.csv", index=False)
        for name, program in programs(dataset, found, data).items():
            if program is not None:
                (output / name).write_text(program, encoding="utf-8")
            else:  # The file of an earlier search would describe another model.
                (output / name).unlink(missing_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise BadRequest(f"Not all files in {output} can be written: {why}. Make room for them there.") from None


def _out_of_fold(dataset: Dataset, finished: Finished) -> pd.DataFrame:
    """Return what the model said of each row when it had not seen it; empty where a row was not tested.

    Rows are numbered as in the table that was read, from 0: some may have been left out.
    """
    predicted = np.asarray(finished.predictions, dtype=np.float64)
    if dataset.labels is None:
        return pd.DataFrame({"row": dataset.rows, "prediction": predicted.ravel()})
    factors = None if finished.model.multipliers is None else np.array(finished.model.multipliers)
    tested = np.isfinite(predicted).all(axis=1)
    labels = np.full(len(predicted), None, dtype=object)
    labels[tested] = np.asarray(dataset.labels)[decide(predicted[tested], factors)]
    columns = {str(label): predicted[:, code] for code, label in enumerate(dataset.labels)}
    return pd.DataFrame({"row": dataset.rows, "prediction": labels, **columns})


def programs(dataset: Dataset, found: Found, data: ReportData) -> dict[str, str | None]:
    """Return the programs that evaluate the best configuration again, by their names; None where there is none."""
    if not found.ranked:
        return {"best.py": None, "best_without_metaml.py": None}
    run = found.ranked[0].run
    plain = plain_code(dataset, run.algorithm, dict(run.config), metric=found.metric, n_folds=found.plan.n_folds)
    return {"best.py": best_code(dataset, found, data), "best_without_metaml.py": plain}


def best_code(dataset: Dataset, found: Found, data: ReportData) -> str:
    """Return a program whose score is that of the best single run."""
    best = found.ranked[0]
    config: dict[str, Any] = dict(best.run.config)
    said = dataset.roles.options.as_json()
    options = ", ".join(f"{name}={value!r}" for name, value in said.items())
    judged = ", is_forward=True" if found.plan.is_forward else ""
    judged += "" if dataset.row_weights is None else ", row_weights=dataset.row_weights"
    return BEST_CODE.format(
        imported="ColumnOptions, " if said else "",
        options=f", options=ColumnOptions({options})" if said else "",
        judged=judged,
        dataset=dataset.name,
        metric=metric(found.metric).name,
        validated=validated(data),
        label=metric(found.metric).name + basis(data),
        score=best.score,
        algorithm=best.run.algorithm,
        config=pformat(config, sort_dicts=False),
        target=dataset.target,
        task=dataset.task,
        ignore=f", ignore={dataset.ignored!r}" if dataset.ignored else "",
        n_folds=found.plan.n_folds,
        plan_seed=found.plan.seed,
        max_rows=found.plan.max_rows,
        seed=best.run.seed,
    )
