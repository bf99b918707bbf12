"""What an opening saved, in the units of a session."""

import numpy as np
import pandas as pd

from metaml.experience.worth_facts import worth_facts
from metaml.metalearning.portfolio import SIMILARITY_FEATURES, Portfolio

LIKE = {"NumberOfInstances": 100.0, "NumberOfFeatures": 5.0}


def portfolio(n_datasets: int = 12) -> Portfolio:
    levels = np.zeros((n_datasets, 10))
    levels[:, 3] = 1.0
    names = [f"d{k}" for k in range(n_datasets)]
    table = pd.DataFrame(LIKE, index=names).reindex(columns=list(SIMILARITY_FEATURES))
    candidates = tuple(("svm", {"C": float(k)}) for k in range(10))
    return Portfolio(candidates, dict(zip(names, names, strict=True)), levels, np.zeros((10, 4)), table)


def test_saved_evaluations_are_turned_into_seconds_and_scores_of_this_session():
    evaluated = [(2.0, score) for score in (0.5, 0.6, 0.7, 0.8, 0.9)]

    found = worth_facts(portfolio(), LIKE, 1, defaults=(), evaluated=evaluated)

    assert found is not None
    assert found.evaluations == (9.0, 9.0, 9.0)
    assert found.seconds == (18.0, 18.0, 18.0)
    assert found.score is not None
    assert np.isclose(found.score[1], 0.2 * 0.9)


def test_few_scores_say_nothing_about_scores():
    found = worth_facts(portfolio(), LIKE, 1, defaults=(), evaluated=[(2.0, 0.5)])

    assert found is not None
    assert found.score is None


def test_few_known_data_sets_say_nothing_at_all():
    assert worth_facts(portfolio(9), LIKE, 1, defaults=(), evaluated=()) is None
