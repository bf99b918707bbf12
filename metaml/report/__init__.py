"""The report of a session: one self-contained page, and its facts as plain JSON.

Fill a `ReportData`; `render` makes the page, `summary` what best.json holds, `leaderboard_csv` the leaderboard.
"""

from metaml.report.analysis import calibration_bins, confusion_of, feature_importance, residual_sample
from metaml.report.data import (
    CalibrationBin,
    Confusion,
    DatasetFacts,
    ExperienceFacts,
    FeatureImportance,
    Final,
    MemberFacts,
    OwnTestFacts,
    ReadableFacts,
    ReportData,
    SessionFacts,
    SplitComparison,
    SplitFacts,
    TrialRow,
    WeightFacts,
    WorthFacts,
)
from metaml.report.importance import hyperparameter_importance
from metaml.report.page import render
from metaml.report.summary import leaderboard_csv, summary
from metaml.report.wording import basis, validated

__all__ = [
    "CalibrationBin",
    "Confusion",
    "DatasetFacts",
    "ExperienceFacts",
    "FeatureImportance",
    "Final",
    "MemberFacts",
    "OwnTestFacts",
    "ReadableFacts",
    "ReportData",
    "SessionFacts",
    "SplitComparison",
    "SplitFacts",
    "TrialRow",
    "WeightFacts",
    "WorthFacts",
    "basis",
    "calibration_bins",
    "confusion_of",
    "feature_importance",
    "hyperparameter_importance",
    "leaderboard_csv",
    "render",
    "residual_sample",
    "summary",
    "validated",
]
