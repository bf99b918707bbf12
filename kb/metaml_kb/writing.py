"""Store runs: each run once, each chunk in one transaction."""

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, select

from metaml_kb import tables
from metaml_kb.dimensions import (
    Rows,
    insert_rows,
    next_id,
    number_shared,
    required,
    to_json,
    touch,
    with_new,
    with_new_plans,
)
from metaml_kb.errors import BadRecord
from metaml_kb.packing import pack_scores
from metaml_kb.predictions.packed import pack
from metaml_kb.records import ORIGINS, STATUSES, Run, plain, run_identity, split_config
from metaml_kb.runrows import AS_STORED

ERROR_LENGTH = 2000
FLOAT32_ROUNDING = 2.0**-23
COMPUTED = (
    *("id", "identity", "dataset_id", "algorithm_id", "configuration_id", "fold_plan_id", "environment_id"),
    *("session_id", "error", "finished_at", "metric_set_id", "score_list", "fold_scores"),
)
"""The columns of a run that `_insert_runs` computes, in this order. The others are fields of the record."""
COPIED = tuple(name for name in AS_STORED if name not in COMPUTED)
_copied = attrgetter(*COPIED)
Split = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Clash:
    """A run that is stored with another score.

    - `run`: its identity. `metric`: whose score it is.
    - `stored`, `offered`: the mean that is kept, and the one that was given; None if there is none.

    >>> Clash("f" * 32, "accuracy", stored=0.96, offered=0.95).metric
    'accuracy'
    """

    run: str
    metric: str
    stored: float | None
    offered: float | None


@dataclass(frozen=True, slots=True)
class Added:
    """What happened to the runs that were offered.

    - `n_new`, `n_known`: how many were stored, and how many the knowledge base had already.
    - `clashes`: the known ones whose scores differ.

    >>> (Added(n_new=2) + Added(n_new=1, n_known=1)).n_new
    3
    """

    n_new: int = 0
    n_known: int = 0
    clashes: tuple[Clash, ...] = field(default=())

    def __add__(self, other: "Added") -> "Added":
        return Added(self.n_new + other.n_new, self.n_known + other.n_known, self.clashes + other.clashes)


@dataclass(slots=True)
class RunChunk:
    """Checked runs, ready to store. The first three lists are parallel, with one entry per distinct run."""

    runs: list[Run] = field(default_factory=list)
    configs: list[Split] = field(default_factory=list)
    identities: list[bytes] = field(default_factory=list)
    repeated: list[tuple[Run, bytes]] = field(default_factory=list)


def chunks(runs: Iterable[Run], size: int) -> Iterator[list[Run]]:
    """Yield the runs in lists of at most `size`."""
    source = iter(runs)
    while chunk := list(islice(source, size)):
        yield chunk


def add_chunk(connection: Connection, runs: Sequence[Run]) -> Added:
    """Store these runs in the open transaction. Known runs stay as they are; clashing scores are returned."""
    chunk = canonical(runs)
    known = _known_runs(connection, chunk.identities)
    fresh = [i for i, identity in enumerate(chunk.identities) if identity not in known]
    first = next_id(connection, tables.run)
    numbers = {chunk.identities[i]: first + offset for offset, i in enumerate(fresh)}
    if fresh:
        _insert_runs(connection, [chunk.runs[i] for i in fresh], [chunk.configs[i] for i in fresh], numbers)
        touch(connection)
    again = [(chunk.runs[i], identity) for i, identity in enumerate(chunk.identities) if identity in known]
    again += chunk.repeated
    clashes = _clashes(connection, again) if again else ()
    return Added(len(fresh), len(again), clashes)


