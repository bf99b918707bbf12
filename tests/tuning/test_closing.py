"""How much time a search leaves for its end."""

from dataclasses import replace

import pytest

from metaml.budget import Budget
from metaml.evaluation import make_plan
from metaml.sources import builtin
from metaml.tuning.closing import instead_of_refits, refit_reserve
from metaml.tuning.trials import FoldModels
from tests.tuning.sessions import settings_of, trial_of


class Searched:
    metric = "roc_auc"
    plan = make_plan(builtin.load("breast_cancer"), 1)


@pytest.fixture
def models():
    with FoldModels() as kept:
        yield kept


def trial_that_took(seconds):
    trial = trial_of("svm", 0.9)
    return replace(trial, outcome=replace(trial.outcome, fit_seconds=seconds))


def reserve(trial, models):
    return refit_reserve(settings_of(seconds=10.0, n_iterations=None), [trial], Searched(), models, Budget(10.0))


def test_time_is_kept_for_a_refit_that_fits(models):
    quick, slower = trial_that_took(0.1), trial_that_took(0.5)

    assert reserve(slower, models) > reserve(quick, models)


def test_no_time_is_kept_for_a_refit_that_takes_too_long_if_there_are_fold_models(models):
    slow = trial_that_took(8.0)
    waiting = reserve(slow, models)

    models.keep(slow.run.identity, [b"model"])

    assert reserve(slow, models) < waiting


def test_fold_models_of_a_part_of_the_rows_are_no_substitute_for_a_refit(models):
    cancer = builtin.load("breast_cancer")
    models.keep("run", [b"model"])

    whole, part = make_plan(cancer, 1), make_plan(cancer, 1, max_rows=200)

    assert "run" in instead_of_refits(whole, settings_of(), models)
    assert "run" not in instead_of_refits(part, settings_of(), models)
