"""For all configurations: what goes in comes out, type by type; and the fast decoder agrees with the JSON parser."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaml_kb import DatasetRecord, ProposalRecord, Run, canonical_json, open_kb
from metaml_kb.columns import decode

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


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=20))
def test_the_fast_decoder_agrees_with_the_json_parser(rows):
    texts = [json.dumps(list(row), separators=(",", ":"), ensure_ascii=False).encode() for row in rows]

    few = decode(b"\n".join(texts), len(texts), 2)
    many = decode(b"\n".join(texts * 1000), 1000 * len(texts), 2)

    for place in range(2):
        expected = [row[place] for row in rows]
        assert all(map(same, expected, list(few[place].astype(object))))
        assert all(map(same, expected, list(many[place][: len(rows)].astype(object))))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_a_score_of_numpy_is_a_number(kb, run_of, kind):
    kb.add_run(run_of(1, scores={"accuracy": kind(1)}))
    kb.add_run(run_of(2, scores={"accuracy": 0.5, "kappa": kind(1)}))
    kb.add_run(run_of(3, scores={"accuracy": [kind(1), kind(0)]}))

    assert kb.runs()["accuracy"].tolist() == [1.0, 0.5, 0.5]
    assert json.loads(kb.sql("SELECT score_list FROM run WHERE id = 2")["score_list"][0]) == [0.5, 1.0]


def test_a_configuration_of_numpy_is_that_of_python(kb, run_of):
    ours = {"rate": 0.5, "depth": 3, "bootstrap": True, "kernel": "rbf"}
    theirs = {"rate": np.float64(0.5), "depth": np.int64(3), "bootstrap": np.bool_(True), "kernel": np.str_("rbf")}

    kb.add_run(run_of(config=theirs))

    assert kb.add_run(run_of(config=ours)).n_known == 1
    assert kb.configs("f" * 32, "random_forest") == [ours]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_whatever_else_of_a_run_is_a_number_of_numpy_is_a_number(kb, run_of, kind):
    proposal = ProposalRecord("gbqr", kind(2), details={"level": kind(2)})

    kb.add_run(run_of(1, seed=np.int64(7), fit_seconds=kind(2), peak_megabytes=kind(2), proposal=proposal))

    (stored,) = kb.sql("SELECT predicted_score, details FROM proposal").values.tolist()
    assert kb.runs()[["seed", "fit_seconds", "peak_megabytes"]].values.tolist() == [[7, 2.0, 2.0]]
    assert (stored[0], json.loads(stored[1])) == (2.0, {"level": 2})


def test_a_partial_run_is_the_same_whether_its_folds_are_an_array_or_a_list(run_of):
    with_list = run_of(1, status="partial", scores={"accuracy": [0.5, 0.75]})
    with_array = run_of(1, status="partial", scores={"accuracy": np.array([0.5, 0.75])})
    with_mean = run_of(1, status="partial", scores={"accuracy": np.float64(0.625)})

    assert with_array.identity == with_list.identity != with_mean.identity


def test_data_sets_and_metafeatures_may_be_described_in_numbers_of_numpy(kb):
    kb.add_dataset(DatasetRecord("e" * 32, "wine", n_rows=np.int64(178)))
    kb.add_metafeatures("e" * 32, {"Dimensionality": np.float32(0.5)}, seconds={"simple": np.float32(0.25)})

    assert kb.datasets().set_index("name")["n_rows"]["wine"] == 178
    assert kb.metafeatures()["Dimensionality"].tolist() == [0.5]
    assert kb.sql("SELECT seconds FROM metafeature_group")["seconds"].tolist() == [0.25]