def canonical(runs: Sequence[Run]) -> RunChunk:
    """Check each run, and separate those that occur twice in the chunk. Raises `BadRecord` for a wrong one."""
    chunk, seen = RunChunk(), set()
    for run in runs:
        if run.status not in STATUSES:
            raise BadRecord(f"A run has the status {run.status!r}. Use one of: {', '.join(STATUSES)}.")
        if run.origin not in ORIGINS:
            raise BadRecord(f"A run has the origin {run.origin!r}. Use one of: {', '.join(ORIGINS)}.")
        names, values = split_config(run.config)
        identity = run_identity(run, names, values)
        if identity in seen:
            chunk.repeated.append((run, identity))
            continue
        seen.add(identity)
        chunk.runs.append(run)
        chunk.configs.append((names, values))
        chunk.identities.append(identity)
    return chunk


def _known_runs(connection: Connection, identities: Sequence[bytes]) -> dict[bytes, int]:
    """Return the row number of each run that is already stored."""
    column = tables.run.c.identity
    query = select(column, tables.run.c.id).where(column.in_(bindparam("identities", expanding=True)))
    return {bytes(identity): number for identity, number in connection.execute(query, {"identities": identities})}


def configuration_hash(algorithm: str, names: tuple[str, ...], values: str) -> int:
    """Return a signed 64-bit hash of a configuration; the database has an index on it."""
    content = "\x1f".join((algorithm, *names, values)).encode()
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big", signed=True)


def _number_parameter_sets(
    connection: Connection, runs: Sequence[Run], configs: Sequence[Split], algorithms: Mapping[str, int]
) -> dict[tuple[str, tuple[str, ...]], int]:
    """Return the row number of each algorithm's set of hyperparameter names, adding the new ones."""
    table = tables.parameter_set
    wanted = {(run.algorithm, names) for run, (names, _) in zip(runs, configs, strict=True)}
    query = select(table.c.algorithm_id, table.c.names, table.c.id).where(
        table.c.algorithm_id.in_(sorted(algorithms.values()))
    )
    known = {(algorithm, text): number for algorithm, text, number in connection.execute(query)}
    places = {key: (algorithms[key[0]], json.dumps(key[1], ensure_ascii=False)) for key in sorted(wanted)}
    fresh = [place for place in places.values() if place not in known]
    if fresh:
        rows: Rows = [(number, *place) for number, place in enumerate(fresh, next_id(connection, table))]
        insert_rows(connection, table, ("id", "algorithm_id", "names"), rows)
        known |= {(algorithm, names): number for number, algorithm, names in rows}
    return {key: known[place] for key, place in places.items()}


def _number_configurations(
    connection: Connection, runs: Sequence[Run], configs: Sequence[Split], algorithms: Mapping[str, int]
) -> list[int]:
    """Return the row number of each run's configuration, adding those that are new."""
    table = tables.configuration
    sets = _number_parameter_sets(connection, runs, configs, algorithms)
    keys, hashes = [], []
    for run, (names, values) in zip(runs, configs, strict=True):
        keys.append((sets[run.algorithm, names], values))
        hashes.append(configuration_hash(run.algorithm, names, values))
    query = select(table.c.parameter_set_id, table.c.value_list, table.c.id).where(
        table.c.hash.in_(bindparam("hashes", expanding=True))
    )
    numbers = {(a, text): number for a, text, number in connection.execute(query, {"hashes": list(set(hashes))})}
    number, rows = next_id(connection, table), []
    for key, code in zip(keys, hashes, strict=True):
        if key not in numbers:
            numbers[key] = number
            rows.append((number, key[0], code, key[1]))
            number += 1
    insert_rows(connection, table, ("id", "parameter_set_id", "hash", "value_list"), rows)
    return [numbers[key] for key in keys]


def _insert_runs(
    connection: Connection, runs: Sequence[Run], configs: Sequence[Split], numbers: Mapping[bytes, int]
) -> None:
    scores = [pack_scores(run.scores) for run in runs]
    wanted: dict[str, set[Any]] = {
        "dataset": {run.dataset for run in runs},
        "environment": {run.environment for run in runs},
        "session": {run.session for run in runs},
        "algorithm": {run.algorithm for run in runs},
        "fold_plan": {run.fold_plan for run in runs},
        "metric_set": {names for names, _, _ in scores},
    }
    known = number_shared(connection, wanted)
    datasets = required(tables.dataset, wanted["dataset"], known["dataset"], "Store it first with add_dataset.")
    environments = required(
        tables.environment, wanted["environment"], known["environment"], "Use add_environment first."
    )
    sessions = required(tables.session, wanted["session"], known["session"], "Use start_session first.")
    algorithms = with_new(connection, tables.algorithm, "name", wanted["algorithm"], known["algorithm"])
    plans = with_new_plans(connection, wanted["fold_plan"], known["fold_plan"])
    metric_sets = with_new(connection, tables.metric_set, "names", wanted["metric_set"], known["metric_set"])
    configurations = _number_configurations(connection, runs, configs, algorithms)
    now = time.time()
    rows: Rows = [
        (
            number,
            identity,
            datasets[run.dataset],
            algorithms[run.algorithm],
            configuration,
            plans[run.fold_plan],
            environments[run.environment],
            sessions[run.session],
            run.error[:ERROR_LENGTH] if run.error else None,
            now if run.finished_at is None else plain(run.finished_at),
            metric_sets[metrics],
            means,
            folds,
            *map(plain, _copied(run)),
        )
        for run, configuration, (identity, number), (metrics, means, folds) in zip(
            runs, configurations, numbers.items(), scores, strict=True
        )
    ]
    insert_rows(connection, tables.run, COMPUTED + COPIED, rows)
    _insert_companions(connection, runs, numbers)


def _insert_companions(connection: Connection, runs: Sequence[Run], numbers: Mapping[bytes, int]) -> None:
    """Store the proposals and out-of-fold predictions of those runs that have them."""
    proposals: Rows = []
    predictions: Rows = []
    for run, number in zip(runs, numbers.values(), strict=True):
        if (p := run.proposal) is not None:
            proposals.append(
                (
                    number,
                    p.proposer,
                    plain(p.predicted_score),
                    plain(p.predicted_std),
                    plain(p.predicted_seconds),
                    plain(p.acquisition),
                    to_json(p.details),
                )
            )
        if run.predictions is not None:
            packed = run.predictions
            predictions.append((number, *(pack(packed, "float32") if isinstance(packed, np.ndarray) else packed)))
    insert_rows(connection, tables.proposal, [c.name for c in tables.proposal.columns], proposals)
    insert_rows(connection, tables.prediction, [c.name for c in tables.prediction.columns], predictions)


def _clashes(connection: Connection, offered: Sequence[tuple[Run, bytes]]) -> tuple[Clash, ...]:
    """Return where an offered run has another score than the stored one. The rounding of float32 is no difference."""
    run, metric_set = tables.run, tables.metric_set
    query = (
        select(run.c.identity, metric_set.c.names, run.c.score_list)
        .join(metric_set, metric_set.c.id == run.c.metric_set_id)
        .where(run.c.identity.in_(bindparam("identities", expanding=True)))
    )
    wanted = {"identities": [identity for _, identity in offered]}
    stored = {
        bytes(identity): dict(zip(json.loads(names), json.loads(means), strict=True))
        for identity, names, means in connection.execute(query, wanted)
    }
    found = []
    for offer, identity in offered:
        names, means, _ = pack_scores(offer.scores)
        for name, new in zip(json.loads(names), json.loads(means), strict=True):
            old = stored[identity].get(name)
            if not _is_same(old, new, largest=np.nanmax(np.abs(offer.scores[name]), initial=0.0)):
                found.append(Clash(identity.hex(), name, old, new))
    return tuple(found)


def _is_same(old: float | None, new: float | None, *, largest: float) -> bool:
    """Return whether two means are the same, if the largest of their folds is this far from 0."""
    if old is None or new is None:
        return old is new
    # The starter keeps its scores per fold as float32. Where they have both signs, their mean has fewer digits.
    return math.isclose(old, new, rel_tol=0.0, abs_tol=FLOAT32_ROUNDING * largest + 1e-12)
