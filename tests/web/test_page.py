"""The frame of a page."""

from metaml.report.markup import Html
from metaml.web.page import MENU, Asked, Page, address, link, whole
from tests.report.reading import read
from tests.web.samples import HOSTILE


def test_a_page_has_one_main_part_a_menu_and_where_you_are():
    page = whole(Page(title=HOSTILE, content=Html("<p>x</p>"), menu="Runs", trail=[(HOSTILE, "/runs")]), where=HOSTILE)

    found = read(page)
    assert page.count("<main") == page.count("<title>") == 1
    assert [value for name, value in found.attributes if name == "aria-current"] == ["page"]
    assert page.count("<script") == 2
    assert all(f'href="{path}"' in page for path in MENU.values())
    assert 'lang="en"' in page


def test_the_query_of_an_address_is_changed_word_by_word():
    asked = Asked("/runs", {"a": "1", "b": "x y"})

    assert asked.with_query(a=None, c=3) == "/runs?b=x+y&c=3"
    assert asked.get("z") == ""
    assert address("/runs", a="") == "/runs"


def test_pieces_of_a_path_are_quoted():
    assert 'href="/algorithms/%3Cb%3E%2F..%3F"' in link("x", "algorithms", "<b>/..?")
