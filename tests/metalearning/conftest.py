"""Fixtures: a synthetic run history and what is learnt from it, and a portfolio."""

from dataclasses import replace

import pytest

from metaml.experience.lesson_files import learn
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import LearnerRecipe, MetaLearner
from metaml.metalearning.portfolio import Portfolio
from metaml.metalearning.training import Trained, train
from metaml_kb import open_kb
from tests.experienced import WANTED, fill
from tests.metalearning.worlds import make_synthetic


@pytest.fixture(scope="session")
def synthetic() -> RunHistory:
    return make_synthetic()


@pytest.fixture(scope="session")
def trained(synthetic: RunHistory) -> Trained:
    return train(replace(synthetic, revision="kb-1"))


@pytest.fixture(scope="session")
def landscape(synthetic: RunHistory) -> Landscape:
    return make_landscape(synthetic, n_grid=200)


@pytest.fixture(scope="session")
def learner(synthetic: RunHistory) -> MetaLearner:
    return MetaLearner([LearnerRecipe(n_trees=60, min_rows_per_leaf=5)]).fit(synthetic)


@pytest.fixture(scope="session")
def portfolio() -> Portfolio:
    with open_kb(":memory:") as kb:
        fill(kb)
        return learn(kb, WANTED).portfolio
