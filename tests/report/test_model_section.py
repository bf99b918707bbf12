"""The report shows all of a model that a person can read, and its score card."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.explanation.readable import Leaf, Question, ReadableModel
from metaml.report import ReadableFacts, render
from metaml.report.model_section import score_card_section, whole_model
from tests.report.samples import full, numeric, readable

SECOND = Question("town", None, ("Ulm",), False, Leaf((0.2, 0.8), 50), Leaf((0.5, 0.5), 20))
TREE = Question("income", 1200.0, (), True, Leaf((0.9, 0.1), 30), SECOND)


def test_each_effect_has_its_picture_and_the_odds_are_explained():
    page = whole_model(full())

    assert page.count("<figure") == 4
    assert "It uses 2 of 7 columns" in page
    assert "doubles the odds" in page
    assert "A missing value adds +0.1" in page


def test_a_number_is_the_average_plus_what_each_column_adds():
    page = whole_model(replace(numeric(), readable=replace(readable(), labels=())))

    assert "what the average training row gets, plus" in page
    assert "adds to price" in page


def test_several_classes_have_a_curve_each_and_a_legend():
    facts = readable(n_outputs=3)

    page = whole_model(replace(full(), readable=facts))

    assert "curve-2" in page
    assert page.count('class="key key-') == 3
    assert "age 2" in score_card_section(replace(full(), readable=facts))


def test_the_card_begins_with_the_start_and_ends_with_probabilities():
    card = score_card_section(full())

    assert card.index("every row") < card.index("Ulm") < card.index("Probability of yes")
    assert "98%" in card


def test_a_tree_is_a_list_of_questions():
    facts = ReadableFacts(model=ReadableModel("small_tree", np.zeros(1), (), TREE, 5), labels=("no", "yes"))
    data = replace(full(), readable=facts)

    page = whole_model(data)

    assert "at most 1200" in page
    assert "30 rows (30%)" in page
    assert page.count("<li") == 5
    assert score_card_section(data) is None


def test_a_model_without_effects_says_what_it_predicts_for_all():
    facts = ReadableFacts(model=ReadableModel("additive", np.array([0.0]), (), None, 5), labels=("no", "yes"))

    assert "50% for yes" in whole_model(replace(full(), readable=facts))


@pytest.mark.parametrize("section", ["whole", "scorecard"])
def test_a_model_that_nobody_can_read_has_no_such_section(section):
    assert f'id="{section}"' not in render(replace(full(), readable=None))
