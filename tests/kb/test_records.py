"""Records: equal content has an equal identity, whatever its numbers are made of."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml_kb import EnvironmentRecord, canonical_json
from metaml_kb.errors import BadRecord
from metaml_kb.records import n_folds_scored

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["None", "null", "true", "1", "1.0", "a,b", "]\n[", '"', "\\"]),
)


NAMES = st.text(min_size=1, max_size=6)


CONFIGS = st.dictionaries(NAMES, VALUES, max_size=4)


def same(first: object, second: object) -> bool:
    return type(first) is type(second) and first == second


@given(CONFIGS)
def test_canonical_json_is_one_text_per_configuration(config):
    backwards = dict(reversed(config.items()))

    text = canonical_json(config)

    assert text == canonical_json(backwards)
    assert all(same(value, json.loads(text)[name]) for name, value in config.items())


def test_a_configuration_of_numpy_is_that_of_python(kb, run_of):
    ours = {"rate": 0.5, "depth": 3, "bootstrap": True, "kernel": "rbf"}
    theirs = {"rate": np.float64(0.5), "depth": np.int64(3), "bootstrap": np.bool_(True), "kernel": np.str_("rbf")}

    kb.add_run(run_of(config=theirs))

    assert kb.add_run(run_of(config=ours)).n_known == 1
    assert kb.configs("f" * 32, "random_forest") == [ours]


def test_a_partial_run_is_the_same_whether_its_folds_are_an_array_or_a_list(run_of):
    with_list = run_of(1, status="partial", scores={"accuracy": [0.5, 0.75]})
    with_array = run_of(1, status="partial", scores={"accuracy": np.array([0.5, 0.75])})
    with_mean = run_of(1, status="partial", scores={"accuracy": np.float64(0.625)})

    assert with_array.identity == with_list.identity != with_mean.identity


def test_types_that_look_alike_are_different_configurations(run_of):
    identities = {run_of(config={"x": value}).identity for value in (1, 1.0, True, "1", None)}

    assert len(identities) == 5


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), [1, 2], (1,), {"a": 1}, object()], ids=lambda value: type(value).__name__
)
def test_a_value_that_json_does_not_know_is_refused_by_name(value):
    with pytest.raises(BadRecord, match="Hyperparameter 'depth' is"):
        canonical_json({"rate": 0.5, "depth": value})


def test_another_seed_plan_or_status_is_another_run(run_of):
    runs = [run_of(1), run_of(1, seed=1), run_of(1, fold_plan="5-fold"), run_of(1, status="timeout", scores={})]

    assert len({run.identity for run in runs}) == 4
    assert run_of(1, fit_seconds=9.0).identity == run_of(1).identity


def test_the_folds_of_a_run_are_counted(run_of):
    assert n_folds_scored(run_of(1)) == 2
    assert n_folds_scored(run_of(1, scores={"accuracy": 0.5})) == 0


def test_an_environment_is_known_by_what_it_is_made_of():
    first, same, other = (EnvironmentRecord({"numpy": version}, host="a") for version in ("2.0", "2.0", "2.1"))

    assert first.key == same.key != other.key
