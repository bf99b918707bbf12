"""Charts are well-formed SVG that says what it shows."""

from xml.etree import ElementTree

from metaml.report.charts import Line, line_chart


def texts(picture: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(picture).iter() if node.tag.endswith("text")]


def test_a_chart_has_a_title_axes_and_a_legend():
    picture = line_chart(
        [Line("a & b", [1, 2, 3], [9.0, 4.0, 1.0]), Line("c", [1, 2, 3], [9.0, 8.0, float("nan")])],
        title="Regret <x>", x_label="evaluations", y_label="%",
    )  # fmt: skip

    assert {"Regret <x>", "evaluations", "%", "a & b", "c"} <= set(texts(picture))
    assert picture.count("<path") == 2


def test_a_log_axis_shows_a_zero_at_its_foot():
    picture = line_chart([Line("a", [1, 2, 3], [100.0, 1.0, 0.0])], title="T", x_label="x", y_label="y", log_y=True)

    assert "nan" not in picture
    assert "10" in texts(picture)


def test_no_data_is_said():
    assert "no data" in texts(line_chart([], title="T", x_label="x", y_label="y"))
