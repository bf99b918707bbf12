"""OpenML's tasks as sources: the data set, the target, OpenML's own folds and its qualities."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.data import from_frame, read_frame
from metaml.errors import BadDataset, SourceError
from metaml.sources.base import Loaded, Source
from metaml.sources.locking import locked
from metaml.sources.openml_cache import Cache
from metaml.sources.openml_client import Client, Damaged, RetryPolicy
from metaml.sources.openml_columns import as_declared, left_out

__all__ = ["Client", "RetryPolicy", "load_task", "sources"]

CLASSIFICATION, REGRESSION = 1, 2
MOST_SPARSE_CELLS = 20_000_000
"""Sparse tables are made dense up to this size, which is 160 megabytes."""
LOCK_SECONDS = 600.0
NO_QUALITIES = 362


@dataclass(frozen=True)
class _Parts:
    """What one attempt fetched of a task, read and checked."""

    is_regression: bool
    target: str
    frame: pd.DataFrame
    folds: npt.NDArray[np.int16]
    qualities: Mapping[str, float]
    details: Mapping[str, Any]
    name: str


def sources(
    tasks: Sequence[int],
    suites: Sequence[int] = (),
    *,
    offline: bool = False,
    server: str | None = None,
    cache: Path | None = None,
    patience: RetryPolicy | None = None,
) -> list[Source]:
    """Return the tasks, and those of the suites, each once. Only the lists of the suites are fetched at this point.

    `server` (an address ending in /api/v1/xml) and `cache` (a folder) default to openml's own configuration. `offline`
    takes everything from the cache. A suite that cannot be fetched becomes a source that fails when it is loaded.
    """
    client = Client(server, cache, offline, patience or RetryPolicy())
    found: dict[int, Source] = {}
    failed = []
    for number in tasks:
        found.setdefault(int(number), _task_source(client, int(number)))
    for suite in suites:
        try:
            members = suite_tasks(client, suite)
        except SourceError as error:
            failed.append(Source(f"suite {suite}", _failing(error)))
            continue
        for number in members:
            found.setdefault(number, _task_source(client, number))
    return [*found.values(), *failed]


def _task_source(client: Client, number: int) -> Source:
    return Source(f"task {number}", lambda: load_task(client, number))


def _failing(error: SourceError) -> Callable[[], Loaded]:
    def load() -> Loaded:
        raise error

    return load


def suite_tasks(client: Client, suite: int) -> list[int]:
    """Return the task numbers of a suite; offline, those of the last request."""
    local = client.local()
    if client.offline:
        known = local.suite(suite)
        if known is None:
            raise SourceError(f"suite {suite}: it is not in the cache. Fetch it once without --offline.")
        return known

    def ask(_: int) -> list[int]:
        with client.set_up() as openml:
            return [int(number) for number in openml.study.get_suite(suite).tasks or ()]

    tasks = client.retry(f"suite {suite}", ask)
    local.keep_suite(suite, tasks)
    return tasks


def load_task(client: Client, number: int) -> Loaded:
    """Return a task's data set with OpenML's folds (first repeat) and qualities, or raise SourceError.

    One process at a time fetches a task. Others that want it wait, and then find it in the cache.
    """
    local = client.local()
    if client.offline:
        parts = client.retry(f"task {number}", lambda _: _visit(client, local, number, is_first=True))
    else:
        with locked(local.lock_file(f"task_{number}"), seconds=LOCK_SECONDS):
            parts = client.retry(f"task {number}", lambda n: _visit(client, local, number, is_first=n == 0))
    task = "regression" if parts.is_regression else None
    dataset = from_frame(parts.frame, target=parts.target, task=task, name=parts.name)
    folds = parts.folds[dataset.rows]
    used = np.unique(folds)
    if len(used) < 2 or used[0] < 0 or used[-1] != len(used) - 1:
        raise SourceError(f"task {number}: a fold of it is empty once unusable rows are gone. Choose another task.")
    return Loaded(dataset, "openml", folds, parts.qualities, parts.details)


def _visit(client: Client, local: Cache, number: int, *, is_first: bool) -> _Parts:
    """Return a task's parts. The first visit uses what is in the cache; later visits fetch everything again.

    Later visits also fetch the data as ARFF, because parquet has no checksum and may be the problem.
    """
    with local.stage(is_read_only=client.offline) as stage, client.set_up(root=stage.root) as openml:
        if is_first:
            _lend(local, stage, number)
        if client.offline:
            _require(stage, number, "tasks", number, "task.xml", "datasplits.arff")
        with _parquet(is_first):
            task = openml.tasks.get_task(number, download_features_meta_data=True)
            _check_type(task, number)
            data_number = int(task.dataset_id)
            _check_status(stage, number, data_number)
            entry = task.get_dataset(download_data=not client.offline, download_features_meta_data=True)
        frame = _frame(entry, stage, number)
        folds = _folds(task, len(frame))
        qualities = _qualities(openml, entry, stage, offline=client.offline)
        is_regression = task.task_type_id.value == REGRESSION
        frame = as_declared(frame, entry.features, task.target_name, is_regression=is_regression)
        frame = frame.drop(columns=left_out(entry, task.target_name, frame.columns))
        details = {
            "task_id": number,
            "dataset_id": data_number,
            "dataset_version": entry.version,
            "licence": entry.licence,
            "server": openml.config.server,
            "n_rows": len(frame),
            "n_repeats": task.split.repeats,
        }
        if not client.offline:
            local.take(stage, "tasks", number)
            local.take(stage, "datasets", data_number, instead=not is_first)
    return _Parts(is_regression, task.target_name, frame, folds, qualities, details, entry.name)


def _lend(local: Cache, stage: Cache, number: int) -> None:
    """Copy what the cache has of a task and its data set into the stage."""
    local.lend(stage, "tasks", number)
    description = stage.folder("tasks", number) / "task.xml"
    if description.is_file():
        data = re.search(r"<oml:data_set_id>(\d+)<", description.read_text(encoding="utf8", errors="replace"))
        if data:
            local.lend(stage, "datasets", int(data[1]))


def _require(stage: Cache, task: int, kind: str, number: int, *names: str) -> None:
    """Refuse to go on without these files."""
    for name in names:
        if not (stage.folder(kind, number) / name).is_file():
            raise SourceError(f"task {task}: {kind}/{number}/{name} is not in the cache. Fetch it without --offline.")


@contextmanager
def _parquet(is_wanted: bool) -> Iterator[None]:
    """Allow openml to fetch parquet where it exists, or forbid it."""
    name = "OPENML_SKIP_PARQUET"
    before = os.environ.get(name)
    if not is_wanted:
        os.environ[name] = "true"
    try:
        yield
    finally:
        if not is_wanted and before is None:
            del os.environ[name]
        elif before is not None:
            os.environ[name] = before


def _check_type(task: Any, number: int) -> None:
    if task.task_type_id.value not in (CLASSIFICATION, REGRESSION):
        raise SourceError(
            f"task {number}: it is of the type {task.task_type!r}. Choose supervised classification or regression."
        )
    procedure = task.estimation_procedure["type"]
    if procedure not in ("crossvalidation", "leaveoneout"):
        raise SourceError(
            f"task {number}: it is evaluated by {procedure}, which never tests some of the rows, so it has no folds. "
            "Choose a task with cross-validation on the same data set."
        )


def _check_status(stage: Cache, number: int, data_number: int) -> None:
    """Refuse a data set that OpenML has withdrawn."""
    import xmltodict

    text = (stage.folder("datasets", data_number) / "description.xml").read_text(encoding="utf8")
    status = xmltodict.parse(text)["oml:data_set_description"].get("oml:status", "active")
    if status == "deactivated":
        raise SourceError(f"task {number}: its data set {data_number} is deactivated on OpenML. Choose another task.")


def _frame(entry: Any, stage: Cache, number: int) -> pd.DataFrame:
    """Return the raw table. Our own reader reads ARFF and parquet, because openml loses the words of sparse tables."""
    folder = stage.folder("datasets", entry.dataset_id)
    files = [folder / f"dataset_{entry.dataset_id}.pq", folder / "dataset.arff"]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise SourceError(f"task {number}: its data file is not in the cache. Fetch it without --offline.")
    if "sparse" in str(entry.format).lower() and file.suffix == ".arff":
        with file.open(encoding="utf8") as lines:
            n_cells = len(entry.features) * sum(line.lstrip().startswith("{") for line in lines)
        if n_cells > MOST_SPARSE_CELLS:
            raise SourceError(
                f"task {number}: its sparse table has {n_cells:,} cells, more than the {MOST_SPARSE_CELLS:,} we make "
                "dense. Choose a smaller task."
            )
    try:
        return read_frame(file)
    except BadDataset as error:
        raise Damaged(f"the data file cannot be read: {error}".rstrip(".")) from None


def _folds(task: Any, n_rows: int) -> npt.NDArray[np.int16]:
    """Return the fold in which each row is tested in the first repeat."""
    task.split = task.download_split()
    folds = np.full(n_rows, -1, dtype=np.int16)
    for fold, samples in task.split.split[0].items():
        rows = samples[max(samples)].test
        if len(rows) == 0 or rows.max() >= n_rows or (folds[rows] >= 0).any():
            raise Damaged("the folds do not fit the data")
        folds[rows] = fold
    if (folds < 0).any():
        raise Damaged(f"the folds leave out {int((folds < 0).sum())} of {n_rows} rows")
    return folds


def _qualities(openml: Any, entry: Any, stage: Cache, *, offline: bool) -> dict[str, float]:
    """Return the qualities that OpenML has computed, as stored there; none where it has none."""
    if offline and not (stage.folder("datasets", entry.dataset_id) / "qualities.xml").is_file():
        return {}
    try:
        known = entry.qualities or {}
    except openml.exceptions.OpenMLServerException as error:
        if error.code != NO_QUALITIES:
            raise
        return {}
    return {name: float(value) for name, value in known.items() if value is not None and np.isfinite(value)}
