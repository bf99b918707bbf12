"""The knowledge base: records, SQL and data frames; no machine learning."""

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
