"""Find one run by its key, or its beginning, with all records it refers to; claim one that is to be made."""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Table, select, text
from sqlalchemy.exc import DBAPIError

from metaml_kb import tables
from metaml_kb.engine import explained, reading
from metaml_kb.errors import BadQuery
from metaml_kb.records import (
    FINAL,
    DatasetRecord,
    EnvironmentRecord,
    FoldPlanRecord,
    ProposalRecord,
    Run,
    SessionRecord,
)
from metaml_kb.runrows import RUN_ROWS, proposal_of, run_of
from metaml_kb.sql import KnowledgeBase

KEY_LENGTH = 32
MOST_NAMED = 5
FAMILY = 0x6D6574616D6C
"""Sets our locks apart from those of other programs on the same server."""
FINISHED = "finished"
"""The event that tells of a finished run."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run, with the records that it names by their keys. Its predictions are not loaded."""

    key: str
    run: Run
    dataset: DatasetRecord
    fold_plan: FoldPlanRecord
    session: SessionRecord | None
    environment: EnvironmentRecord | None


def final_models(kb: KnowledgeBase, dataset: str) -> list[dict[str, Any]]:
    """Return what is stored of the final models of tuning sessions on a data set (fingerprint), newest first.

    Each is a dict with `metric` and `score`. Newer sessions also have `members`: pairs of a run key and its weight.

    >>> import metaml_kb
    >>> with metaml_kb.open_kb(":memory:") as kb:
    ...     key = kb.start_session("tune", settings={"dataset": "f" * 32})
    ...     kb.finish_session(key, final={"metric": "roc_auc", "score": 0.9})
    ...     [final["score"] for final in final_models(kb, "f" * 32)]
    [0.9]
    """
    table = tables.session
    query = (
        select(table.c.settings)
        .where(table.c.kind == "tune", table.c.finished_at.is_not(None))
        .order_by(table.c.started_at.desc(), table.c.id.desc())
    )
    with reading(kb.engine) as connection:
        settings = [json.loads(text) for (text,) in connection.execute(query)]
    return [found[FINAL] for found in settings if found.get("dataset") == dataset and found.get(FINAL)]


def find_run(kb: KnowledgeBase, beginning: str) -> StoredRun:
    """Return the only run whose key begins with these characters, or the run of this number in the last session.

    A number of up to four digits counts the runs in the order in which the last session finished them. If it has not so
    many, the digits begin a key.
    The key is the identity, as in the column `run` of `KnowledgeBase.runs`. Raises `BadQuery` if no run or several runs
    have such a key.
    """
    with reading(kb.engine) as connection:
        wanted = beginning.strip().lower()
        row = _run_row(connection, _numbered(connection, wanted) or wanted, kb.name)
        dataset = DatasetRecord(**_record(connection, tables.dataset, row["dataset_id"], "added_at"))
        plan = FoldPlanRecord(**_record(connection, tables.fold_plan, row["fold_plan_id"]))
        session = environment = None
        if row["session_id"] is not None:
            session = SessionRecord(**_record(connection, tables.session, row["session_id"]))
        if row["environment_id"] is not None:
            environment = EnvironmentRecord(**_record(connection, tables.environment, row["environment_id"], "key"))
        run = run_of(
            row,
            dataset=dataset.fingerprint,
            algorithm=_record(connection, tables.algorithm, row["algorithm_id"])["name"],
            hyperparameters=_names(connection, tables.parameter_set, row["parameter_set_id"]),
            metrics=_names(connection, tables.metric_set, row["metric_set_id"]),
            fold_plan=plan.key,
            session=None if session is None else session.key,
            environment=None if environment is None else environment.key,
            proposal=_proposal(connection, row["id"]),
        )
    return StoredRun(bytes(row["identity"]).hex(), run, dataset, plan, session, environment)


def _numbered(connection: Connection, word: str) -> str | None:
    """Return the key of the run that the last session finished as number `word`; None if there is none."""
    if not re.fullmatch(r"[1-9]\d{0,3}", word):
        return None
    event, session = tables.event, tables.session
    finished = event.c.kind == FINISHED
    latest = (
        select(event.c.session_id)
        .join(session, session.c.id == event.c.session_id)
        .where(finished)
        .order_by(session.c.started_at.desc(), session.c.id.desc())
        .limit(1)
    )
    owner = connection.execute(latest).scalar_one_or_none()
    query = select(event.c.details).where(finished, event.c.session_id == owner).order_by(event.c.number)
    details = connection.execute(query.offset(int(word) - 1).limit(1)).scalar_one_or_none()
    key = None if details is None else json.loads(details).get("run")
    return key if isinstance(key, str) else None


