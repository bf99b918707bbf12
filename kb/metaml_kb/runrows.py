"""Turn the row of a run back into the record that was stored."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import select

from metaml_kb import tables
from metaml_kb.packing import unpack_folds
from metaml_kb.predictions.packed import PackedPredictions
from metaml_kb.records import ProposalRecord, Run

RUN_ROWS = select(tables.run, tables.configuration.c.parameter_set_id, tables.configuration.c.value_list).join(
    tables.configuration, tables.configuration.c.id == tables.run.c.configuration_id
)
"""The query for all runs, each with the values of its configuration."""
_FIELDS = {field.name for field in fields(Run)}
AS_STORED = tuple(column.name for column in tables.run.columns if column.name in _FIELDS)
"""The columns that hold a field of `Run` as it is. A new one needs only a field and a column of the same name."""

Row = Mapping[Any, Any]


def run_of(
    row: Row,
    *,
    dataset: str,
    algorithm: str,
    hyperparameters: Sequence[str],
    metrics: Sequence[str],
    fold_plan: str,
    session: str | None,
    environment: str | None,
    proposal: ProposalRecord | None,
    predictions: PackedPredictions | None = None,
) -> Run:
    """Return the run of a row of RUN_ROWS. The other arguments are the names for the numbers in the row."""
    means = [float("nan") if value is None else float(value) for value in json.loads(row["score_list"])]
    folds = unpack_folds(len(metrics), row["fold_scores"])
    return Run(
        dataset=dataset,
        algorithm=algorithm,
        config=dict(zip(hyperparameters, json.loads(row["value_list"]), strict=True)),
        scores={
            metric: mean if values is None else values.tolist()
            for metric, mean, values in zip(metrics, means, folds, strict=True)
        },
        fold_plan=fold_plan,
        session=session,
        environment=environment,
        proposal=proposal,
        predictions=predictions,
        **{name: row[name] for name in AS_STORED},
    )


def proposal_of(row: Row) -> ProposalRecord:
    """Return the proposal of a row."""
    known = {str(name): value for name, value in row.items() if name != "run_id"}
    return ProposalRecord(**known | {"details": json.loads(row["details"])})
