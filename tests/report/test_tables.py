"""Tables and bars: numbers to the right, long names cut, nothing longer than its track."""

from metaml.report.tables import Bar, TableColumn, bars, facts, settings, table, tiles
from tests.report.reading import read, words


def test_a_table_has_its_cells_under_their_titles_and_marked_rows_stand_out():
    page = table(
        [TableColumn("Name"), TableColumn("Score", "number")], [["svm", 0.9], ["mlp", 0.8]], marked=[False, True]
    )

    assert words(page) == "NameScoresvm0.9mlp0.8"
    assert page.count('<tr class="marked">') == 1
    assert page.count('class="number"') == 3


def test_a_column_for_large_screens_is_marked_as_extra():
    assert TableColumn("x").classes is None
    assert TableColumn("x", "number", extra=True).classes == "number extra"


def test_a_bar_stays_on_its_track_with_its_spread():
    page = bars([Bar("long", 3.0, "3"), Bar("negative", -1.0, "-1"), Bar("unsure", 0.9, "0.9", spread=0.2)], label="x")

    places = [value for name, value in read(page).attributes if name in ("x", "width")]
    assert places == ["100.0%", "0.0%", "90.0%", "70.0%", "30.0%"]


def test_a_long_name_is_cut_and_shown_whole_on_hovering():
    page = bars([Bar("x" * 80, 0.5, "0.5")], label="x")

    assert "x" * 80 not in words(page)
    assert ("title", "x" * 80) in read(page).attributes


def test_a_configuration_is_folded_up_to_the_number_of_its_settings():
    assert words(settings({"depth": 3, "rate": 0.123456789})) == "2 settingsdepth 3rate 0.123457"
    assert words(settings({"depth": 3})).startswith("1 setting")
    assert words(settings({})) == "defaults"


def test_values_are_escaped_wherever_they_stand():
    hostile = "<b>x</b>"

    for page in (facts({hostile: hostile}), tiles([(hostile, hostile, hostile)]), settings({hostile: hostile})):
        assert "b" not in read(page).tags
