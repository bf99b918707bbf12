"""Strategies as text: what is understood, what is refused, and what becomes of it."""

import numpy as np
import pytest

from metaml.bandits import POLICIES
from metaml.errors import BadRequest
from metaml.search.optimizer import Optimizer
from metaml.search.presets import PRESETS, preset_named, with_choices
from metaml.search.strategy import CHOICES, ONLY_IN_REPLAY, STRATEGIES, check_for_search, strategy_named
from metaml.spaces import Choice, Float, Space

SPACE = Space([Float("x", 0.0, 1.0, default=0.5), Choice("kind", ("a", "b"), default="a")])
IN_THE_OPTIMIZER = [name for name, kind in CHOICES.items() if kind not in ("starts", "experience")]


def told(optimizer: Optimizer, n: int) -> Optimizer:
    for _ in range(n):
        config = optimizer.ask().config
        optimizer.observe(config, -((config["x"] - 0.3) ** 2), 1.0 + config["x"])
    return optimizer


def test_no_name_means_two_things():
    assert not CHOICES.keys() & STRATEGIES.keys()


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_can_follow_a_surrogate(name):
    strategy = strategy_named(f"gbqr+{name}")

    assert getattr(strategy, CHOICES[name]) == name
    assert strategy_named(strategy.text) == strategy


@pytest.mark.parametrize("surrogate", ["gbqr", "gaussian_process", "default"])
@pytest.mark.parametrize("name", IN_THE_OPTIMIZER)
def test_every_choice_proposes_valid_configurations(name, surrogate):
    optimizer = told(Optimizer(SPACE, strategy=f"{surrogate}+{name}", seed=1), 6)

    proposals = [optimizer.ask() for _ in range(2)]

    assert all(SPACE.is_valid(proposal.config) for proposal in proposals)
    assert proposals[0].config != proposals[1].config


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("oracle", "No surrogate is named 'oracle'"),
        ("gbqr+magic", "Nothing is named 'magic'"),
        ("gbqr+delta+best", "delta and best are both a choice of starts"),
        ("gbqr+upper_bound:3", "upper_bound takes no number"),
        ("gbqr+confidence_bound:wide", "confidence_bound was given 'wide'"),
        ("gbqr+quantile_improvement:1.5", "at least 0.5 and below 1"),
        ("gbqr+delta:0", "how many starts"),
        ("gbqr+focus:3", "focus takes no number"),
        ("random+upper_bound", "random asks no model"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(BadRequest, match=sentence.replace("+", r"\+")):
        strategy_named(text)


@pytest.mark.parametrize("name", ONLY_IN_REPLAY)
def test_what_a_search_cannot_have_says_where_it_can_be_tried(name):
    with pytest.raises(BadRequest, match="It is for metaml replay"):
        check_for_search(f"gbqr+{name}")


def test_a_wider_bound_explores_more():
    # All scores are known on the left: what is on the right is uncertain.
    def chosen(width):
        optimizer = Optimizer(SPACE, strategy=f"gaussian_process+confidence_bound:{width}", n_random=0, seed=0)
        for x in np.linspace(0.0, 0.3, 7):
            optimizer.observe({"x": float(x), "kind": "a"}, float(x))
        return optimizer.ask().config["x"]

    assert chosen(0) < chosen(20)


def test_every_second_proposal_of_an_interleaved_search_is_random():
    optimizer = told(Optimizer(SPACE, strategy="gbqr+interleaved", seed=0), 4)

    proposers = []
    for _ in range(6):
        proposal = optimizer.ask()
        proposers.append(proposal.proposer)
        optimizer.observe(proposal.config, proposal.config["x"])

    assert sorted(proposers) == ["gbqr"] * 3 + ["random"] * 3


def test_a_lie_about_open_proposals_moves_the_next_one():
    def second(batch):
        optimizer = told(Optimizer(SPACE, strategy=f"gaussian_process+{batch}", seed=3), 8)
        optimizer.ask()
        return optimizer.ask().config

    configs = [second(batch) for batch in ("believer", "constant_liar", "qlcb", "moi_mbo")]

    assert len({str(config) for config in configs}) == 4


def test_a_batch_of_moi_mbo_is_spread_further_than_one_that_believes():
    def nearest_gap(batch):
        optimizer = told(Optimizer(SPACE, strategy=f"gaussian_process+{batch}", seed=3), 8)
        places = np.sort([optimizer.ask().config["x"] for _ in range(4)])
        return np.diff(places).min()

    assert nearest_gap("moi_mbo") > nearest_gap("believer")


def test_single_choices_replace_those_of_a_preset():
    thesis = preset_named("thesis").strategy

    assert with_choices(thesis, starts="best", acquisition=None) == thesis.replace("delta", "best")
    with pytest.raises(BadRequest, match="There is no starts 'focus'"):
        with_choices(thesis, starts="focus")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_searched_with(name):
    preset = preset_named(name)

    check_for_search(preset.strategy)
    assert preset.bandit in POLICIES
