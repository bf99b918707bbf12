"""For all configurations: what goes in comes out, type by type; and the fast decoder agrees with the JSON parser."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml_kb import DatasetRecord, ProposalRecord, Run, open_kb

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


@settings(max_examples=50)
@given(st.lists(CONFIGS, min_size=1, max_size=6))
def test_configurations_come_back_from_the_knowledge_base(configs):
    with open_kb(":memory:") as kb:
        kb.add_dataset(DatasetRecord("f", "data"))
        kb.add_runs(Run(dataset="f", algorithm="a", config=config, seed=i) for i, config in enumerate(configs))

        frame = kb.runs().astype(object)

    reserved = {"run", "dataset", "algorithm", "status", "origin", "seed", "fold_plan", "session", "error"}
    for row, config in enumerate(configs):
        for name in {name for config in configs for name in config} - reserved:
            value = frame[name][row]
            if name in config:
                assert same(config[name], value)
            else:
                assert value != value


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_a_score_of_numpy_is_a_number(kb, run_of, kind):
    kb.add_run(run_of(1, scores={"accuracy": kind(1)}))
    kb.add_run(run_of(2, scores={"accuracy": 0.5, "kappa": kind(1)}))
    kb.add_run(run_of(3, scores={"accuracy": [kind(1), kind(0)]}))

    assert kb.runs()["accuracy"].tolist() == [1.0, 0.5, 0.5]
    assert json.loads(kb.sql("SELECT score_list FROM run WHERE id = 2")["score_list"][0]) == [0.5, 1.0]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_whatever_else_of_a_run_is_a_number_of_numpy_is_a_number(kb, run_of, kind):
    proposal = ProposalRecord("gbqr", kind(2), details={"level": kind(2)})

    kb.add_run(run_of(1, seed=np.int64(7), fit_seconds=kind(2), peak_megabytes=kind(2), proposal=proposal))

    (stored,) = kb.sql("SELECT predicted_score, details FROM proposal").values.tolist()
    assert kb.runs()[["seed", "fit_seconds", "peak_megabytes"]].values.tolist() == [[7, 2.0, 2.0]]
    assert (stored[0], json.loads(stored[1])) == (2.0, {"level": 2})


def test_data_sets_and_metafeatures_may_be_described_in_numbers_of_numpy(kb):
    kb.add_dataset(DatasetRecord("e" * 32, "wine", n_rows=np.int64(178)))
    kb.add_metafeatures("e" * 32, {"Dimensionality": np.float32(0.5)}, seconds={"simple": np.float32(0.25)})

    assert kb.datasets().set_index("name")["n_rows"]["wine"] == 178
    assert kb.metafeatures()["Dimensionality"].tolist() == [0.5]
    assert kb.sql("SELECT seconds FROM metafeature_group")["seconds"].tolist() == [0.25]
