"""Pictures: axes with labels that differ, dots that are inside."""

from dataclasses import replace

import pytest

from metaml.report import render
from metaml.report.pictures import Dot, fewer_dots, histogram_picture, padded
from tests.report.reading import section, ticks_of
from tests.report.samples import full, numeric


def test_scores_that_are_all_equal_can_be_drawn():
    data = full()
    flat = replace(data, trials=[replace(row, score=0.9) for row in data.trials], baselines={"default svm": 0.9})

    assert "nan" not in render(flat)


def test_scores_that_are_equal_but_for_rounding_look_equal():
    data = full()
    rounded = replace(
        data,
        trials=[replace(data.trials[0], status="ok", score=0.9)],
        baselines={},
        final=replace(data.final, score=0.9 - 1e-9),
    )

    picture = section("progress", render(rounded)).split("</svg>")[0]

    ticks = ticks_of(picture)
    assert len(ticks) == len(set(ticks)) > 2
    assert float(ticks[0]) < 0.88


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6, 1e-6])
@pytest.mark.parametrize("middle", [0.0, 1000.2, 10.3])
def test_an_axis_has_no_two_equal_labels(middle, unit):
    points = [(unit * (middle + 0.01 * k), unit * (middle + 0.01 * k)) for k in range(100)]

    page = render(replace(numeric(), residuals=points))

    for picture in section("errors", page).split("</svg>")[:2]:
        ticks = ticks_of(picture)
        assert len(ticks) == len(set(ticks)) > 1


def test_a_range_is_wider_than_its_values_and_never_empty():
    assert padded(0.0, 10.0) == (-0.5, 10.5)
    low, high = padded(0.0, 0.0)
    assert low < 0.0 < high


def test_many_dots_are_thinned_but_the_marked_ones_stay():
    dots = [Dot(float(k), 0.0, "dot best" if k == 77 else "dot") for k in range(1000)]

    kept = fewer_dots(dots, most=10)

    assert len(kept) <= 11
    assert dots[77] in kept


def test_a_histogram_has_a_column_for_each_count_with_its_edges():
    page = histogram_picture([0.0, 1.0, 2.0], [3, 1], title="t", x_label="x", y_label="y")

    assert page.count('class="column"') == 2
    assert "0 to 1: 3" in page
