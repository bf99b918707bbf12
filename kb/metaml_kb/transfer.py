"""Merge one knowledge base into another by run identity, and compare two of them."""

import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Table, func, select, update

from metaml_kb import tables
from metaml_kb.dimensions import UNKNOWN, add_dataset, add_keyed, add_metafeatures, insert_rows, number_names
from metaml_kb.engine import reading, writing
from metaml_kb.errors import BadRecord
from metaml_kb.packing import pack_scores
from metaml_kb.predictions.packed import PackedPredictions, truth_in, unpack
from metaml_kb.records import DatasetRecord, ProposalRecord, Run
from metaml_kb.runrows import RUN_ROWS, proposal_of, run_of
from metaml_kb.sql import KnowledgeBase
from metaml_kb.words import names_of
from metaml_kb.writing import Added, Clash, canonical

CHUNK = 5_000
STORAGE_CLASSES = {int: {"integer"}, float: {"real", "integer"}, str: {"text"}, bytes: {"blob"}}
"""SQLite's names for the types of values. We check them because SQLite allows any value in any column."""
OBJECTS = tuple(column for column, kind in tables.JSON_KINDS.items() if kind is dict)
NONSENSE = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, zlib.error)
"""What reading may raise if metaml did not write the records."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge added: new data sets, new runs, runs that were known, and scores that clash."""

    n_datasets: int
    n_runs: int
    n_known: int
    clashes: tuple[Clash, ...]


def merge(target: KnowledgeBase, source: KnowledgeBase, *, name: str | None = None) -> Merged:
    """Add everything in the source to the target, and return what was new.

    Nothing in the target is overwritten. A run with another score in the source is returned as a clash. Merging again,
    or in another order, gives the same set of runs. `name` is what error messages call the source.

    Raises `BadRecord` if the source holds a record that cannot be stored; then nothing of it is stored.
    """
    with reading(source.engine) as there:
        check_records(there, name or source.name)
        n_datasets = _merge_datasets(target, there)
        _merge_keyed(target, there, tables.fold_plan, better="strategy")
        _merge_keyed(target, there, tables.environment, better="reference_seconds")
        _merge_keyed(target, there, tables.session, better="finished_at")
        _merge_events(target, there)
        added = sum((target.add_runs(runs) for runs in runs_in(there)), Added())
    return Merged(n_datasets, added.n_new, added.n_known, added.clashes)


def check_records(connection: Connection, name: str) -> None:
    """Raise `BadRecord` unless all records of a database can be stored. Another program may have written them."""
    try:
        if connection.dialect.name == "sqlite":
            _check_storage(connection)
        for column in OBJECTS:
            if not all(isinstance(json.loads(text), dict) for text in connection.execute(select(column)).scalars()):
                raise ValueError(f"no JSON object in {column.table.name}.{column.name}")
        for runs in runs_in(connection):
            canonical(runs)
            for run in runs:
                pack_scores(run.scores)
                if isinstance(run.predictions, PackedPredictions):
                    unpack(*run.predictions)
                    truth_in(run.predictions.n_rows, run.predictions.data)
    except (BadRecord, *NONSENSE) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise BadRecord(
            f"{name} holds what metaml never wrote ({reason}), so nothing of it was stored. Ask for a new copy."
        ) from None


def _check_storage(connection: Connection) -> None:
    """Raise unless the values in a SQLite file have the types of their columns and every reference has its row."""
    for table in tables.metadata.sorted_tables:
        for column in table.columns:
            allowed = STORAGE_CLASSES[column.type.python_type] | ({"null"} if column.nullable else set())
            wrong = select(func.typeof(column)).where(func.typeof(column).not_in(sorted(allowed))).limit(1)
            if (found := connection.execute(wrong).scalar()) is not None:
                raise ValueError(f"a value of type {found} in {table.name}.{column.name}")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise ValueError(f"a row of {broken[0]} that refers to no row of {broken[2]}")


def _rows(connection: Connection, table: Table) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]


def _merge_datasets(target: KnowledgeBase, there: Connection) -> int:
    """Add new data sets, and the metafeatures of all data sets; return how many data sets were new."""
    n_new = 0
    fingerprints = {}
    values: dict[tuple[int, str], dict[str, float]] = {}
    reasons: dict[tuple[int, str], dict[str, str]] = {}
    for row in _rows(there, tables.metafeature):
        key = (row["dataset_id"], row["source"])
        values.setdefault(key, {})[row["name"]] = float("nan") if row["value"] is None else row["value"]
        if row["reason"]:
            reasons.setdefault(key, {})[row["name"]] = row["reason"]
    costs: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for row in _rows(there, tables.metafeature_group):
        costs.setdefault((row["dataset_id"], row["source"]), {})[row["name"]] = row
    with writing(target.engine) as here:
        for row in _rows(there, tables.dataset):
            fingerprints[row.pop("id")] = row["fingerprint"]
            del row["added_at"]
            n_new += add_dataset(here, DatasetRecord(**row | {"details": json.loads(row["details"])}))
        for key, metafeatures in values.items():
            groups = costs.get(key, {})
            add_metafeatures(
                here,
                fingerprints[key[0]],
                metafeatures,
                source=key[1],
                reasons=reasons.get(key),
                seconds={name: row["seconds"] for name, row in groups.items()},
                n_rows={name: row["n_rows"] for name, row in groups.items()},
            )
    return n_new


