"""Read stored predictions: of many runs in turn, and the truth of a data set."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, select

from metaml_kb import tables
from metaml_kb.engine import reading
from metaml_kb.predictions.packed import WITH_TRUTH, PackedPredictions, Truth, truth_in, unpack
from metaml_kb.sql import KnowledgeBase

CHUNK = 200


@dataclass(frozen=True, eq=False)
class StoredPredictions:
    """The predictions of one run.

    - `run`: the identity of the run. `algorithm`: its algorithm. `status`: ok, or partial.
    - `fold_plan`: the key of its fold plan. `folds`: the fold that tested each row, None if that is not stored; -1 is a
      row that no fold used, -2 one that is only trained on.
    - `packed`: the predictions as stored; `values` unpacks them.
    """

    run: str
    algorithm: str
    status: str
    fold_plan: str
    folds: np.ndarray | None
    packed: PackedPredictions

    @property
    def values(self) -> np.ndarray:
        """Return the predictions: a row per row of the data set, a column per class (one for values).

        They are float64 if they were stored as float32, else float32.
        A row that was in no test fold is NaN, unless its job asked for held-out rows: these have the mean of the models
        of all folds.
        """
        return unpack(*self.packed)


def read_predictions(
    kb: KnowledgeBase, dataset: str, *, statuses: Sequence[str] = ("ok",)
) -> Iterator[StoredPredictions]:
    """Yield the stored predictions of all runs on a data set (fingerprint), oldest first, a few at a time.

    >>> from metaml_kb import DatasetRecord, Run, open_kb
    >>> from metaml_kb.predictions import pack
    >>> with open_kb(":memory:") as kb:
    ...     _ = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
    ...     run = Run(dataset="f" * 32, algorithm="svm", config={}, predictions=pack(np.array([[0.5, 0.5]])))
    ...     _ = kb.add_run(run)
    ...     [found.values.round(2).tolist() for found in read_predictions(kb, "f" * 32)]
    [[[0.5, 0.5]]]
    """
    run, table, plan = tables.run, tables.prediction, tables.fold_plan
    query = (
        select(
            run.c.id, run.c.identity, tables.algorithm.c.name, run.c.status, plan.c.key, plan.c.assignment,
            table.c.n_rows, table.c.n_columns, table.c.data,
        )
        .join(table, table.c.run_id == run.c.id)
        .join(tables.dataset, tables.dataset.c.id == run.c.dataset_id)
        .join(tables.algorithm, tables.algorithm.c.id == run.c.algorithm_id)
        .join(plan, plan.c.id == run.c.fold_plan_id)
        .where(tables.dataset.c.fingerprint == dataset, run.c.status.in_(statuses))
        .order_by(run.c.id)
        .limit(CHUNK)
    )  # fmt: skip
    folds: dict[str, np.ndarray | None] = {}
    after = 0
    with reading(kb.engine) as connection:
        while rows := connection.execute(query.where(run.c.id > after)).fetchall():
            after = rows[-1][0]
            for _, identity, algorithm, status, key, assignment, *packed in rows:
                if key not in folds:
                    folds[key] = None if assignment is None else np.frombuffer(zlib.decompress(assignment), dtype="<i2")
                yield StoredPredictions(
                    bytes(identity).hex(),
                    algorithm,
                    status,
                    key,
                    folds[key],
                    PackedPredictions(packed[0], packed[1], bytes(packed[2])),
                )


def read_truth(kb: KnowledgeBase, dataset: str) -> Truth | None:
    """Return the target of a data set (fingerprint) as it was stored with predictions; None if it was not."""
    run, table = tables.run, tables.prediction
    query = (
        select(table.c.n_rows, table.c.data)
        .join(run, run.c.id == table.c.run_id)
        .join(tables.dataset, tables.dataset.c.id == run.c.dataset_id)
        .where(tables.dataset.c.fingerprint == dataset, func.substr(table.c.data, 1, 1) == WITH_TRUTH)
        .limit(1)
    )
    with reading(kb.engine) as connection:
        row = connection.execute(query).first()
    return None if row is None else truth_in(row[0], bytes(row[1]))


def n_bytes_kept(kb: KnowledgeBase) -> int:
    """Return the bytes that all stored predictions take."""
    with reading(kb.engine) as connection:
        return int(
            connection.execute(select(func.coalesce(func.sum(func.length(tables.prediction.c.data)), 0))).scalar_one()
        )
