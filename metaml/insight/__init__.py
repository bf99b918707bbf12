"""What the runs on many data sets teach about algorithms and their settings. Pure functions; no storage."""

from metaml.insight.best_settings import BestSettings, SizeGroup, ValueEffect, best_settings, value_effects
from metaml.insight.dataset_map import DatasetMap, map_datasets
from metaml.insight.importance import Importance, importance
from metaml.insight.ranges import SuggestedRange, suggested_ranges
from metaml.insight.ranking import Ranking, expected_best, rank_algorithms, wins
from metaml.insight.runs import AlgorithmRuns, draw_weight
from metaml.insight.settings import Setting, varying_settings
from metaml.insight.summary import Insight, insight
from metaml.insight.tunability import Gain, Tunability, tunability

__all__ = [
    "AlgorithmRuns",
    "BestSettings",
    "DatasetMap",
    "Gain",
    "Importance",
    "Insight",
    "Ranking",
    "Setting",
    "SizeGroup",
    "SuggestedRange",
    "Tunability",
    "ValueEffect",
    "best_settings",
    "draw_weight",
    "expected_best",
    "importance",
    "insight",
    "map_datasets",
    "rank_algorithms",
    "suggested_ranges",
    "tunability",
    "value_effects",
    "varying_settings",
    "wins",
]
