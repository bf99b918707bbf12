"""Spaces from plain Python, ConfigSpace and Optuna mean what they meant there."""

import pytest

from metaml.blackbox import as_space
from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Integer, Space
from metaml.spaces.configspace import to_configspace


def test_plain_python_is_read():
    space = as_space({"x": (0.0, 1.0), "n": (1, 100, "log"), "kernel": ["rbf", "linear"], "flag": [True, False]})

    assert space.parameters == (
        Float("x", 0.0, 1.0, default=0.5),
        Integer("n", 1, 100, default=10, log=True),
        Choice("kernel", ("rbf", "linear"), default="rbf"),
        Choice("flag", (True, False), default=True),
    )


def test_a_list_of_parameters_may_have_conditions():
    kernel = Choice("kernel", ("rbf", "linear"), default="rbf")
    gamma = Float("gamma", 0.1, 1.0, default=0.5, when=("kernel", ("rbf",)))

    assert as_space([kernel, gamma]) == Space([kernel, gamma])


def test_a_configspace_is_read():
    pytest.importorskip("ConfigSpace")
    space = Space([Float("x", 0.0, 1.0, default=0.5), Choice("kernel", ("rbf", "linear"), default="rbf")])

    assert set(as_space(to_configspace(space)).parameters) == set(space.parameters)


def test_an_optuna_study_is_read_with_its_conditions():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial):
        kernel = trial.suggest_categorical("kernel", ["rbf", "linear", "poly"])
        gamma = trial.suggest_float("gamma", 1e-3, 10.0, log=True) if kernel != "linear" else 1.0
        return gamma * trial.suggest_int("n", 1, 9)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=20)

    by_name = {parameter.name: parameter for parameter in as_space(study).parameters}

    assert by_name["gamma"].when == ("kernel", ("rbf", "poly"))
    assert by_name["gamma"].log
    assert (by_name["n"].low, by_name["n"].high) == (1, 9)


def test_a_study_without_trials_has_no_space():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)

    with pytest.raises(BadRequest, match="Run one trial first"):
        as_space(optuna.create_study())


@pytest.mark.parametrize(
    "given",
    [{"x": 3}, {"x": (0.0, 1.0, "cubic")}, {"x": (True, False)}, {"x": []}, {"x": (0.0, 1.0, "log")}, {"x": (2, 1)}, 7],
    ids=str,
)
def test_what_is_no_space_is_refused_with_a_sentence(given):
    with pytest.raises(BadRequest, match=r"\."):
        as_space(given)


def test_a_space_without_parameters_is_refused():
    with pytest.raises(BadRequest, match="no parameter"):
        as_space({})
