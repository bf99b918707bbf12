"""Write example reports from real searches: `python benchmarks/report_example.py --output DIR [--seconds 20]`.

One for two classes, one for a number, one for several classes, and one of a fallback: to be looked at in a browser.
"""

import argparse
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.budget import Budget
from metaml.data import Dataset, from_frame
from metaml.ensemble.selection import select
from metaml.ensemble.threshold_scores import depends_on_thresholds
from metaml.ensemble.thresholds import decide, tune_multipliers
from metaml.evaluation import METRICS, LocalExecutor
from metaml.evaluation.environment import library_versions
from metaml.report import (
    DatasetFacts,
    ExperienceFacts,
    Final,
    MemberFacts,
    ReportData,
    SessionFacts,
    TrialRow,
    calibration_bins,
    confusion_of,
    feature_importance,
    hyperparameter_importance,
    leaderboard_csv,
    render,
    residual_sample,
    summary,
)
from metaml.search.settings import TuneSettings
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import Found
from metaml_kb import open_kb

BASELINES = ("lightgbm", "random_forest")


def example(name: str) -> Dataset:
    from sklearn import datasets

    if name == "sonar-like":
        frame = datasets.load_breast_cancer(as_frame=True).frame
        # The easy columns go, dirt comes: a report without repairs or errors shows little.
        frame = frame.drop(columns=[c for c in frame if "worst" in c or "concav" in c or "perimeter" in c])
        frame["target"] = frame["target"].map({0: "malignant", 1: "benign"})
        frame["sample id"] = [f"S-{number:05d}" for number in range(len(frame))]
        frame["batch"] = "2024-A"
        frame["mean texture"] = frame["mean texture"].astype(str).mask(frame.index % 17 == 0, "?")
        return from_frame(frame, target="target", name="breast-biopsies.csv")
    if name == "wine":
        frame = datasets.load_wine(as_frame=True).frame
        frame["target"] = frame["target"].map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
        return from_frame(frame.drop(columns=["proline", "flavanoids", "color_intensity"]), target="target", name=name)
    return from_frame(datasets.load_diabetes(as_frame=True, scaled=False).frame, target="target", name="diabetes")


def searched(dataset: Dataset, seconds: float, metric: str) -> tuple[Found, float]:
    settings = TuneSettings(metric=metric, seconds=seconds, n_workers=1)
    with open_kb(":memory:") as kb, LocalExecutor(1) as executor:
        budget = Budget(seconds)
        found = TuneSession(dataset, kb, settings, executor, budget=budget).run(reserve=lambda _: 0.15 * seconds)
        return found, budget.used


def facts_of(dataset: Dataset) -> DatasetFacts:
    counts = {}
    if dataset.labels is not None:
        counts = {str(dataset.labels[code]): n for code, n in Counter(dataset.y.tolist()).items()}
    return DatasetFacts(
        name=dataset.name,
        n_rows=len(dataset.y),
        n_features=dataset.X.shape[1],
        task=dataset.task,
        target=dataset.target,
        target_was_guessed=dataset.target_was_guessed,
        class_counts=counts,
        target_quantiles=() if counts else np.quantile(dataset.y, [0, 0.25, 0.5, 0.75, 1]).tolist(),
        repairs=dataset.repairs,
    )


def rows_of(found: Found) -> list[TrialRow]:
    return [
        TrialRow(
            number=number,
            algorithm=trial.run.algorithm,
            status=trial.run.status,
            origin=trial.run.origin or "random",
            score=trial.score,
            seconds=trial.outcome.seconds,
            at=trial.at,
            config=dict(trial.run.config),
            predicted_score=None if trial.run.proposal is None else trial.run.proposal.predicted_score,
        )
        for number, trial in enumerate(found.trials, start=1)
    ]


