"""What a saved model takes, measured in a fresh process: python -m metaml.model.measuring MODEL ROWS."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from metaml.errors import BadModel
from metaml.evaluation.model_limits import Measured

if TYPE_CHECKING:
    import pandas as pd

    from metaml.data import Dataset
    from metaml.model.fitted import Model

N_ROWS = 50
"""Rows of the data set that are predicted, one at a time and repeated to a thousand."""
MANY = 1000
N_BATCHES, N_CALLS = 5, 10
LONGEST_SECONDS = 120.0


def measure(model: Model, dataset: Dataset) -> Measured:
    """Return what a model takes: it is saved, loaded by a fresh process, and asked for rows of a data set there."""
    with tempfile.TemporaryDirectory(prefix="metaml-") as folder:
        path, rows = model.save(Path(folder)), Path(folder) / "rows.parquet"
        raw_rows(dataset, N_ROWS).to_parquet(rows)
        command = [sys.executable, "-m", "metaml.model.measuring", str(path), str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False)
        megabytes = path.stat().st_size / 1e6
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise BadModel(f"The saved model could not be measured in a fresh process, which said: {said}.")
    seconds = json.loads(done.stdout.splitlines()[-1])
    return Measured(1000 * seconds["one"], 1000 * seconds["many"], megabytes, n_columns_of(model))


def n_columns_of(model: Model) -> int:
    """Return how many raw columns a model reads."""
    return len({feature.source for feature in model.schema.features})


def raw_rows(dataset: Dataset, n: int) -> pd.DataFrame:
    """Return rows of a data set as a raw table that its schema reads; dates, known in parts only, are missing."""
    import pandas as pd

    X = dataset.X.iloc[:n]
    columns = {}
    for feature in dataset.schema.features:
        if feature.how == "date":
            columns[feature.source] = pd.Series(pd.NaT, index=X.index, dtype="datetime64[ns]")
        else:
            column = X[feature.outputs[0]]
            if feature.how == "ordinal":
                column = column.map(dict(enumerate(feature.categories)))
            columns[feature.source] = column.astype(object) if feature.how == "category" else column
    return pd.DataFrame(columns, index=X.index)


def timed(answer: Callable[[pd.DataFrame], object], rows: pd.DataFrame) -> dict[str, float]:
    """Return the seconds for one row and for a thousand.

    Others may use the machine at times, so the calls come in batches, and the batch with the smallest median counts.
    """
    import pandas as pd

    single = [rows.iloc[[k]] for k in range(len(rows))]
    many = pd.concat([rows] * (MANY // len(rows) + 1), ignore_index=True).iloc[:MANY]
    for table in (*single[:3], many):
        answer(table)
    one = [
        [_seconds(answer, single[(k * N_CALLS + j) % len(single)]) for j in range(N_CALLS)] for k in range(N_BATCHES)
    ]
    return {
        "one": min(float(np.median(batch)) for batch in one),
        "many": min(_seconds(answer, many) for _ in range(N_BATCHES)),
    }


def _seconds(answer: Callable[[pd.DataFrame], object], table: pd.DataFrame) -> float:
    begun = time.perf_counter()
    answer(table)
    return time.perf_counter() - begun


def main(path: str, rows: str) -> None:
    """Print what the model at a path takes for the rows in a file, as JSON."""
    import pandas as pd

    from metaml.model.saving import load

    model = load(path)
    print(json.dumps(timed(model.answer, pd.read_parquet(rows))))


if __name__ == "__main__":
    main(*sys.argv[1:])
