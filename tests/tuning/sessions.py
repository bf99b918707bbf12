"""Settings for quick sessions, and a session that ends like a killed one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from metaml.data import Dataset
from metaml.evaluation import Limits, LocalExecutor, Outcome
from metaml.search.settings import TuneSettings
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import Trial
from metaml_kb import KnowledgeBase, Run

FAST = ("decision_tree", "k_neighbors")


def settings_of(**changes: object) -> TuneSettings:
    """Return the settings of a session that takes a second."""
    fields = {"algorithms": FAST, "seconds": None, "n_iterations": 8, "n_folds": 3, "limits": Limits(30.0), "seed": 7}
    return TuneSettings(**{**fields, **changes})  # type: ignore[arg-type]


def trial_of(
    algorithm: str,
    score: float,
    origin: str = "default",
    seconds: float = 1.0,
    n: int = 60,
    seed: int = 0,
    **changes: object,
) -> Trial:
    """Return a complete trial of two classes with random predictions."""
    rng = np.random.default_rng((seed, round(100 * score)))
    outcome = Outcome("ok", seconds, {"roc_auc": (score,)}, folds=(0,), predictions=rng.random((n, 2)))
    run = Run(dataset="f" * 32, algorithm=algorithm, config={"x": score}, scores={}, fold_plan="p", origin=origin)
    return replace(Trial(run, outcome, (score,), 0.0), **changes)  # type: ignore[arg-type]


def cut_after(n_runs: int, dataset: Dataset, kb: KnowledgeBase, settings: TuneSettings, executor: LocalExecutor) -> str:
    """Return the key of a session that ended like a killed one: evaluations under way are neither told nor dropped."""

    class Killed(Exception):
        pass

    def kill(progress):
        if progress.n_done == n_runs:
            raise Killed

    session = TuneSession(dataset, kb, settings, executor)
    with pytest.raises(Killed):
        session.run(on_progress=kill)
    while executor.next(timeout=30) is not None:
        pass
    return session.key


def raw(name: str) -> pd.DataFrame:
    """Return a bundled data set as scikit-learn has it."""
    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame
