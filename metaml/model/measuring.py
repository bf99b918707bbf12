"""What saved models take, measured in a fresh process: python -m metaml.model.measuring ROWS MODEL…"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
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
    return measure_all([model], dataset)[0]


def measure_all(models: Sequence[Model], dataset: Dataset) -> list[Measured]:
    """Return what each of several models takes, in one fresh process."""
    with tempfile.TemporaryDirectory(prefix="metaml-") as folder:
        own = [Path(folder) / str(number) for number in range(len(models))]
        for place in own:
            place.mkdir()
        paths = [model.save(place) for model, place in zip(models, own, strict=True)]
        rows = Path(folder) / "rows.parquet"
        raw_rows(dataset, N_ROWS).to_parquet(rows)
        command = [sys.executable, "-m", "metaml.model.measuring", str(rows), *map(str, paths)]
        most = LONGEST_SECONDS * len(models)
        done = subprocess.run(command, capture_output=True, text=True, timeout=most, check=False)
        megabytes = [path.stat().st_size / 1e6 for path in paths]
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise BadModel(f"The saved model could not be measured in a fresh process, which said: {said}.")
    seconds = json.loads(done.stdout.splitlines()[-1])
    return [
        Measured(1000 * taken["one"], 1000 * taken["many"], size, n_raw_columns(model))
        for taken, size, model in zip(seconds, megabytes, models, strict=True)
    ]


def n_raw_columns(model: Model) -> int:
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
    """Return the seconds of one processor for one row and for a thousand: what both take on an idle machine.

    Others who use the machine slow down its caches, so the calls come in batches, and the batch with the smallest
    median counts.
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
    begun = time.process_time()
    answer(table)
    return time.process_time() - begun


def main(rows: str, *paths: str) -> None:
    """Print what the models at some paths take for the rows in a file, as JSON."""
    import pandas as pd

    from metaml.model.saving import load

    table = pd.read_parquet(rows)
    print(json.dumps([timed(load(path).answer, table) for path in paths]))


if __name__ == "__main__":
    main(*sys.argv[1:])
