"""What a tool's process is asked, and what it leaves behind: shared by the runners, which live in other environments.

The folder of a run holds `job.json`; a runner adds `predictions.csv` (column `prediction`, and one for each class) and
`meta.json`. Nothing but the standard library is imported before the tool has its turn.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SINGLE_ROWS = 5


@dataclass(frozen=True)
class Job:
    """One run of one tool: `budget` in seconds, `started` the time at which its process was started."""

    tool: str
    dataset: str
    data: str
    folder: str
    target: str
    task: str
    budget: float
    seed: int
    threads: int
    started: float

    def write(self) -> None:
        """Write job.json into the folder of the run."""
        (Path(self.folder) / "job.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, folder: str) -> Job:
        """Return the job that waits in a folder."""
        return cls(**json.loads((Path(folder) / "job.json").read_text(encoding="utf-8")))

    @property
    def train_file(self) -> Path:
        """Return the csv file to learn from."""
        return Path(self.data) / "train.csv"

    @property
    def test_file(self) -> Path:
        """Return the csv file to predict, which has no target."""
        return Path(self.data) / "test.csv"

    @property
    def is_regression(self) -> bool:
        """Return whether the target is a number."""
        return self.task == "regression"

    def train(self) -> pd.DataFrame:
        """Return the rows to learn from; classes are strings."""
        frame = read_rows(self.train_file)
        if not self.is_regression:
            frame[self.target] = frame[self.target].astype(str).astype(object)
        return frame


@dataclass(frozen=True)
class Fitted:
    """A model that is ready.

    `answer` returns a row of probabilities in the order of `labels` for each row, or values if `labels` is None.
    `begun` is the time at which the tool itself was called. `warm_up` is called before latencies are measured;
    `details` is whatever should be kept about the run.
    """

    labels: list[str] | None
    answer: Callable[[pd.DataFrame], Any]
    begun: float
    warm_up: Callable[[], object] = lambda: None
    details: dict[str, Any] | None = None


def read_rows(path: Path) -> pd.DataFrame:
    """Return a csv file as a table whose text columns are of type object, as all versions of pandas know it."""
    import pandas as pd

    frame = pd.read_csv(path, low_memory=False)
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    return frame.astype(dict.fromkeys(texts, object))


def run(fit: Callable[[Job], Fitted]) -> None:
    """Fit the model of the job in the folder named on the command line, predict with it, and write what it took."""
    job = Job.read(sys.argv[1])
    fitted = fit(job)
    ready = time.time()
    deliver(job, fitted, ready)


def deliver(job: Job, fitted: Fitted, ready: float) -> None:
    """Write predictions, seconds and latencies of a model that was ready at the time given."""
    import numpy as np
    import pandas as pd

    rows = read_rows(job.test_file)
    fitted.warm_up()
    output, seconds = _timed(lambda: np.asarray(fitted.answer(rows), dtype=float))
    singles = [_timed(lambda row=rows.iloc[[i]]: fitted.answer(row))[1] for i in range(SINGLE_ROWS)]  # type: ignore[misc]
    if fitted.labels is None:
        table = pd.DataFrame({"prediction": output.reshape(len(rows))})
    else:
        table = pd.DataFrame(output, columns=fitted.labels)
        table.insert(
            0, "prediction", np.array(fitted.labels, dtype=object)[output.argmax(axis=1)], allow_duplicates=True
        )
    table.to_csv(Path(job.folder) / "predictions.csv", index=False)
    meta = {
        "wall_seconds": ready - job.started,
        "setup_seconds": fitted.begun - job.started,
        "row_milliseconds": 1000 * seconds / len(rows),
        "single_milliseconds": 1000 * statistics.median(singles),
        "details": fitted.details or {},
    }
    (Path(job.folder) / "meta.json").write_text(json.dumps(meta), encoding="utf-8")


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - start