def report_of(dataset: Dataset, seconds: float, metric: str = "auto") -> ReportData:
    found, used = searched(dataset, seconds, metric)
    begun = time.perf_counter()
    best = [trial for trial in found.ranked if trial.outcome.predictions is not None][:20]
    if not best:
        raise SystemExit("No evaluation finished; give --seconds more.")
    predictions = [trial.outcome.predictions for trial in best]
    weights = select(predictions, dataset.y, found.metric, folds=found.plan.assignment)
    blended = sum(weight * prediction for weight, prediction in zip(weights, predictions, strict=True))
    measured, multipliers = METRICS[found.metric], None
    if depends_on_thresholds(found.metric):
        multipliers = tune_multipliers(blended, dataset.y, found.metric)
        answer = decide(blended, multipliers)
    else:
        answer = blended
    members = [
        MemberFacts(algorithm=t.run.algorithm, weight=float(w), score=t.score, config=dict(t.run.config))
        for w, t in zip(weights, best, strict=True)
        if w > 0
    ]
    ensemble_seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    rows = rows_of(found)
    data = ReportData(
        dataset=facts_of(dataset),
        metric=found.metric,
        session=SessionFacts(
            used_seconds=0.0,
            budget_seconds=seconds,
            session=found.session,
            bandit="increasing_effort",
            output="out",
            versions=library_versions(),
        ),
        trials=rows,
        baselines={
            f"default {r.algorithm}": r.score for r in rows if r.origin == "default" and r.algorithm in BASELINES
        },
        final=Final(
            kind="ensemble" if len(members) > 1 else "single",
            score=mean_over_folds(measured.function, dataset.y, answer, found.plan.assignment),
            members=members,
            multipliers=None
            if multipliers is None
            else {str(label): float(m) for label, m in zip(dataset.labels, multipliers, strict=True)},
        ),
        hyperparameters=hyperparameter_importance(rows),
        features=columns_of(dataset, found, seconds=0.5 * seconds),
        experience=ExperienceFacts(
            n_datasets=61,
            n_runs=48_213,
            similar=[("wdbc", 0.21), ("ionosphere", 0.48), ("sonar", 0.55), ("spectf", 0.71), ("pima", 0.93)],
            n_warm_starts=6,
            guard_off_at=31 if len(rows) > 31 else None,
        ),
    )
    if dataset.labels is None:
        residuals = residual_sample(dataset.y, blended, np.random.default_rng(0))
        data = replace(data, residuals=residuals)
    else:
        table = confusion_of(dataset.y, decide(blended, multipliers), list(dataset.labels))
        data = replace(data, confusion=table, calibration=calibration_bins(dataset.y, blended))
    report_seconds = time.perf_counter() - begun
    wall = used + ensemble_seconds + report_seconds
    ledger = {**found.ledger, "ensemble": ensemble_seconds, "report": report_seconds}
    ledger["idle"] = max(0.0, wall - sum(ledger.values()))
    return replace(data, session=replace(data.session, used_seconds=wall), ledger=ledger)


def mean_over_folds(function, truth: np.ndarray, answer: np.ndarray, folds: np.ndarray) -> float:
    """Return the score as a single run's is computed."""
    return float(np.mean([function(truth[folds == k], answer[folds == k]) for k in range(folds.max() + 1)]))


def columns_of(dataset: Dataset, found: Found, seconds: float) -> list:
    """Return the importance of the columns for the best configuration, on rows its fold models did not see."""
    best = found.ranked[0]
    algorithm = ALGORITHMS[best.run.algorithm]
    is_number = dataset.labels is None
    models = []
    for fold in range(found.plan.n_folds):
        train, test = found.plan.split(fold)
        model = algorithm.build(dict(best.run.config), task=dataset.task, seed=0)
        model.fit(dataset.X.iloc[train], dataset.y[train])
        models.append((model.predict if is_number else model.predict_proba, test))
    measured = METRICS[found.metric]

    def score(truth: np.ndarray, prediction: np.ndarray) -> float:
        return measured.function(truth, prediction.argmax(axis=1) if measured.needs == "labels" else prediction)

    rng = np.random.default_rng(0)
    return feature_importance(models, dataset.X, dataset.y, score, rng=rng, budget=Budget(seconds))


def fallback() -> ReportData:
    return ReportData(
        dataset=DatasetFacts(
            name="five-rows.csv",
            n_rows=5,
            n_features=2,
            task="binary",
            target="bought",
            target_was_guessed=True,
            class_counts={"no": 3, "yes": 2},
        ),
        metric="roc_auc",
        session=SessionFacts(used_seconds=1.1, budget_seconds=1.0, versions=library_versions(), output="my models"),
        trials=[
            TrialRow(
                number=1, algorithm="lightgbm", status="timeout", origin="default", score=np.nan, seconds=0.6, at=0.7
            )
        ],
        final=Final(kind="fallback", score=0.5, why="It always predicts the class shares of the training rows."),
        ledger={"evaluations": 0.6, "metafeatures": 0.2, "refit": 0.1},
        absent={"errors": "The fallback gives every row the same probabilities; there is nothing to look at."},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", nargs="*", help="binary, regression, multiclass, fallback")
    options = parser.parse_args()
    made = {
        "binary": lambda: report_of(example("sonar-like"), options.seconds),
        "regression": lambda: report_of(example("diabetes"), options.seconds),
        "multiclass": lambda: report_of(example("wine"), options.seconds, "f1_macro"),
        "fallback": fallback,
    }
    for name, make in made.items():
        if options.only and name not in options.only:
            continue
        data = make()
        folder = options.output / name
        folder.mkdir(parents=True, exist_ok=True)
        page = render(data)
        (folder / "report.html").write_text(page, encoding="utf-8")
        (folder / "best.json").write_text(json.dumps(summary(data), indent=2), encoding="utf-8")
        (folder / "leaderboard.csv").write_text(leaderboard_csv(data), encoding="utf-8")
        print(f"{name}: {len(page.encode()) / 1000:.0f} kB, {summary(data)['headline']}")


if __name__ == "__main__":
    main()
