import pytest

from metaml.errors import BadConfig
from metaml.spaces import Choice, Float, Integer, Space
from metaml.spaces.grid import grid_configs, grid_in

SPACE = Space(
    [
        Choice("booster", ("tree", "linear", None), default="tree"),
        Integer("depth", 1, 9, default=5, when=("booster", ("tree",))),
        Float("rate", 0.01, 1.0, default=0.1),
    ]
)


def test_a_grid_is_the_full_product_with_defaults_for_the_rest():
    found = grid_configs(SPACE, {"depth": [1, 2], "rate": [0.1, 0.5]})

    assert [(config["depth"], config["rate"]) for config in found] == [(1, 0.1), (1, 0.5), (2, 0.1), (2, 0.5)]
    assert {config["booster"] for config in found} == {"tree"}


def test_a_hyperparameter_that_is_inactive_makes_no_second_configuration():
    found = grid_configs(SPACE, {"booster": ["tree", "linear"], "depth": [1, 2]})

    assert len(found) == 3
    assert {"booster": "linear", "rate": 0.1} in found


def test_texts_become_values_of_the_right_type():
    assert grid_in(["depth=1, 2", "booster=linear,None", "rate=1"], SPACE) == {
        "depth": [1, 2],
        "booster": ["linear", None],
        "rate": [1.0],
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("depth", "NAME=VALUE,VALUE"),
        ("depth=", "NAME=VALUE,VALUE"),
        ("leaves=1", "no hyperparameter 'leaves'. Choose among: booster, depth, rate"),
        ("depth=0", "depth must lie between 1 and 9, not at 0"),
        ("depth=two", "depth must be a whole number, not 'two'"),
        ("booster=forest", "booster must be one of"),
    ],
)
def test_a_wrong_grid_is_refused_in_a_sentence(text, says):
    with pytest.raises(BadConfig, match=says):
        grid_in([text], SPACE)
