"""The site in a real browser: quiet, only its own requests, on a phone, by keyboard, and live."""

import time
from collections.abc import Iterator

import pytest

from metaml.web.catalogue import Catalogue
from metaml_kb import open_kb
from metaml_kb.browsing.read_only import open_read_only
from tests.report.browser import Browser, find_browser
from tests.report.test_browser import BACKGROUND, CONTRASTS
from tests.web.samples import LIVE, fill, fingerprint, searched
from tests.web.serving import Served, served
from tests.web.test_site import ADDRESSES, path_of

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
FIRST_CELLS = "[...document.querySelectorAll('#sheet-datasets tbody tr td:nth-child(3)')].map(c => Number(c.dataset.v))"
SORT = "[...document.querySelectorAll('#sheet-datasets .sort')].find(b => b.textContent === 'Rows')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM, is_offline=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(filled_file) -> Iterator[Served]:
    with open_read_only(filled_file) as kb, served(Catalogue(kb, allows_sql=True)) as running:
        yield running


def settled(browser: Browser, claim: str, seconds: float = 20.0) -> bool:
    """Return whether a claim about the page becomes true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if browser.ask(claim):
            return True
        time.sleep(0.05)
    return False


def key(browser: Browser, name: str) -> None:
    for kind in ("keyDown", "keyUp"):
        text = "\r" if name == "Enter" and kind == "keyDown" else ""
        browser.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, text=text)


@pytest.mark.parametrize("pattern", ADDRESSES)
def test_every_page_is_quiet_own_readable_and_fits(browser, server, pattern):
    query = "&".join(f"{name}={value}" for name, value in ADDRESSES[pattern].items())
    address = f"{server.address}{path_of(pattern)}?{query}"

    browser.view(address, width=390)
    assert settled(browser, "!document.querySelector('[hx-trigger=load]')")
    width = browser.ask("document.documentElement.scrollWidth")
    poor, heard, asked = browser.ask(CONTRASTS), browser.complaints, browser.requests
    browser.view(address, width=1280, scheme="dark")

    assert heard == browser.complaints == []
    assert all(url.startswith(server.address) for url in (*asked, *browser.requests))
    assert width == 390
    assert browser.ask(BACKGROUND) == "rgb(20, 23, 28)"
    assert poor == []
    assert browser.ask("document.querySelectorAll('script').length") == 2


def test_a_table_is_sorted_by_the_keyboard(browser, server):
    browser.view(f"{server.address}/datasets", width=1280)
    browser.ask(f"({SORT}).focus()")

    key(browser, "Enter")
    falling = browser.ask(FIRST_CELLS)
    key(browser, "Enter")

    assert falling == sorted(falling, reverse=True)
    assert browser.ask(FIRST_CELLS) == sorted(falling)
    assert browser.ask(f"({SORT}).closest('th').getAttribute('aria-sort')") == "ascending"


def test_the_tab_key_reaches_the_content_first_and_shows_where_it_is(browser, server):
    browser.view(f"{server.address}/", width=1280)

    key(browser, "Tab")

    assert browser.ask("document.activeElement.textContent") == "Skip to the content"
    assert browser.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_parallel_coordinates_are_brushed_by_keyboard_and_reset(browser, server):
    browser.view(f"{server.address}/datasets/{fingerprint(1)}", width=1280)
    browser.ask("document.querySelector('.handle.lowest').focus()")

    for _ in range(8):
        key(browser, "ArrowUp")
    n_out = browser.ask("document.querySelectorAll('.run.out').length")
    said = browser.ask("document.querySelector('.brushed').textContent")
    browser.ask("document.querySelector('.reset').click()")

    assert 0 < n_out < 9
    assert said == f"{9 - n_out} of 9 runs"
    assert browser.ask("document.querySelectorAll('.run.out').length") == 0


def test_the_address_keeps_how_a_view_is_sorted_and_brushed(browser, server):
    browser.view(f"{server.address}/datasets", width=1280)
    browser.ask(f"({SORT}).click()")
    falling = browser.ask(FIRST_CELLS)
    sorted_view = browser.ask("location.href")
    browser.view(f"{server.address}/datasets/{fingerprint(1)}", width=1280)
    browser.ask("document.querySelector('.handle.lowest').focus()")
    for _ in range(8):
        key(browser, "ArrowUp")
    n_out = browser.ask("document.querySelectorAll('.run.out').length")
    brushed_view = browser.ask("location.href")

    browser.view(sorted_view, width=1280)
    sorted_again = browser.ask(FIRST_CELLS)
    browser.view(brushed_view, width=1280)

    assert sorted_again == falling == sorted(falling, reverse=True)
    assert browser.ask("document.querySelectorAll('.run.out').length") == n_out > 0
    browser.ask("document.querySelector('.reset').click()")
    assert browser.ask("location.href") == f"{server.address}/datasets/{fingerprint(1)}"


def test_a_search_under_way_is_followed(browser, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb)
        with open_read_only(tmp_path / "kb.db") as base, served(Catalogue(base)) as running:
            browser.view(f"{running.address}/sessions/{LIVE}", width=1280)
            before = browser.ask("document.querySelector('#live').textContent")
            kb.add_run(searched(50, LIVE, None))
            is_updated = settled(browser, "document.querySelector('#live').textContent.includes('1 run so far')")
            kb.finish_session(LIVE)
            is_ended = settled(browser, "!document.querySelector('#live').hasAttribute('hx-trigger')")
            heard = browser.complaints

    assert "No run is stored yet" in before
    assert is_updated
    assert is_ended
    assert heard == []


def test_pages_in_files_work_without_a_server(browser, filled_file, tmp_path):
    from metaml.web.export import export

    with open_read_only(filled_file) as kb:
        export(Catalogue(kb), tmp_path / "pages", most_runs=3)

    browser.view(tmp_path / "pages" / "datasets.html", width=1280)
    browser.ask(f"({SORT}).click()")

    falling = browser.ask(FIRST_CELLS)
    assert falling == sorted(falling, reverse=True)
    assert browser.complaints == []
    assert all(url.startswith("file:") for url in browser.requests)
    assert browser.ask(BACKGROUND) in ("rgb(251, 250, 247)", "rgb(20, 23, 28)")
