"""Advice for a new data set."""

import numpy as np
import pytest

from metaml.metalearning.advice import candidates_of, first_configs, proven, suggest
from metaml.metalearning.runs import Experience
from metaml.metalearning.store import Trained, train
from metaml.spaces import Choice, Float, Space

SPACE = Space([Float("rate", 0.0, 1.0, default=0.5), Choice("word", ("a", "b"), default="a")])
DESCRIBED = {"NumberOfInstances": 200.0, "NumberOfFeatures": 5.0, "NumberOfClasses": 2.0}


def test_candidates_hold_the_default_and_what_did_well(synthetic: Experience):
    found = candidates_of(SPACE, n=20, also=[*proven(synthetic, 1), {"rate": 7.0, "word": "a"}])

    assert found[0] == SPACE.default()
    assert len(found) == 1 + 12 + 20
    assert all(SPACE.is_valid(config) for config in found)


@pytest.mark.parametrize("k", [2, 4])
def test_default_comes_second(k: int, trained: Trained):
    first = first_configs(trained, candidates_of(SPACE, n=50), DESCRIBED, default=SPACE.default(), k=k)

    assert first[1] == SPACE.default()
    assert len(first) == k


def test_without_experience_the_default_is_all_there_is(synthetic: Experience):
    nothing = train(synthetic.keep([]))

    assert first_configs(nothing, candidates_of(SPACE, n=5), {}, default=SPACE.default()) == [SPACE.default()]


def test_few_data_sets_let_the_default_go_first(synthetic: Experience):
    few = train(synthetic.keep(range(3)))

    first = first_configs(few, candidates_of(SPACE, n=50), DESCRIBED, default=SPACE.default())

    assert first[0] == SPACE.default()
    assert len(first) == 2


def test_suggestions_come_ranked_and_with_reasons(trained: Trained, synthetic: Experience):
    found = suggest(trained, candidates_of(SPACE, n=50), DESCRIBED, n=4, experience=synthetic)

    assert [item.rank for item in found] == [1, 2, 3, 4]
    assert found[0].score >= found[3].score
    assert abs(float(found[0].config["rate"]) - 0.25) < 0.25
    assert np.isnan(found[0].seconds)
    assert "did" in found[0].explanation.text
