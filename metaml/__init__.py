"""AutoML with a memory: every run it has ever made helps the next data set.

Names are loaded when first used: `import metaml` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaml.api import tune
    from metaml.blackbox import Optimizer, minimize
    from metaml.commands.advising import describe, learn, suggest
    from metaml.commands.bot import bot
    from metaml.commands.models import check, explain
    from metaml.commands.replaying import replay, replay_ensembles
    from metaml.commands.runs import reproduce, why
    from metaml.estimators import MetaMLClassifier, MetaMLRegressor
    from metaml.experience.knowledge_base import open_kb
    from metaml.experience.zero_shot import zero_shot
    from metaml.explanation.column_selection import columns
    from metaml.tuning.front.picking import pick
    from metaml.tuning.results.predicting import evaluate, load, predict
    from metaml.tuning.results.result import TuneResult
    from metaml_kb import DatasetRecord, KnowledgeBase, Run

__version__ = "0.1.0"

# Where a name is from, and after a colon what it is called there.
_HOMES = {
    "DatasetRecord": "metaml_kb",
    "KnowledgeBase": "metaml_kb",
    "MetaMLClassifier": "metaml.estimators",
    "MetaMLRegressor": "metaml.estimators",
    "Optimizer": "metaml.blackbox",
    "Run": "metaml_kb",
    "TuneResult": "metaml.tuning.results.result",
    "bot": "metaml.commands.bot",
    "check": "metaml.commands.models",
    "columns": "metaml.explanation.column_selection",
    "describe": "metaml.commands.advising",
    "explain": "metaml.commands.models",
    "evaluate": "metaml.tuning.results.predicting",
    "learn": "metaml.commands.advising",
    "load": "metaml.tuning.results.predicting",
    "minimize": "metaml.blackbox",
    "open_kb": "metaml.experience.knowledge_base",
    "pick": "metaml.tuning.front.picking",
    "predict": "metaml.tuning.results.predicting",
    "replay": "metaml.commands.replaying",
    "replay_ensembles": "metaml.commands.replaying",
    "reproduce": "metaml.commands.runs",
    "suggest": "metaml.commands.advising",
    "tune": "metaml.api",
    "why": "metaml.commands.runs",
    "zero_shot": "metaml.experience.zero_shot",
}

MODULES = ("optuna",)
"""Modules of functions for those who use another library, too."""

__all__ = [
    "DatasetRecord",
    "KnowledgeBase",
    "MetaMLClassifier",
    "MetaMLRegressor",
    "Optimizer",
    "Run",
    "TuneResult",
    "__version__",
    "bot",
    "check",
    "columns",
    "describe",
    "evaluate",
    "explain",
    "learn",
    "load",
    "minimize",
    "open_kb",
    "pick",
    "predict",
    "replay",
    "replay_ensembles",
    "reproduce",
    "suggest",
    "tune",
    "why",
    "zero_shot",
]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"metaml.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, original = _HOMES[name].partition(":")
    return getattr(import_module(home), original or name)


def __dir__() -> list[str]:
    return sorted(__all__)
