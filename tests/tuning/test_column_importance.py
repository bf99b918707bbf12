"""Which columns a model leans on, judged on rows that it has not seen."""

import numpy as np
import pandas as pd

from metaml.budget import Budget
from metaml.data import ColumnOptions, from_frame
from metaml.tuning.column_importance import column_importances
from metaml.tuning.final_model import finish
from metaml.tuning.job_batch import Ending
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb
from tests.tuning.sessions import settings_of


def test_by_time_a_column_that_matters_only_lately_is_found_on_the_last_fold(executor):
    rng = np.random.default_rng(0)
    n = 400
    early, late = rng.normal(size=n), rng.normal(size=n)
    y = np.where(np.arange(n) < 0.55 * n, early, late) > 0
    frame = pd.DataFrame({"t": np.arange(n), "early": early, "late": late, "y": y.astype(int)})
    dataset = from_frame(frame, "y", options=ColumnOptions(time="t"))
    settings = settings_of(n_iterations=2, algorithms=("decision_tree",), n_folds=5)

    with open_kb(":memory:") as kb, FoldModels() as models:
        found = TuneSession(dataset, kb, settings, executor, models=models).run()
        ending = Ending(dataset, found, executor, settings, Budget(None), models)
        finished = finish(ending, single=True)
        ranked, why_not = column_importances(finished, ending)

    means = {feature.column: feature.mean for feature in ranked}
    assert why_not == ""
    assert means["late"] > means["early"]
