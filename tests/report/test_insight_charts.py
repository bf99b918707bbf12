"""Charts of many data sets: valid, and safe with hostile names."""

from xml.etree import ElementTree

from metaml.report.insight_charts import ErrorBar, Point, error_bars, map_chart, rank_diagram, value_shares

HOSTILE = '<script>alert("x")</script>&'


def test_hostile_names_stay_text():
    pictures = [
        error_bars([ErrorBar(HOSTILE, 0.5, 0.1)], title=HOSTILE, x_label=HOSTILE),
        value_shares({HOSTILE: {HOSTILE: 0.5}}, title=HOSTILE, x_label=HOSTILE),
        rank_diagram([HOSTILE, "b"], [1.2, 1.8], [(0, 1)], title=HOSTILE),
        map_chart([Point(0, 0, HOSTILE, HOSTILE)], title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE),
    ]

    for picture in pictures:
        assert not list(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}script"))
        assert HOSTILE not in picture


def test_a_longer_bar_is_a_larger_value():
    root = ElementTree.fromstring(error_bars([ErrorBar("a", 2.0), ErrorBar("b", 1.0)], title="T", x_label="x"))

    long, short = (float(bar.attrib["width"]) for bar in root.iter("{http://www.w3.org/2000/svg}rect"))
    assert long > 1.9 * short


def test_groups_that_cannot_be_told_apart_are_joined():
    picture = rank_diagram(["a", "b", "c"], [1.0, 1.5, 3.0], [(0, 1)], title="T")

    assert picture.count('class="c"') == 1
    assert "a (1.00)" in picture


def test_negative_gains_and_unknown_errors_can_be_drawn():
    assert "<svg" in error_bars([ErrorBar("a", -0.5, 0.1), ErrorBar("b", 0.2, float("inf"))], title="T", x_label="x")
