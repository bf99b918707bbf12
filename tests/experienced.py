"""A knowledge base with experience: made-up data sets on which small leaves and few neighbours do best."""

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.experience.lesson_files import LessonRequest
from metaml_kb import DatasetRecord, KnowledgeBase, Run

METRICS = ("accuracy", "roc_auc", "neg_log_loss")
WANTED = LessonRequest("neg_log_loss", "multiclass", ("decision_tree", "k_neighbors"))
"""The lessons that these runs can teach."""
DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 8.0, "NumberOfClasses": 3.0, "ClassEntropy": 1.1}
"""A data set that lies among the made-up ones."""


def fill(kb: KnowledgeBase, *, n_datasets: int = 14, n_runs: int = 12, task: str = "multiclass", kind: str = "bot"):
    """Add runs of decision_tree and k_neighbors on data sets that differ in size, noise and difficulty."""
    session = kb.start_session(kind, seed=0, settings={})
    rng = np.random.default_rng(0)
    for number in range(n_datasets):
        name = f"world-{number}-{task}"
        fingerprint = f"{number:02d}{len(task):02d}".ljust(32, "a")
        n_rows = int(100 * 1.5**number)
        kb.add_dataset(
            DatasetRecord(fingerprint, name, task=task, target="y", n_rows=n_rows, n_columns=4 + number, n_classes=3)
        )
        values = {
            "NumberOfInstances": float(n_rows),
            "NumberOfFeatures": 5.0 + number,
            "NumberOfClasses": 3.0,
            "ClassEntropy": 1.0 + 0.03 * number,
            "Dimensionality": (5.0 + number) / n_rows,
            "MajorityClassPercentage": 40.0 + number,
            "PercentageOfNumericFeatures": 100.0,
            "PercentageOfMissingValues": 0.0,
        }
        kb.add_metafeatures(fingerprint, values)
        kb.add_runs(_runs(fingerprint, task, n_runs, session, rng, level=0.6 + 0.02 * number))
    return session


def _runs(fingerprint: str, task: str, n_runs: int, session: str, rng: np.random.Generator, level: float) -> list[Run]:
    runs = []
    for algorithm in ("decision_tree", "k_neighbors"):
        space = ALGORITHMS[algorithm].space(task)
        for config in [space.default(), *space.sample(n_runs - 1, rng)]:
            score = level + quality(algorithm, config) + rng.normal(0, 0.003)
            runs.append(
                Run(
                    dataset=fingerprint,
                    algorithm=algorithm,
                    config=config,
                    scores={metric: [score, score + 0.01] for metric in METRICS},
                    fold_plan="2-fold",
                    fit_seconds=0.05,
                    predict_seconds=0.01,
                    origin="random",
                    session=session,
                )
            )
    return runs


def quality(algorithm: str, config: dict) -> float:
    """Return how well a configuration does in every one of these worlds, relative to others."""
    if algorithm == "decision_tree":
        return 0.1 - 0.02 * np.log2(config["min_samples_leaf"])
    return 0.05 - 0.01 * np.log2(config["n_neighbors"])
