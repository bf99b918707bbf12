"""What one row costs: processor milliseconds to read it and to predict it, alone and by way of a table.

    python benchmarks/one_row.py
    python benchmarks/one_row.py --searched 10s [--datasets 20]

With `--searched`, the models that `metaml tune` makes by default in that time are measured on the data sets of
limits.py, in a fresh process: results/one_row_searched.jsonl, which is continued. Without it, made-up models are.

Made-up tables of 400 rows, with numbers and with words. The same fitted model answers in two ways in turns: as a table
of features (`Schema.read`, then `Model.outputs`), and as `Model.answer` reads a single row. Both give the same
predictions, which is checked. The best of nine batches of 40 rows counts.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from limits import DATA, DATASETS

from metaml.algorithms import ALGORITHMS
from metaml.api import tune
from metaml.data import from_frame
from metaml.model import Model, fit_member
from metaml.model.measuring import measure

SHAPES = ((10, 0), (6, 4), (20, 10), (50, 0))
MODELS = ("decision_tree", "elastic_net", "lightgbm", "random_forest")
N_ROWS, N_BATCHES = 40, 9
RESULTS = Path(__file__).parent / "results" / "one_row_searched.jsonl"


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


def searched(budget: str, n_datasets: int) -> None:
    """Search with default settings, and print what one row takes with the model of each search."""
    records = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {record["dataset"] for record in records}
    for name in [name for name in DATASETS if name not in done][: n_datasets - len(done)]:
        frame = pd.read_csv(DATA / f"{name}.csv.gz")
        target = str(frame.columns[-1])
        model = tune(frame, target, time_budget=budget, kb=":memory:").model
        taken = measure(model, from_frame(frame, target=target))
        n_models = sum(len(member.estimators) for member in model.members)
        records.append({"dataset": name, "n_models": n_models, "ms": taken.predict_ms, "mb": taken.megabytes})
        with RESULTS.open("a") as file:
            file.write(json.dumps(records[-1]) + "\n")
    print("| data set | fitted models | ms | MB |\n| --- | ---: | ---: | ---: |")
    for record in records:
        print(f"| {record['dataset']} | {record['n_models']} | {record['ms']:.2f} | {record['mb']:.1f} |")
    values = [record["ms"] for record in records]
    print(f"median {np.median(values):.2f} ms, largest {max(values):.2f} ms, {len(values)} data sets")


def made_up() -> None:
    """Print what one row takes with models of made-up tables."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searched", metavar="SECONDS")
    parser.add_argument("--datasets", type=int, default=20)
    asked = parser.parse_args()
    if asked.searched:
        searched(asked.searched, asked.datasets)
    else:
        made_up()
