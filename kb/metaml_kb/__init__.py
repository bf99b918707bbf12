"""The knowledge base: records, SQL and data frames; no machine learning.

Start with `open_kb`. A name is loaded when it is first used, so `import metaml_kb` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaml_kb.records import (
        DatasetRecord,
        EnvironmentRecord,
        FoldPlanRecord,
        ProposalRecord,
        Run,
        SessionRecord,
        canonical_json,
    )
    from metaml_kb.sql import KnowledgeBase, open_kb
    from metaml_kb.writing import Added, Clash

_HOMES = {
    "Added": "writing",
    "Clash": "writing",
    "DatasetRecord": "records",
    "EnvironmentRecord": "records",
    "FoldPlanRecord": "records",
    "KnowledgeBase": "sql",
    "ProposalRecord": "records",
    "Run": "records",
    "SessionRecord": "records",
    "canonical_json": "records",
    "open_kb": "sql",
}

__all__ = [
    "Added",
    "Clash",
    "DatasetRecord",
    "EnvironmentRecord",
    "FoldPlanRecord",
    "KnowledgeBase",
    "ProposalRecord",
    "Run",
    "SessionRecord",
    "canonical_json",
    "open_kb",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"metaml_kb.{_HOMES[name]}"), name)
