"""One of metaml's algorithms with its default configuration, fitted once: the least a tool must beat."""

import sys
import time

from contract import Fitted, Job, run


def fit(job: Job) -> Fitted:
    """Return the algorithm that the command line names second, fitted to all rows."""
    from metaml.algorithms import ALGORITHMS
    from metaml.data import read_dataset
    from metaml.evaluation import default_metric
    from metaml.model import Model, fit_member

    begun = time.time()
    dataset, algorithm = read_dataset(job.train_file, target=job.target, task=job.task), ALGORITHMS[sys.argv[2]]
    config = algorithm.space(dataset.task).default()
    member = fit_member(dataset, algorithm, config, seed=job.seed, n_threads=job.threads)
    model = Model.of(dataset, [member], metric=default_metric(dataset.task))
    labels = None if model.labels is None else [str(label) for label in model.labels.tolist()]
    return Fitted(labels, model.predict if labels is None else model.predict_proba, begun)


if __name__ == "__main__":
    run(fit)
