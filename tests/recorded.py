"""A knowledge base of recorded runs whose best configuration is known."""

import numpy as np

from metaml_kb import DatasetRecord, KnowledgeBase, Run


def record(kb: KnowledgeBase) -> None:
    """Add 40 runs of two algorithms on each of two data sets; the score is best at x = 0.7."""
    rng = np.random.default_rng(0)
    for dataset in ("north", "south"):
        kb.add_dataset(DatasetRecord(dataset, dataset))
        for algorithm, level in (("first", 0.8), ("second", 0.9)):
            kb.add_runs(
                Run(
                    dataset=dataset,
                    algorithm=algorithm,
                    config={"x": float(x), "kind": "a" if x < 0.5 else None},
                    scores={"accuracy": [level - (x - 0.7) ** 2]},
                    fit_seconds=float(x),
                )
                for x in rng.random(40)
            )
