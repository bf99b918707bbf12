"""Spaces draw only valid configurations, reject invalid ones, and agree with ConfigSpace."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.errors import BadConfig, BadRequest
from metaml.spaces import Choice, Float, Integer, Space
from metaml.spaces.configspace import from_configspace, to_configspace

KERNEL = Choice("kernel", ("rbf", "poly", None), default="rbf")
GAMMA = Float("gamma", 1e-3, 10.0, default=1.0, log=True, when=("kernel", ("rbf", "poly")))
DEGREE = Integer("degree", 2, 5, default=3, when=("kernel", ("poly",)))
IS_HIGH = Choice("is_high", (True, False), default=False, when=("degree", (4, 5)))
TREES = Integer("trees", 1, 500, default=100, log=True)
SHARE = Float("share", 0.0, 1.0, default=0.5)
SPACE = Space([KERNEL, GAMMA, DEGREE, IS_HIGH, TREES, SHARE])


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_every_draw_is_valid_and_survives_json(seed):
    configs = SPACE.sample(20, np.random.default_rng(seed))

    for config in configs:
        SPACE.check(config)
        assert json.loads(json.dumps(config)) == config


def test_the_same_generator_draws_the_same_configurations():
    first = SPACE.sample(50, np.random.default_rng(7))
    second = SPACE.sample(50, np.random.default_rng(7))

    assert first == second
    assert first != SPACE.sample(50, np.random.default_rng(8))


def test_a_chain_of_conditions_holds_in_every_draw():
    configs = SPACE.sample(500, np.random.default_rng(0))

    assert all(("gamma" in c) == (c["kernel"] is not None) for c in configs)
    assert all(("degree" in c) == (c["kernel"] == "poly") for c in configs)
    assert all(("is_high" in c) == (c.get("degree") in (4, 5)) for c in configs)


def test_logarithmic_draws_are_uniform_on_the_logarithm():
    configs = SPACE.sample(4000, np.random.default_rng(0))

    places = np.log10([c["gamma"] for c in configs if "gamma" in c])

    assert np.histogram(places, bins=4, range=(-3, 1))[0] == pytest.approx(np.full(4, len(places) / 4), rel=0.15)


def test_density_is_the_product_over_active_parameters():
    space = Space([KERNEL, GAMMA, DEGREE])

    assert space.density({"kernel": None}) == pytest.approx(1 / 3)
    assert space.density({"kernel": "rbf", "gamma": 0.1}) == pytest.approx(1 / 3)
    assert space.density({"kernel": "poly", "gamma": 0.1, "degree": 2}) == pytest.approx(1 / 12)


def test_the_default_is_valid_and_leaves_inactive_parameters_out():
    assert SPACE.default() == {"kernel": "rbf", "gamma": 1.0, "trees": 100, "share": 0.5}
    SPACE.check(SPACE.default())


GOOD = {"kernel": "poly", "gamma": 1.0, "degree": 2, "trees": 10, "share": 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernl": "rbf"}, "No parameter is named 'kernl'"),
        ({"kernel": None}, "gamma is only used when kernel is 'rbf' or 'poly', not None"),
        ({"is_high": True}, "is_high is only used when degree is 4 or 5, not 2"),
        ({"kernel": "linear"}, "kernel must be one of 'rbf', 'poly', None, not 'linear'"),
        ({"gamma": 11}, "gamma must lie between 0.001 and 10, not at 11"),
        ({"gamma": math.nan}, "gamma must lie between"),
        ({"gamma": "1"}, "gamma must be a number, not '1'"),
        ({"gamma": True}, "gamma must be a number, not True"),
        ({"degree": 2.0}, "degree must be a whole number, not 2.0"),
        ({"trees": True}, "trees must be a whole number, not True"),
        ({"trees": 0}, "trees must lie between 1 and 500, not at 0"),
        ({"degree": 4}, "lacks is_high"),
        ({"degree": 4, "is_high": 1}, "is_high must be one of True, False, not 1"),
    ],
)
def test_check_says_in_one_sentence_what_is_wrong(change, words):
    SPACE.check(GOOD)

    with pytest.raises(BadConfig) as error:
        SPACE.check({**GOOD, **change})

    assert words in str(error.value)
    assert str(error.value).count("\n") == 0
    assert not SPACE.is_valid({**GOOD, **change})


def test_a_missing_parameter_is_refused():
    with pytest.raises(BadConfig, match="lacks trees"):
        SPACE.check({"kernel": None, "share": 0.5})


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_neighbours_are_valid_distinct_and_one_change_away(seed):
    rng = np.random.default_rng(seed)
    config = SPACE.sample(1, rng)[0]

    neighbours = SPACE.neighbours(config, rng, 30)

    assert len({json.dumps(n, sort_keys=True) for n in neighbours}) == len(neighbours) > 10
    for neighbour in neighbours:
        SPACE.check(neighbour)
        changed = [name for name in config if name in neighbour and neighbour[name] != config[name]]
        assert len(changed) == 1


def test_a_small_space_has_few_neighbours_and_a_point_has_none():
    two = Space([Choice("a", ("x", "y"), default="x")])
    one = Space([Choice("a", ("x",), default="x")])

    assert two.neighbours({"a": "x"}, np.random.default_rng(0), 5) == [{"a": "y"}]
    assert one.neighbours({"a": "x"}, np.random.default_rng(0), 5) == []


def test_complete_fills_in_defaults_and_drops_inactive_parameters():
    assert SPACE.complete({"kernel": None, "gamma": 2.0}) == {"kernel": None, "trees": 100, "share": 0.5}
    with pytest.raises(BadConfig, match="kernl"):
        SPACE.complete({"kernl": "rbf"})


def test_configspace_and_space_agree_on_what_is_valid():
    other = to_configspace(SPACE, seed=1)

    for drawn in other.sample_configuration(100):
        SPACE.check({k: v.item() if isinstance(v, np.generic) else v for k, v in dict(drawn).items()})
    for config in SPACE.sample(100, np.random.default_rng(0)):
        type(other.get_default_configuration())(other, values=config)
    assert dict(other.get_default_configuration()) == SPACE.default()


def test_a_space_survives_the_way_to_configspace_and_back():
    returned = from_configspace(to_configspace(SPACE))

    assert set(returned.parameters) == set(SPACE.parameters)


def test_a_configspace_with_two_parents_is_refused():
    from ConfigSpace import AndConjunction, EqualsCondition

    other = to_configspace(Space([KERNEL, Choice("mode", ("a", "b"), default="a"), SHARE]))
    other.add(
        AndConjunction(
            EqualsCondition(other["share"], other["kernel"], "rbf"),
            EqualsCondition(other["share"], other["mode"], "a"),
        )
    )

    with pytest.raises(BadRequest, match="condition"):
        from_configspace(other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Float("x", 1.0, 0.0, default=0.5),
        lambda: Float("x", 0.0, 1.0, default=0.5, log=True),
        lambda: Integer("x", 1, 3, default=4),
        lambda: Choice("x", ("a", "b"), default="c"),
        lambda: Choice("x", (True, 1), default=True),
        lambda: Space([SHARE, SHARE]),
        lambda: Space([GAMMA, KERNEL]),
        lambda: Space([KERNEL, Float("x", 0.0, 1.0, default=0.0, when=("kernel", ("linear",)))]),
    ],
)
def test_a_space_that_contradicts_itself_cannot_be_made(make):
    with pytest.raises(ValueError, match=r"\w"):
        make()