def _run_row(connection: Connection, beginning: str, where: str) -> Row:
    if not re.fullmatch(rf"[0-9a-f]{{1,{KEY_LENGTH}}}", beginning):
        raise BadQuery(
            f"{beginning!r} is not the key of a run, which has up to {KEY_LENGTH} of the characters 0-9 and a-f. "
            "See the column run of: metaml kb runs"
        )
    run = tables.run
    first, last = (bytes.fromhex(beginning.ljust(KEY_LENGTH, filler)) for filler in "0f")
    query = RUN_ROWS.where(run.c.identity.between(first, last)).order_by(run.c.identity).limit(MOST_NAMED + 1)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    if not rows:
        raise BadQuery(f"No run in {where} has a key that begins with {beginning}. See: metaml kb runs")
    if len(rows) > 1:
        named = ", ".join(bytes(row["identity"]).hex()[: len(beginning) + 8] for row in rows[:MOST_NAMED])
        others = " and others" if len(rows) > MOST_NAMED else ""
        raise BadQuery(f"Several runs have a key that begins with {beginning}: {named}{others}. Give more of it.")
    return rows[0]


def _record(connection: Connection, table: Table, number: int, *left_out: str) -> Row:
    """Return a row by its number, without the number and the columns `left_out`; JSON objects are decoded."""
    row = dict(connection.execute(select(table).where(table.c.id == number)).mappings().one())
    for column in table.columns:
        if tables.JSON_KINDS.get(column) is dict:
            row[column.name] = json.loads(row[column.name])
    return {name: value for name, value in row.items() if name not in ("id", *left_out)}


def _names(connection: Connection, table: Table, number: int) -> list[str]:
    """Return the names in a set of hyperparameters or metrics, by its row number."""
    names: list[str] = json.loads(_record(connection, table, number)["names"])
    return names


def _proposal(connection: Connection, number: int) -> ProposalRecord | None:
    table = tables.proposal
    found = connection.execute(select(table).where(table.c.run_id == number)).mappings().one_or_none()
    return None if found is None else proposal_of(found)


class Claims:
    """Runs that this process has claimed, by identity; use it in a `with` block.

    In PostgreSQL a claim is an advisory lock: the server gives it up when the process ends, however that happens. In
    SQLite every claim is granted, and a run that two processes make is stored once.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        if self._kb.engine.dialect.name == "postgresql":
            with explained(self._kb.engine.url):
                # A transaction that stays open would keep the server from cleaning up.
                self._connection = self._kb.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._connection is not None:
            # The pool would give the connection to somebody else, with its locks. One that broke has lost them anyway.
            with suppress(DBAPIError):
                self._connection.execute(text("SELECT pg_advisory_unlock_all()"))
            self._connection.close()
            self._connection = None

    def take(self, identity: str) -> bool:
        """Return whether this process may make a run: nobody else is about to, and it is not stored.

        >>> from metaml_kb import open_kb
        >>> with open_kb(":memory:") as kb, Claims(kb) as claims:
        ...     claims.take("00" * 16)
        True
        """
        if self._connection is None:
            return True
        with explained(self._kb.engine.url):
            query = text("SELECT pg_try_advisory_lock(:key)")
            if not self._connection.execute(query, {"key": _lock_number(identity)}).scalar():
                return False
            # Whoever had the lock before has stored the run before giving it up.
            stored = select(tables.run.c.id).where(tables.run.c.identity == bytes.fromhex(identity))
            if self._connection.execute(stored).first() is None:
                return True
        self.release([identity])
        return False

    def release(self, identities: Iterable[str]) -> None:
        """Give claims up, once the runs are stored."""
        if self._connection is None:
            return
        keys = [_lock_number(identity) for identity in identities]
        with explained(self._kb.engine.url):
            self._connection.execute(text("SELECT pg_advisory_unlock(key) FROM unnest(:keys) AS key"), {"keys": keys})


def _lock_number(identity: str) -> int:
    """Return the number of the lock for a run: 64 bits of its identity, with a sign as PostgreSQL wants it."""
    return ((int(identity[:16], 16) ^ FAMILY) + 2**63) % 2**64 - 2**63
