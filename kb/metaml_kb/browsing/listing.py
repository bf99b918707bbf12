"""Some runs at a time, as rows to show: by row number, by data set, or the next ones that pass a filter."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, func, select

from metaml_kb import tables
from metaml_kb.browsing.digest import BLOCK, Digest
from metaml_kb.columns import decode
from metaml_kb.records import Value

MOST_BLOCKS = 16
"""Adjacent blocks that one statement looks through."""
KEY = re.compile("[0-9a-f]{32}")
BYTES = 8
"""A score of a fold is a float64."""
SECONDS = func.coalesce(tables.run.c.fit_seconds, 0.0) + func.coalesce(tables.run.c.predict_seconds, 0.0)


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as a row of a table; `number` is its row number, `key` its identity.

    `n_scored` is the number of folds whose scores are stored; 0 if only the means are.
    """

    number: int
    key: str
    dataset: str
    fingerprint: str
    task: str
    algorithm: str
    config: Mapping[str, Value]
    status: str
    origin: str
    scores: Mapping[str, float]
    seconds: float
    finished_at: float | None
    session: str | None
    error: str | None
    n_scored: int = 0

    def score(self, metric: str) -> float:
        """Return a score; NaN if there is none."""
        return self.scores.get(metric, math.nan)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which runs to list: row numbers of data set, algorithm and session, and words; None is all of them."""

    dataset: int | None = None
    algorithm: int | None = None
    session: int | None = None
    status: str | None = None
    origin: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the SQL conditions that select the runs."""
        run = tables.run
        columns = {
            run.c.dataset_id: self.dataset,
            run.c.algorithm_id: self.algorithm,
            run.c.session_id: self.session,
            run.c.status: self.status,
            run.c.origin: self.origin,
        }
        return [column == value for column, value in columns.items() if value is not None]


def runs_by_number(connection: Connection, numbers: Sequence[int]) -> list[ListedRun]:
    """Return runs by their row numbers, in that order; one that does not exist is left out."""
    if not len(numbers):
        return []
    asked = [int(number) for number in numbers]
    found = {run.number: run for run in _rows(connection, _query().where(tables.run.c.id.in_(asked)))}
    return [found[number] for number in asked if number in found]


def runs_by_key(connection: Connection, keys: Iterable[str]) -> list[ListedRun]:
    """Return the runs with these identities, by row number; what is no identity, or not there, is left out."""
    asked = [bytes.fromhex(key) for key in keys if KEY.fullmatch(key)]
    return list(_rows(connection, _query().where(tables.run.c.identity.in_(asked)).order_by(tables.run.c.id)))


def next_runs(
    connection: Connection,
    digest: Digest,
    wanted: Wanted,
    *,
    limit: int,
    after: int | None = None,
    order: Literal["newest", "oldest"] = "newest",
) -> list[ListedRun]:
    """Return the first runs that pass a filter, by row number, beyond the row number `after`.

    The digest says where such runs can be, so that a rare kind is found without reading all others.
    """
    run, is_newest = tables.run, order == "newest"
    beyond = [] if after is None else [run.c.id < after if is_newest else run.c.id > after]
    # Numbers first: sorting them takes no other column of the runs.
    query = select(run.c.id).where(*wanted.conditions(), *beyond).order_by(run.c.id.desc() if is_newest else run.c.id)
    numbers: list[int] = []
    for place in _places(digest, wanted, after, is_newest):
        numbers += connection.execute(query.where(*place).limit(limit - len(numbers))).scalars()
        if len(numbers) >= limit:
            break
    return runs_by_number(connection, numbers)