def _merge_keyed(target: KnowledgeBase, there: Connection, table: Table, *, better: str) -> None:
    """Add the rows whose key is new. Replace a known row if it lacks the column `better` and the source has it."""
    with writing(target.engine) as here:
        known = {row["key"]: row for row in _rows(here, table)}
        for row in _rows(there, table):
            row.pop("id")
            mine = known.get(row["key"])
            if mine is None:
                add_keyed(here, table, row)
            elif mine[better] in (None, UNKNOWN) and row[better] not in (None, UNKNOWN):
                here.execute(update(table).where(table.c.key == row["key"]).values(**row))


def _merge_events(target: KnowledgeBase, there: Connection) -> None:
    """Add the events of each session that come after its last known event."""
    event = tables.event
    keys = names_of(there, tables.session, "key")
    with writing(target.engine) as here:
        numbers = number_names(here, tables.session, "key", keys.values())
        last = {
            session: number
            for session, number in here.execute(
                select(event.c.session_id, func.max(event.c.number)).group_by(event.c.session_id)
            )
        }
        fresh = []
        for row in _rows(there, event):
            session = numbers[keys[row["session_id"]]]
            if row["number"] > last.get(session, 0):
                fresh.append((session, row["number"], row["at"], row["kind"], row["details"]))
        insert_rows(here, event, ("session_id", "number", "at", "kind", "details"), fresh)


def runs_in(connection: Connection, *, chunk: int = CHUNK) -> Iterator[list[Run]]:
    """Yield every run as it was stored, in lists of at most `chunk`."""
    run = tables.run
    names = _Names(connection)
    after = 0
    while True:
        part = RUN_ROWS.where(run.c.id > after).order_by(run.c.id).limit(chunk)
        rows = connection.execute(part).mappings().fetchall()
        if not rows:
            return
        first, after = rows[0]["id"], rows[-1]["id"]
        proposals = _proposals(connection, first, after)
        predictions = _predictions(connection, first, after)
        yield [names.run(row, proposals.get(row["id"]), predictions.get(row["id"])) for row in rows]


class _Names:
    """The names for the numbers in the row of a run."""

    def __init__(self, connection: Connection) -> None:
        self.dataset = names_of(connection, tables.dataset, "fingerprint")
        self.algorithm = names_of(connection, tables.algorithm)
        self.fold_plan = names_of(connection, tables.fold_plan, "key")
        self.environment = names_of(connection, tables.environment, "key")
        self.session = names_of(connection, tables.session, "key")
        self.metrics = {n: json.loads(text) for n, text in names_of(connection, tables.metric_set, "names").items()}
        self.hyperparameters = {
            n: json.loads(text) for n, text in names_of(connection, tables.parameter_set, "names").items()
        }

    def run(self, row: Any, proposal: ProposalRecord | None, predictions: Any) -> Run:
        """Return the run of a row."""
        return run_of(
            row,
            dataset=self.dataset[row["dataset_id"]],
            algorithm=self.algorithm[row["algorithm_id"]],
            hyperparameters=self.hyperparameters[row["parameter_set_id"]],
            metrics=self.metrics[row["metric_set_id"]],
            fold_plan=self.fold_plan[row["fold_plan_id"]],
            environment=self.environment.get(row["environment_id"]),
            session=self.session.get(row["session_id"]),
            proposal=proposal,
            predictions=predictions,
        )


def _proposals(connection: Connection, first: int, last: int) -> dict[int, ProposalRecord]:
    table = tables.proposal
    rows = connection.execute(select(table).where(table.c.run_id.between(first, last))).mappings()
    return {row["run_id"]: proposal_of(row) for row in rows}


def _predictions(connection: Connection, first: int, last: int) -> dict[int, PackedPredictions]:
    table = tables.prediction
    rows = connection.execute(select(table).where(table.c.run_id.between(first, last)))
    return {number: PackedPredictions(*packed) for number, *packed in rows}


def difference(mine: KnowledgeBase, other: KnowledgeBase) -> pd.DataFrame:
    """Return the runs that are in `other` and not in `mine`: their number per data set and algorithm.

    Columns: dataset, algorithm, new_runs, and new_dataset (whether the data set is new too).
    """
    run = tables.run
    counts: Counter[tuple[int, int]] = Counter()
    with reading(mine.engine) as here, reading(other.engine) as there:
        datasets, algorithms = names_of(there, tables.dataset), names_of(there, tables.algorithm)
        known_datasets = set(names_of(here, tables.dataset, "fingerprint").values())
        fingerprints = names_of(there, tables.dataset, "fingerprint")
        query = select(run.c.id, run.c.identity, run.c.dataset_id, run.c.algorithm_id)
        after = 0
        while rows := there.execute(query.where(run.c.id > after).order_by(run.c.id).limit(CHUNK)).fetchall():
            after = rows[-1][0]
            known = set(
                here.execute(select(run.c.identity).where(run.c.identity.in_([row[1] for row in rows]))).scalars()
            )
            counts.update((row[2], row[3]) for row in rows if row[1] not in known)
    frame = pd.DataFrame(
        [
            (datasets[dataset], algorithms[algorithm], n, fingerprints[dataset] not in known_datasets)
            for (dataset, algorithm), n in counts.items()
        ],
        columns=["dataset", "algorithm", "new_runs", "new_dataset"],
    )
    return frame.sort_values(["dataset", "algorithm"], ignore_index=True)
