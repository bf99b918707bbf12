"""H2O AutoML in a Java process with two threads, the measure of the task."""

import socket
import time
from typing import Any

from contract import Fitted, Job, run

METRICS = {"binary": "AUC", "multiclass": "logloss", "regression": "RMSE"}


def free_port() -> int:
    """Return a port where nobody listens; H2O takes the next one as well."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


def fit(job: Job) -> Fitted:
    """Return the leader of H2O's table."""
    import h2o  # type: ignore[import-not-found]
    from h2o.automl import H2OAutoML  # type: ignore[import-not-found]

    train = job.train()
    kinds = {name: "enum" if train[name].dtype == object else "numeric" for name in train.columns}
    labels = None if job.is_regression else sorted(train[job.target].unique())
    if labels is not None:
        # H2O renames classes that look like numbers; codes with a letter keep their order.
        codes = {label: f"c{number:04d}" for number, label in enumerate(labels)}
        train[job.target] = train[job.target].map(codes)
    h2o.init(nthreads=job.threads, port=free_port(), max_mem_size="8G", verbose=False)
    h2o.no_progress()
    begun = time.time()
    automl = H2OAutoML(
        max_runtime_secs=round(job.budget),
        seed=job.seed,
        sort_metric=METRICS[job.task],
        stopping_metric=METRICS[job.task],
    )
    automl.train(y=job.target, training_frame=h2o.H2OFrame(train, column_types=kinds))
    if automl.leader is None:
        raise RuntimeError("H2O found no model within its budget")
    del kinds[job.target]

    def answer(frame: Any) -> Any:
        table = automl.leader.predict(h2o.H2OFrame(frame, column_types=kinds)).as_data_frame()
        return table["predict"] if labels is None else table[[f"c{number:04d}" for number in range(len(labels))]]

    details = {"version": h2o.__version__, "best": automl.leader.model_id, "n_runs": automl.leaderboard.nrows}
    return Fitted(labels, answer, begun, details=details)


if __name__ == "__main__":
    try:
        run(fit)
    finally:
        import h2o

        h2o.cluster().shutdown()
