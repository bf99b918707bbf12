"""One space of all algorithms holds the spaces of each."""

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.search.joint_space import JointSpace
from metaml.spaces import Integer, Space

SPACES = {name: ALGORITHMS[name].space("binary") for name in ALGORITHMS}


def test_every_configuration_of_the_joint_space_is_one_of_its_algorithm():
    joint = JointSpace(SPACES)

    for config in joint.space.sample(200, np.random.default_rng(0)):
        algorithm, own = joint.parted(config)
        assert SPACES[algorithm].is_valid(own)
        assert joint.joined(algorithm, own) == config


def test_a_shared_parameter_is_named_where_it_differs_from_its_default():
    joint = JointSpace({"small": Space([])}, [Integer("best_columns", 1, 9, default=9)])

    assert joint.parted({"algorithm": "small", "best_columns": 9}) == ("small", {})
    assert joint.parted({"algorithm": "small", "best_columns": 3}) == ("small", {"best_columns": 3})
    assert joint.joined("small", {}) == {"algorithm": "small", "best_columns": 9}


def test_every_default_is_in_the_joint_space():
    joint = JointSpace(SPACES)

    assert all(joint.space.is_valid(joint.joined(name, space.default())) for name, space in SPACES.items())
