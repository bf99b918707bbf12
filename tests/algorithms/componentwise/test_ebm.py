"""The explainable boosting machine: what is kept of it predicts as interpret-core does."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Training
from metaml.algorithms.componentwise import ebm
from metaml.algorithms.componentwise.ebm import EbmModel, category_words, effects_of
from metaml.algorithms.componentwise.grids import Steps
from metaml.errors import BadConfig
from metaml.explanation.readable import readable_model

with_library = pytest.mark.skipif(find_spec("interpret") is None, reason="needs the extra ebm")
CATEGORICAL = np.array([False, True, False])


def table(n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.normal(size=n)]).astype(np.float64)
    Z[:9, 0] = np.nan
    return Z


def fitted(task: str, **training: object) -> tuple[EbmModel, np.ndarray]:
    Z = table()
    score = np.nan_to_num(Z[:, 0]) + (Z[:, 1] == 2) + Z[:, 2] * (Z[:, 0] > 0)
    y = score if task == "regression" else np.digitize(score, [0.0] if task == "binary" else [0.0, 1.0])
    usual = {"weight": None, "n_rows": 160.0, "categorical": CATEGORICAL, "rounds": None, "allowance": Allowance()}
    held_out = (Z[160:], y[160:], None)
    quick = {"learning_rate": 0.2, "smoothing_rounds": 5, "early_stopping_rounds": 20}
    model = EbmModel({**ebm.space(task).default(), **quick}, seed=0, n_threads=1)
    model.fit(Z[:160], y[:160], Training(**{**usual, "validation": held_out, **training}))
    return model, Z


def test_terms_become_effects_with_missing_values_last():
    single, pair = np.array([9.0, 1.0, 2.0, 0.0]), np.arange(16.0).reshape(4, 4)
    found = SimpleNamespace(
        bins_=[[np.array([0.5])], [{"1": 1, "0": 2}]], term_features_=[(0,), (0, 1)], term_scores_=[single, pair]
    )

    alone, both = effects_of(found, np.array([False, True]), 1)

    rows = np.array([[0.4, 0.0], [0.5, 1.0], [np.nan, 7.0]])
    assert alone.at(rows)[:, 0].tolist() == [1, 2, 9]
    assert both.at(rows)[:, 0].tolist() == [pair[1, 2], pair[2, 1], pair[0, 3]]


def test_a_step_begins_at_its_cut():
    assert Steps(np.array([1.0]), is_category=False).codes(np.array([0.9, 1.0, 1.1])).tolist() == [0, 1, 1]


def test_a_configuration_outside_the_space_is_refused_before_the_library_is_needed():
    with pytest.raises(BadConfig, match="max_leaves"):
        ebm.build({**ebm.space("binary").default(), "max_leaves": 99}, task="binary", seed=0)


@with_library
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_it_predicts_as_interpret_core_does(task, monkeypatch):
    trained = []
    plain = EbmModel._trained
    monkeypatch.setattr(EbmModel, "_trained", lambda *given: trained.append(plain(*given)) or trained[-1])

    model, Z = fitted(task)

    theirs = trained[-1]
    words = category_words(Z, CATEGORICAL)
    if task == "regression":
        assert model.predict(Z) == pytest.approx(theirs.predict(words))
    else:
        assert model.predict_proba(Z) == pytest.approx(theirs.predict_proba(words))
    assert any(len(effect.term.columns) == 2 for effect in model.effects_) == (task != "multiclass")


@with_library
def test_a_person_can_read_it():
    Z = table()
    X = pd.DataFrame(Z[:, [0, 2]], columns=["income", "age"])
    config = {**ebm.space("regression").default(), "learning_rate": 0.2, "n_pairs": 0}
    estimator = ebm.build(config, task="regression", seed=0).fit(X, np.nan_to_num(Z[:, 0]))

    read = readable_model("ebm", [estimator], X)

    assert read.effects[0].columns == ("income",)
    assert np.abs(read.scores(X)[:, 0] - estimator.predict(X)).mean() < 0.1


@with_library
def test_it_ends_in_time_with_the_rounds_it_has():
    seconds = iter(np.arange(0.0, 1000.0, 1.0))
    allowance = Allowance(6.0, clock=lambda: next(seconds))

    model, _ = fitted("regression", allowance=allowance)

    assert allowance.ended_training
    assert 10 < model.rounds_ < ebm.MOST_ROUNDS


@with_library
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_a_model_of_all_rows_is_the_mean_of_bags_that_hold_out_other_rows(task, monkeypatch):
    trained = []
    plain = EbmModel._trained
    monkeypatch.setattr(EbmModel, "_trained", lambda *given: trained.append(plain(*given)) or trained[-1])

    model, Z = fitted(task, validation=None, rounds=30)

    assert len(trained[-1].bagged_intercept_) == ebm.N_BAGS
    words = category_words(Z, CATEGORICAL)
    predict, theirs = (model.predict, trained[-1].predict)
    if task != "regression":
        predict, theirs = model.predict_proba, trained[-1].predict_proba
    assert predict(Z) == pytest.approx(theirs(words))
