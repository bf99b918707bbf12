"""Two sessions side by side: the best score of each algorithm, and of the final models."""

import json
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, select

from metaml_kb import tables
from metaml_kb.errors import BadQuery
from metaml_kb.filters import RunFilter, session_numbers
from metaml_kb.frames import find_metric, runs_frame
from metaml_kb.records import FINAL

FINAL_MODEL = "(final model)"
"""Stands in the column `algorithm` for the model that a session ended with."""
PLACE = ["dataset", "fold_plan", "algorithm"]


def compare_sessions(connection: Connection, a: str, b: str, metric: str | None) -> pd.DataFrame:
    """Return a row for each data set, fold plan and algorithm of two sessions; `KnowledgeBase.compare` explains it."""
    keys = [_session(connection, word) for word in (a, b)]
    finals = [_final(connection, key) for key in keys]
    name = _metric(connection, metric, finals)
    a_side, b_side = (
        _best(connection, key, name, final, side) for key, final, side in zip(keys, finals, "ab", strict=True)
    )
    table = a_side.merge(b_side, on=PLACE, how="outer")
    for side in "ab":
        table[f"runs_{side}"] = table[f"runs_{side}"].fillna(0).astype(np.int64)
    table["difference"] = table["best_b"] - table["best_a"]
    return table.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def _session(connection: Connection, word: str) -> str:
    """Return the key of the one session that a key or its beginning names."""
    numbers = session_numbers(connection, [word])
    if len(numbers) != 1:
        raise BadQuery(f"{len(numbers)} sessions are {word!r}. Name one by its key. See: metaml kb sessions")
    key: str = connection.execute(select(tables.session.c.key).where(tables.session.c.id == numbers[0])).scalar_one()
    return key


def _final(connection: Connection, key: str) -> dict[str, Any]:
    """Return what is stored of the final model of a session; empty if there is none."""
    settings = connection.execute(select(tables.session.c.settings).where(tables.session.c.key == key)).scalar_one()
    final: dict[str, Any] = json.loads(settings).get(FINAL) or {}
    return final


def _metric(connection: Connection, wanted: str | None, finals: list[dict[str, Any]]) -> str | None:
    """Return the stored name of the metric to compare by; None if nothing was ever scored."""
    if wanted is None:
        known = sorted({str(final["metric"]) for final in finals if "metric" in final})
        if len(known) != 1:
            seen = f"by {' and '.join(known)}" if known else "without a final model"
            raise BadQuery(f"The sessions ended {seen}: say which metric compares them.")
        return known[0]
    has_scores = connection.execute(select(tables.metric_set.c.id).limit(1)).first() is not None
    return find_metric(connection, wanted) if has_scores else None


def _best(connection: Connection, key: str, metric: str | None, final: dict[str, Any], side: str) -> pd.DataFrame:
    """Return the number of runs and the best score by data set, fold plan and algorithm of one session."""
    runs = runs_frame(connection, RunFilter(session=key, status="ok"))
    if metric is None or metric not in runs:
        runs = runs.assign(**{str(metric): np.nan})
    best = runs.groupby(PLACE, as_index=False, observed=True)[str(metric)].agg(["size", "max"])
    best = best.set_axis([*PLACE, f"runs_{side}", f"best_{side}"], axis=1)
    if final.get("metric") == metric and final.get("score") is not None and runs["dataset"].nunique() == 1:
        # A model may be judged on other folds than the runs: it belongs to no plan of theirs.
        row = [runs["dataset"].iloc[0], "", FINAL_MODEL, 1, float(final["score"])]
        best = pd.concat([best, pd.DataFrame([row], columns=best.columns)], ignore_index=True)
    return best.astype(dict.fromkeys(PLACE, "str") | {f"best_{side}": np.float64})
