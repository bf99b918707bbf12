"""AutoGluon with a preset, the measure of the task, two processors."""

import sys
import time
from pathlib import Path

from contract import Fitted, Job, run

METRICS = {"binary": "roc_auc", "multiclass": "log_loss", "regression": "root_mean_squared_error"}


def fit(job: Job) -> Fitted:
    """Return AutoGluon's predictor with the preset that the command line names second."""
    from autogluon.tabular import TabularPredictor, __version__  # type: ignore[import-not-found]

    train, begun = job.train(), time.time()
    predictor = TabularPredictor(
        label=job.target,
        problem_type=job.task,
        eval_metric=METRICS[job.task],
        path=str(Path(job.folder) / "autogluon"),
        verbosity=1,
    )
    predictor.fit(train, presets=sys.argv[2], time_limit=job.budget, num_cpus=job.threads, num_gpus=0)
    labels = None if job.is_regression else [str(label) for label in predictor.class_labels]
    # Without this each prediction reads the models from the disk.
    details = {"version": __version__, "best": predictor.model_best, "n_runs": len(predictor.model_names())}
    return Fitted(
        labels,
        predictor.predict if job.is_regression else predictor.predict_proba,
        begun,
        warm_up=predictor.persist,
        details=details,
    )


if __name__ == "__main__":
    run(fit)
