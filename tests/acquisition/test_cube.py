"""A space as a unit cube: places encode and read back as their configurations."""

import numpy as np

from tests.acquisition.kernels import CUBE, SPACE


def test_places_encode_as_their_configurations_do():
    places = CUBE.sample(200, np.random.default_rng(0))
    configs = [CUBE.config(place) for place in places]

    rows = CUBE.encode(places)

    assert all(SPACE.is_valid(config) for config in configs)
    assert np.allclose(rows, CUBE.encoder.transform(configs), atol=1e-5, equal_nan=True)


def test_a_configuration_stands_where_it_came_from():
    configs = SPACE.sample(50, np.random.default_rng(1))

    there_and_back = [CUBE.config(place) for place in CUBE.places(configs)]

    assert [c["kernel"] for c in there_and_back] == [c["kernel"] for c in configs]
    assert [c.get("degree") for c in there_and_back] == [c.get("degree") for c in configs]
    assert np.allclose([c["C"] for c in there_and_back], [c["C"] for c in configs], rtol=1e-4)


def test_a_parameter_is_active_where_its_condition_holds():
    configs = [{"kernel": "linear", "C": 1.0}, {"kernel": "poly", "C": 1.0, "degree": 3}, {"kernel": "rbf", "C": 1.0}]
    names = [parameter.name for parameter in SPACE.parameters]

    active = CUBE.active(CUBE.places(configs))

    assert active[:, names.index("gamma")].tolist() == [False, True, True]
    assert active[:, names.index("degree")].tolist() == [False, True, False]
    assert active[:, names.index("coef0")].tolist() == [False, True, False]


def test_numbers_have_no_choices_and_choices_have_theirs():
    assert CUBE.n_choices().tolist() == [3, 0, 0, 0, 0, 0, 2, 1]
