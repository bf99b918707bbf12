"""What one row costs with the single model that FLAML makes, on the rows and with the evaluations of limits.py.

    PYTHON-OF-FLAML benchmarks/one_row_flaml.py [--iterations 6]

Run it with the Python of an environment that has FLAML; it needs nothing of metaml. Rows are drawn and timed as
limits.py and metaml.model.measuring do: processor milliseconds, one row at a time as a data frame, the batch with the
smallest median counts. Results: results/one_row_flaml.jsonl, which `limits.py report` shows beside its own.
"""

import argparse
import json
import time
from pathlib import Path

import flaml  # type: ignore[import-not-found]
import numpy as np
import pandas as pd

DATA = Path(__file__).resolve().parents[2] / "shared" / "datasets"
RESULTS = Path(__file__).parent / "results" / "one_row_flaml.jsonl"
N_ROWS, N_BATCHES, N_CALLS = 600, 5, 10
METRICS = {"binary": "roc_auc", "multiclass": "log_loss", "regression": "rmse"}


def one(name: str, task: str, n_iterations: int) -> dict[str, object]:
    """Return what FLAML chose on a data set, and the milliseconds that it takes for a row."""
    frame = pd.read_csv(DATA / f"{name}.csv.gz").sample(frac=1.0, random_state=0, ignore_index=True)
    train = frame[:N_ROWS].copy()
    y = train.pop(frame.columns[-1])
    automl = flaml.AutoML()
    automl.fit(
        train,
        y,
        task="regression" if task == "regression" else "classification",
        metric=METRICS[task],
        max_iter=n_iterations,
        time_budget=60,
        n_jobs=1,
        seed=0,
        verbose=0,
    )
    answer = automl.predict if task == "regression" else automl.predict_proba
    rows = [train.iloc[[place]] for place in range(50)]
    for row in rows[:3]:
        answer(row)
    medians = []
    for batch in range(N_BATCHES):
        seconds = []
        for call in range(N_CALLS):
            begun = time.process_time()
            answer(rows[(batch * N_CALLS + call) % len(rows)])
            seconds.append(time.process_time() - begun)
        medians.append(float(np.median(seconds)))
    return {"dataset": name, "ms": round(1000 * min(medians), 3), "best": str(automl.best_estimator)}


def main() -> None:
    """Append what is missing to the results file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=6)
    asked = parser.parse_args()
    ours = [json.loads(line) for line in (RESULTS.parent / "limits.jsonl").read_text().splitlines()]
    done = {json.loads(line)["dataset"] for line in RESULTS.read_text().splitlines()} if RESULTS.exists() else set()
    for record in ours:
        if record["dataset"] not in done:
            found = one(record["dataset"], record["task"], asked.iterations)
            with RESULTS.open("a") as file:
                file.write(json.dumps(found) + "\n")
            print(found, flush=True)


if __name__ == "__main__":
    main()
