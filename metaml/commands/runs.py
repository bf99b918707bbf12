"""`metaml.why` and `reproduce`: a stored run explained, and evaluated again."""

from pathlib import Path
from typing import Any

import pandas as pd

from metaml.commands.places import Data, Place, opened
from metaml.data import TASKS, ColumnOptions
from metaml.data.arrow import as_pandas
from metaml.data.given import dataset_in
from metaml.errors import BadDataset
from metaml.records.explanation import run_facts
from metaml.records.reproduction import Reproduction, dataset_of
from metaml.records.reproduction import reproduce as evaluate_again
from metaml_kb.lookup import StoredRun, find_run


def why(run: str, kb: Place = None) -> dict[str, Any]:
    """Return all that is known of a run as plain JSON: who proposed it, what was predicted, and the result.

    `run` is the key of a run or its beginning, as the column `run` of `KnowledgeBase.runs` has it. The reasons and the
    past data sets that spoke for the run are in `["proposal"]["details"]`. `kb` is the knowledge base that has it.
    Raises `metaml_kb.errors.BadQuery` if no run, or more than one, has such a key.

    >>> from metaml_kb import DatasetRecord, Run, open_kb
    >>> with open_kb(":memory:") as kb:
    ...     _ = kb.add_dataset(DatasetRecord("f1", "mine", task="binary"))
    ...     run = Run(dataset="f1", algorithm="svm", config={"C": 1.0}, scores={"accuracy": [0.5, 1.0]})
    ...     _ = kb.add_run(run)
    ...     facts = why(run.identity[:8], kb)
    >>> facts["algorithm"], facts["scores"]
    ('svm', {'accuracy': 0.75})
    """
    with opened(kb) as base:
        return run_facts(find_run(base, run))


def reproduce(run: str, data: Data | None = None, *, target: str | None = None, kb: Place = None) -> Reproduction:
    """Evaluate a stored run again, with the same data, folds, configuration and seed, and return the comparison.

    `run` is the key of a run or its beginning. `data` is the file or frame that the run was made on; the data sets of
    `bot(builtin=True)` need none. `target` is a column, by default the stored one. `kb` is the knowledge base that has
    the run. In the answer, `is_same` says whether all scores are the same (to 1e-9); `differences` and `versions` list
    what is not.

    Raises `BadDataset` if the data is not that of the run, `BadRequest` if the run cannot be made again, and
    `metaml_kb.errors.BadQuery` if no run, or more than one, has such a key.

    >>> reproduce("1f3a9c02", kb=":memory:")
    Traceback (most recent call last):
    metaml_kb.errors.BadQuery: ...
    """
    with opened(kb) as base:
        stored = find_run(base, run)
    table = as_pandas(data)
    if isinstance(table, pd.DataFrame):
        return _reproduce_on_frame(stored, table, target)
    return evaluate_again(stored, dataset_of(stored, None if table is None else Path(table), target))


def _reproduce_on_frame(stored: StoredRun, frame: pd.DataFrame, target: str | None) -> Reproduction:
    known = stored.dataset
    options = ColumnOptions.from_json(known.details.get("roles"))
    task = known.task if known.task in TASKS else None
    dataset = dataset_in(frame, target or known.target, task, known.name, options=options)
    if dataset.fingerprint != known.fingerprint:
        raise BadDataset(
            f"The frame is not the data that run {stored.key[:8]} was made on: it has {len(dataset.y)} rows, "
            f"{dataset.X.shape[1]} features and fingerprint {dataset.fingerprint[:8]}, while {known.name} had "
            f"{known.n_rows} rows, {known.n_columns} features and {known.fingerprint[:8]}. "
            "Give that data, with its rows in the same order."
        )
    return evaluate_again(stored, dataset)
