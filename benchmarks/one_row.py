"""What one row costs: processor milliseconds to read it and to predict it, alone and by way of a table.

    python benchmarks/one_row.py

Made-up tables of 400 rows, with numbers and with words. The same fitted model answers in two ways in turns: as a table
of features (`Schema.read`, then `Model.outputs`), and as `Model.answer` reads a single row. Both give the same
predictions, which is checked. The best of nine batches of 40 rows counts.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.model import Model, fit_member

SHAPES = ((10, 0), (6, 4), (20, 10), (50, 0))
MODELS = ("decision_tree", "elastic_net", "lightgbm", "random_forest")
N_ROWS, N_BATCHES = 40, 9


def table(n_numbers: int, n_words: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, n_numbers))).rename(columns=lambda place: f"number {place}")
    for place in range(n_words):
        frame[f"word {place}"] = rng.choice([f"level {k}" for k in range(2 + place % 7)], 400)
    return frame.assign(y=np.where(frame.iloc[:, 0] + rng.normal(size=400) > 0, "yes", "no"))


def milliseconds(answer: Callable[[pd.DataFrame], object], rows: list[pd.DataFrame]) -> float:
    begun = time.process_time()
    for row in rows:
        answer(row)
    return 1000 * (time.process_time() - begun) / len(rows)


def main() -> None:
    print("| numbers | words | model | table: ms | row: ms |")
    print("| ---: | ---: | --- | ---: | ---: |")
    for n_numbers, n_words in SHAPES:
        frame = table(n_numbers, n_words)
        dataset = from_frame(frame, target="y")
        rows = [frame.drop(columns="y").iloc[[place]] for place in range(N_ROWS)]
        for name in MODELS:
            member = fit_member(dataset, ALGORITHMS[name], ALGORITHMS[name].space("binary").default(), seed=0)
            model = Model.of(dataset, [member], metric="roc_auc")

            def by_table(row: pd.DataFrame, model: Model = model) -> np.ndarray:
                return model.outputs(model.schema.read(row).X)

            assert all(np.array_equal(by_table(row), model.predict_proba(row)) for row in rows)
            taken = [(milliseconds(by_table, rows), milliseconds(model.answer, rows)) for _ in range(N_BATCHES)]
            slow, quick = np.min(taken, axis=0)
            print(f"| {n_numbers} | {n_words} | {name} | {slow:.2f} | {quick:.2f} |", flush=True)


if __name__ == "__main__":
    main()
