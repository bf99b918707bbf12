"""The pictures of what columns do, and the words beside them."""

from dataclasses import replace

import pytest

from metaml.explanation.effects import ColumnEffect
from metaml.report.effects_section import effects
from tests.report.samples import full, least


def effect(*mean: float, column: str = "income") -> ColumnEffect:
    return ColumnEffect(column, tuple(map(float, range(len(mean)))), (mean,), (0.2,) * len(mean), "yes")


def test_every_column_has_a_picture_and_names_stay_text():
    page = effects(full())

    assert page is not None
    assert page.count("<svg") == 3
    assert 'class="band"' in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "probability of yes" in page
    assert "age: high" in page


@pytest.mark.parametrize(
    ("mean", "words"),
    [
        ((0.1, 0.5, 0.9), "rises"),
        ((0.9, 0.5, 0.1), "falls"),
        ((0.1, 0.9, 0.2), "rises, then falls"),
        ((0.9, 0.1, 0.8), "falls, then rises"),
        ((0.5, 0.9, 0.1, 0.5), "goes up and down"),
    ],
)
def test_words_say_what_a_curve_does(mean, words):
    page = effects(replace(full(), effects=[effect(*mean)], interactions=()))

    assert f"</code> {words}</figcaption>" in page


def test_a_weak_column_is_called_weak_and_a_direction_that_was_asked_for_is_named():
    data = replace(full(), effects=[effect(0.1, 0.9), effect(0.5, 0.501, column="age")], interactions=())
    asked = replace(data, dataset=replace(data.dataset, increasing=("income",)))

    assert "hardly matters by itself" in effects(data)
    assert "only rises, as asked for" in effects(asked)


def test_without_curves_there_is_no_such_part():
    assert effects(least()) is None
