"""FLAML with its default settings, the measure of the task, two threads."""

import time

from contract import Fitted, Job, run

METRICS = {"binary": "roc_auc", "multiclass": "log_loss", "regression": "rmse"}


def fit(job: Job) -> Fitted:
    """Return FLAML's best model."""
    import flaml  # type: ignore[import-not-found]

    train = job.train()
    y = train.pop(job.target)
    automl, begun = flaml.AutoML(), time.time()
    automl.fit(
        train,
        y,
        task="regression" if job.is_regression else "classification",
        metric=METRICS[job.task],
        time_budget=job.budget,
        n_jobs=job.threads,
        seed=job.seed,
        verbose=0,
    )
    if automl.model is None:
        raise RuntimeError("FLAML found no model within its budget")
    labels = None if job.is_regression else [str(label) for label in automl.classes_]
    answer = automl.predict if job.is_regression else automl.predict_proba
    details = {"version": flaml.__version__, "best": str(automl.best_estimator), "n_runs": len(automl.config_history)}
    return Fitted(labels, answer, begun, details=details)


if __name__ == "__main__":
    run(fit)
