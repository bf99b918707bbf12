"""A knowledge base with kept predictions of five candidates on small data sets, of which two err elsewhere."""

import zlib

import numpy as np

from metaml_kb import DatasetRecord, FoldPlanRecord, KnowledgeBase, Run
from metaml_kb.predictions import Truth, pack

N_ROWS, N_FOLDS = 120, 3
CANDIDATES = (
    ("lightgbm", {"num_leaves": 31}, 0.9),
    ("lightgbm", {"num_leaves": 63}, 0.9),
    ("lightgbm", {"num_leaves": 7}, 1.0),
    ("svm", {"C": 1.0}, 1.0),
    ("k_neighbors", {"n_neighbors": 5}, 1.6),
)
"""Algorithm, configuration and the size of its errors; all of LightGBM err alike."""


def keep_predictions(kb: KnowledgeBase, n_datasets: int = 4, *, n_unused: int = 40, name: str = "d{}") -> None:
    """Store runs of all candidates on regression data sets; the last `n_unused` rows are in no fold."""
    folds = np.arange(N_ROWS) % N_FOLDS
    folds[N_ROWS - n_unused :] = -1
    plan = f"plan {n_unused}"
    packed = zlib.compress(folds.astype("<i2").tobytes())
    kb.add_fold_plan(FoldPlanRecord(plan, "kfold", N_FOLDS, 0, N_ROWS - n_unused, packed))
    for k in range(n_datasets):
        rng = np.random.default_rng(k)
        fingerprint = f"{k:032x}"
        kb.add_dataset(DatasetRecord(fingerprint, name.format(k), task="regression", n_rows=N_ROWS, n_columns=4 + k))
        kb.add_metafeatures(fingerprint, {"NumberOfInstances": N_ROWS, "NumberOfFeatures": 5.0 + k})
        y = rng.normal(size=N_ROWS)
        errors = {algorithm: rng.normal(size=N_ROWS) for algorithm, _, _ in CANDIDATES}
        for place, (algorithm, config, size) in enumerate(CANDIDATES):
            predicted = y + size * errors[algorithm] + 0.05 * rng.normal(size=N_ROWS)
            rmse = float(np.sqrt(np.mean((predicted - y)[folds >= 0] ** 2)))
            run = Run(
                dataset=fingerprint,
                algorithm=algorithm,
                config=config,
                scores={"neg_rmse": -rmse},
                fold_plan=plan,
                fit_seconds=1.0 + place,
                predictions=pack(predicted, truth=Truth(y)),
            )
            kb.add_run(run)