def _places(digest: Digest, wanted: Wanted, after: int | None, is_newest: bool) -> Iterator[list[ColumnElement[bool]]]:
    """Yield where to look, one place after the other."""
    run = tables.run
    if wanted.dataset is not None:
        # An index leads to the runs on a data set.
        yield []
        return
    limits = []
    if wanted.session is not None:
        span = digest.spans.get(wanted.session)
        if span is None:
            return
        limits = [run.c.id >= span.first, run.c.id <= span.last]
    words = {"status": wanted.status, "origin": wanted.origin, "algorithm": wanted.algorithm}
    lists = [digest.blocks.get(kind, {}).get(word, []) for kind, word in words.items() if word is not None]
    if not lists:
        yield limits
        return
    blocks = sorted(set(lists[0]).intersection(*lists[1:]), reverse=is_newest)
    if after is not None:
        blocks = [block for block in blocks if (block <= after // BLOCK if is_newest else block >= after // BLOCK)]
    for first, last in _adjacent(blocks):
        yield [*limits, run.c.id >= first * BLOCK, run.c.id < (last + 1) * BLOCK]


def _adjacent(blocks: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of blocks that are side by side.

    >>> list(_adjacent([9, 8, 7, 4]))
    [(7, 9), (4, 4)]
    """
    group: list[int] = []
    for block in blocks:
        if group and (abs(block - group[-1]) > 1 or len(group) >= MOST_BLOCKS):
            yield min(group), max(group)
            group = []
        group.append(block)
    if group:
        yield min(group), max(group)


def runs_of_session(connection: Connection, digest: Digest, session: int, limit: int) -> list[ListedRun]:
    """Return the first runs of a session, oldest first."""
    return next_runs(connection, digest, Wanted(session=session), limit=limit, order="oldest")


def newest_complete(connection: Connection, dataset: int, algorithm: int, limit: int) -> list[ListedRun]:
    """Return the newest complete runs of an algorithm on a data set."""
    run = tables.run
    query = _query().where(run.c.dataset_id == dataset, run.c.algorithm_id == algorithm, run.c.status == "ok")
    return list(_rows(connection, query.order_by(run.c.id.desc()).limit(limit)))


def numbers_by_seconds(connection: Connection, wanted: Wanted) -> np.ndarray:
    """Return the row numbers of runs, the longest first."""
    query = select(tables.run.c.id, SECONDS).where(*wanted.conditions())
    rows = connection.execute(query).fetchall()
    numbers, seconds = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.array([]),) * 2
    return numbers[np.lexsort((numbers, -seconds))].astype(np.int64)


def numbers_by_score(connection: Connection, wanted: Wanted, metric: str) -> np.ndarray:
    """Return the row numbers of the runs that have a score by a metric, best first; the earlier of equals."""
    run, numbers, scores = tables.run, [np.array([], dtype=np.int64)], [np.array([])]
    for owner, text in connection.execute(select(tables.metric_set.c.id, tables.metric_set.c.names)).fetchall():
        names = json.loads(text)
        if metric not in names:
            continue
        query = select(run.c.id, run.c.score_list).where(*wanted.conditions(), run.c.metric_set_id == owner)
        if rows := connection.execute(query).fetchall():
            numbers.append(np.array([number for number, _ in rows]))
            lines = "\n".join([line for _, line in rows]).encode()
            scores.append(np.asarray(decode(lines, len(rows), len(names))[names.index(metric)], dtype=np.float64))
    ids: np.ndarray = np.concatenate(numbers)
    values = np.concatenate(scores)
    known = np.isfinite(values)
    order: np.ndarray = ids[known][np.lexsort((ids[known], -values[known]))]
    return order


def _query() -> Select[Any]:
    run, dataset, configuration = tables.run, tables.dataset, tables.configuration
    return (
        select(
            run.c.id,
            run.c.identity,
            dataset.c.name,
            dataset.c.fingerprint,
            dataset.c.task,
            tables.algorithm.c.name,
            tables.parameter_set.c.names,
            configuration.c.value_list,
            run.c.status,
            run.c.origin,
            tables.metric_set.c.names,
            run.c.score_list,
            SECONDS,
            run.c.finished_at,
            tables.session.c.key,
            run.c.error,
            func.length(run.c.fold_scores),
        )
        .select_from(run)
        .join(dataset, dataset.c.id == run.c.dataset_id)
        .join(tables.algorithm, tables.algorithm.c.id == run.c.algorithm_id)
        .join(configuration, configuration.c.id == run.c.configuration_id)
        .join(tables.parameter_set, tables.parameter_set.c.id == configuration.c.parameter_set_id)
        .join(tables.metric_set, tables.metric_set.c.id == run.c.metric_set_id)
        .outerjoin(tables.session, tables.session.c.id == run.c.session_id)
    )


def _rows(connection: Connection, query: Select[Any]) -> Iterator[ListedRun]:
    for row in connection.execute(query):
        number, identity, name, fingerprint, task, algorithm, names, values, *rest = row
        status, origin, metrics, scores, seconds, finished, session, error, n_bytes = rest
        known = json.loads(metrics)
        yield ListedRun(
            number=number,
            key=bytes(identity).hex(),
            dataset=name,
            fingerprint=fingerprint,
            task=task,
            algorithm=algorithm,
            config=dict(zip(json.loads(names), json.loads(values), strict=True)),
            status=status,
            origin=origin,
            scores={
                metric: math.nan if value is None else float(value)
                for metric, value in zip(known, json.loads(scores), strict=True)
            },
            seconds=seconds,
            finished_at=finished,
            session=session,
            error=error,
            n_scored=(n_bytes or 0) // (BYTES * max(1, len(known))),
        )
