"""SQL from a visitor: one SELECT that reads, within bounds of time, memory and rows, one query at a time."""

import re
import threading
from dataclasses import dataclass

import pandas as pd

from metaml_kb.browsing.read_only import STATEMENT_SECONDS
from metaml_kb.errors import BadQuery
from metaml_kb.query import read_sql
from metaml_kb.sql import KnowledgeBase

MOST_MEGABYTES = 200.0
_FOREIGN = re.compile(r"\b(?:pg_\w+|lo_\w+|dblink\w*|set_config|\w+_to_xml\w*|ts_stat|ts_rewrite|U&\")", re.IGNORECASE)
"""What a SELECT of PostgreSQL can reach beyond the tables: files, locks, other sessions, and text run as SQL."""
_SECRET = re.compile(r"\bknowledge_base\b", re.IGNORECASE)
"""The table with the salt that hides names in private exports."""
_IN_TURN = threading.Lock()


@dataclass(frozen=True, eq=False)
class QueryRows:
    """The rows of a query; `is_cut` says that there are more."""

    frame: pd.DataFrame
    is_cut: bool


def read_free_sql(kb: KnowledgeBase, query: str, *, most_rows: int, seconds: float = STATEMENT_SECONDS) -> QueryRows:
    """Return at most so many rows of one SELECT.

    Raises `BadQuery` with a sentence if the query is wrong, would do anything but read the tables, or takes more than
    `seconds` or 200 megabytes. A second query waits `seconds` for the first one to end.

    >>> from metaml_kb import open_kb
    >>> with open_kb(":memory:") as kb:
    ...     found = read_free_sql(kb, "SELECT count(*) AS n FROM run", most_rows=10)
    >>> found.frame["n"].tolist(), found.is_cut
    ([0], False)
    """
    if kb.engine.dialect.name == "postgresql" and (foreign := _FOREIGN.search(query)):
        raise BadQuery(f"{foreign[0]} is not possible here: a query reads the tables of the knowledge base only.")
    if _SECRET.search(query):
        raise BadQuery("The table knowledge_base holds a secret for private exports, and cannot be read here.")
    if not _IN_TURN.acquire(timeout=seconds):
        raise BadQuery("Another query is under way. Try again in a few seconds.")
    try:
        frame = read_sql(kb.engine, query, timeout=seconds, limit_memory=MOST_MEGABYTES, most_rows=most_rows + 1)
    finally:
        _IN_TURN.release()
    return QueryRows(frame.head(most_rows), is_cut=len(frame) > most_rows)
