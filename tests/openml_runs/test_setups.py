"""Setups as the server spells them."""

from types import SimpleNamespace

import pytest

from metaml.openml_runs.setups import read_setup


def parameter(flow: int, flow_name: str, name: str, value: str | None) -> SimpleNamespace:
    return SimpleNamespace(flow_id=flow, flow_name=flow_name, parameter_name=name, value=value)


def test_parameters_belong_to_the_flow_or_to_a_component() -> None:
    setup = read_setup(
        6969,
        [
            parameter(6969, "sklearn.pipeline.Pipeline(a=b)", "memory", "null"),
            parameter(7, "sklearn.ensemble.forest.RandomForestClassifier", "criterion", '"gini"'),
            parameter(7, "sklearn.ensemble.forest.RandomForestClassifier", "n_jobs", "4"),
        ],
    )

    assert setup.own == {"memory": None}
    assert setup.part("RandomForestClassifier") == {"criterion": "gini", "n_jobs": 4}
    assert setup.part("SVC") is None
    assert setup.flat() == {"RandomForestClassifier.criterion": "gini", "memory": None}


@pytest.mark.parametrize("text", ['[{"key": "a"}]', "{}", "NaN", "Infinity", None])
def test_what_is_no_plain_value_is_left_out(text: str | None) -> None:
    assert read_setup(1, [parameter(1, "mlr.classif.svm", "steps", text)]).flat() == {}
