"""The log of a session: numbered events, each a kind and details. Events are appended, never changed."""

import json
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from metaml_kb import dimensions, tables
from metaml_kb.errors import BadRecord
from metaml_kb.records import Event


def append_events(connection: Connection, session: str, events: Sequence[Event]) -> int:
    """Append events to the log of a session (key) and return the number of the last one."""
    table, now = tables.event, time.time()
    numbers = dimensions.number_names(connection, tables.session, "key", [session])
    if session not in numbers:
        raise BadRecord(f"There is no session {session!r} in the knowledge base. Open one with start_session.")
    owner = numbers[session]
    last = select(func.coalesce(func.max(table.c.number), 0)).where(table.c.session_id == owner)
    first = int(connection.execute(last).scalar_one()) + 1
    rows = [
        (owner, number, now, kind, dimensions.to_json(details))
        for number, (kind, details) in enumerate(events, start=first)
    ]
    dimensions.insert_rows(connection, table, ("session_id", "number", "at", "kind", "details"), rows)
    return first + len(rows) - 1


def read_events(connection: Connection, session: str, kind: str | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a session (key) in the order in which they were added, each as its kind and details."""
    table, owner = tables.event, tables.session
    query = (
        select(table.c.kind, table.c.details)
        .join(owner, owner.c.id == table.c.session_id)
        .where(owner.c.key == session)
        .order_by(table.c.number)
    )
    if kind is not None:
        query = query.where(table.c.kind == kind)
    return [(word, json.loads(details)) for word, details in connection.execute(query)]
