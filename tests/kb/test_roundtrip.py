"""For all configurations: what goes in comes out, type by type; and the fast decoder agrees with the JSON parser."""

import json

from hypothesis import given
from hypothesis import strategies as st

from metaml_kb import DatasetRecord, Run, canonical_json, open_kb
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

    few, many = decode(texts, 2), decode(texts * 1000, 2)

    for place in range(2):
        expected = [row[place] for row in rows]
        assert all(map(same, expected, list(few[place].astype(object))))
        assert all(map(same, expected, list(many[place][: len(rows)].astype(object))))
