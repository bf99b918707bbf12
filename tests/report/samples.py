"""Reports to test with: a full one of two classes, and the smallest possible one."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from metaml.data import Repair
from metaml.explanation.effects import ColumnEffect, Interaction
from metaml.explanation.readable import ReadableEffect, ReadableModel
from metaml.explanation.score_card import score_card
from metaml.report import (
    CalibrationBin,
    Confusion,
    DatasetFacts,
    ExperienceFacts,
    FeatureImportance,
    Final,
    MemberFacts,
    ReadableFacts,
    ReportData,
    SessionFacts,
    TrialRow,
)
from metaml.report.evidence import Evidence

ALGORITHMS = ("lightgbm", "random_forest", "svm")


def trials(n: int = 40, seed: int = 0) -> list[TrialRow]:
    """Return evaluations of three algorithms, of which some are stopped and the first three are defaults."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(1, n + 1):
        is_stopped = number % 7 == 0
        rows.append(
            TrialRow(
                number=number,
                algorithm=ALGORITHMS[number % 3],
                status="partial" if is_stopped else "ok",
                origin="default" if number <= 3 else "surrogate",
                score=0.9 + 0.05 * float(rng.random()),
                seconds=0.5,
                at=0.6 * number,
                config={"depth": number, "rate": 0.1},
                predicted_score=None if number <= 3 else 0.93,
            )
        )
    return rows


def least() -> ReportData:
    """Return a report of a session in which nothing happened."""
    return ReportData(
        dataset=DatasetFacts(name="tiny", n_rows=5, n_features=1, task="binary", target="y"),
        metric="roc_auc",
        session=SessionFacts(used_seconds=1.0),
    )


def readable(word: str = "age", n_outputs: int = 1) -> ReadableFacts:
    """Return a sum of the effects of a number, a category and a pair; `word` names columns, levels and classes."""
    ones = np.ones(n_outputs)
    curve = ReadableEffect(
        (word,), ((20.0, 40.0, 60.0),), np.outer([-1.0, 0.5, 1.0], ones), 0.1 * ones, np.full(3, 0.3), 1, (True,)
    )
    levels = ReadableEffect(
        ("town",), ((word, "Ulm"),), np.outer([0.4, -0.4], ones), None, np.full(2, 0.5), 0.4, (False,)
    )
    grid = np.multiply.outer(np.array([[0.2, -0.2], [-0.2, 0.2], [0.0, 0.0]]), ones)
    pair = ReadableEffect(
        (word, "town"), ((20.0, 60.0, None), (word, "Ulm")), grid, None, np.full((3, 2), 1 / 6), 0.2, (True, False)
    )
    model = ReadableModel("additive", 0.3 * ones, (curve, levels, pair), None, 7)
    labels = (word, "yes") if n_outputs == 1 else tuple(f"{word} {k}" for k in range(n_outputs))
    card = score_card(model, pd.DataFrame(), are_classes=True)
    return ReadableFacts(model=model, card=card, labels=labels, agreement=0.98, note="A remark.")


def full() -> ReportData:
    """Return a report in which every part is there."""
    rows = trials()
    best = max((row for row in rows if row.status == "ok"), key=lambda row: row.score)
    return ReportData(
        dataset=DatasetFacts(
            name="loans.csv",
            n_rows=1200,
            n_features=7,
            task="binary",
            target="repaid",
            class_counts={"no": 300, "yes": 900},
            repairs=[Repair("id", "dropped", "it names the rows"), Repair(None, "2 rows dropped", "no target")],
        ),
        metric="roc_auc",
        session=SessionFacts(used_seconds=30.0, budget_seconds=30.0, session="ab" * 16, versions={"numpy": "2.0"}),
        trials=rows,
        baselines={"default lightgbm": 0.91, "default random_forest": 0.92, "constant": 0.5},
        final=Final(
            kind="ensemble",
            score=0.96,
            members=[
                MemberFacts(algorithm=best.algorithm, weight=0.75, score=best.score, config=best.config),
                MemberFacts(algorithm="svm", weight=0.25, score=0.9),
            ],
            multipliers={"no": 1.0, "yes": 0.25},
        ),
        hyperparameters={"lightgbm": [("rate", 0.5), ("depth", 0.3)]},
        features=[FeatureImportance("income", 0.05, 0.01), FeatureImportance("age", -0.001, 0.002)],
        effects=[
            ColumnEffect("income", (0.0, 10.0, 50.0), ((0.2, 0.4, 0.8), (0.3, 0.5, 0.7)), (0.2, 0.4, 0.4), "yes"),
            ColumnEffect("town", ("Ulm", "<b>"), ((0.4, 0.6), (0.5, 0.6)), (0.7, 0.3), "yes"),
        ],
        interactions=[
            Interaction("income", "age", 0.3, 0.05, (0.0, 50.0), (("low", (0.2, 0.4)), ("high", (0.6, 0.3)))),
            Interaction("income", "town", 0.1, 0.02),
        ],
        confusion=Confusion(["no", "yes"], [[200, 100], [50, 850]]),
        readable=readable(),
        evidence=Evidence(n_trained=80, n_tested=100, fold_scores=[0.8, 0.9]),
        calibration=[CalibrationBin(0.1, 0.15, 300), CalibrationBin(0.9, 0.88, 900)],
        experience=ExperienceFacts(
            n_datasets=12,
            n_runs=3456,
            similar=[("german", 0.3), ("credit", 0.5)],
            n_warm_starts=4,
            is_judged=True,
            guard_off={"svm": 7, "mlp": 12},
        ),
        ledger={"metafeatures": 1.0, "evaluations": 20.0, "optimiser": 4.0, "refit": 3.0, "report": 2.0},
    )


def numeric() -> ReportData:
    """Return a report of a regression."""
    rng = np.random.default_rng(0)
    truth = rng.normal(100, 20, 120)
    return replace(
        full(),
        dataset=DatasetFacts(
            name="houses",
            n_rows=120,
            n_features=3,
            task="regression",
            target="price",
            target_quantiles=(50.0, 85.0, 100.0, 115.0, 150.0),
        ),
        metric="neg_rmse",
        trials=[replace(row, score=-12 + row.score) for row in trials()],
        baselines={"default lightgbm": -12.0},
        final=Final(kind="single", score=-9.0, members=[MemberFacts(algorithm="svm", weight=1.0, score=-9.0)]),
        confusion=None,
        calibration=(),
        residuals=[(float(t), float(t + e)) for t, e in zip(truth, rng.normal(0, 5, 120), strict=True)],
    )


def failed() -> ReportData:
    """Return a report of a session whose only evaluation failed, so that a fallback was saved."""
    lost = TrialRow(
        number=1, algorithm="svm", status="failed", origin="default", score=math.nan, seconds=0.4, at=0.5, config={}
    )
    return replace(least(), trials=[lost], final=Final(kind="fallback", score=0.5))
