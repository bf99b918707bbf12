"""The page in a real browser: quiet, offline, fitting a phone, light and dark."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import Repair
from metaml.report import Confusion, ExperienceFacts, FeatureImportance, ReportData, render
from tests.report.browser import Browser, find_browser
from tests.report.samples import full, numeric

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
BACKGROUND = "getComputedStyle(document.body).backgroundColor"
CONTRASTS = """
(() => {
  const parts = c => c.match(/[0-9.]+/g).map(Number).map((v, i) => c.startsWith("rgb") && i < 3 ? v / 255 : v);
  const light = c => { const [r, g, b] = parts(c).slice(0, 3)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (parts(c).length === 3) return c } return "rgb(255, 255, 255)" };
  const poor = [];
  for (const e of document.querySelectorAll("p, td, th, dt, dd, a, h1, h2, figcaption, .told, .tile-title, .note")) {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(e.textContent.slice(0, 30) + " " + ratio.toFixed(2));
  }
  return poor;
})()
"""
LEFT_OF_LABELS = """
[...document.querySelectorAll("#allocation svg text[text-anchor=end]")].map(
  label => label.getBoundingClientRect().left - label.closest("svg").getBoundingClientRect().left)
"""
WIDE_TABLE = """
(() => { const board = document.querySelector("#leaderboard .scroll");
  return [board.scrollWidth > board.clientWidth, getComputedStyle(board).backgroundAttachment.split(", ")] })()
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM) as opened:
        yield opened


def shades() -> ReportData:
    """Return a report whose confusion matrix has every shade."""
    counts = [[10 * (10 - row) if row == column else 10 * row * ((row + 1) % 11 == column) for column in range(11)]
              for row in range(11)]  # fmt: skip
    return replace(full(), confusion=Confusion([str(row) for row in range(11)], counts))


def long_names() -> ReportData:
    """Return a report in which every name is one word of 300 letters."""
    data, word = full(), "w" * 300
    return replace(
        data,
        dataset=replace(
            data.dataset, name=word, target=word, class_counts={word: 3}, repairs=[Repair(word, word, word)]
        ),
        session=replace(data.session, output=word, session=word, versions={word: word}),
        trials=[replace(row, algorithm=word, config={word: word}) for row in data.trials],
        baselines={word: 0.9},
        features=[FeatureImportance(word, 1.0, 0.1)],
        hyperparameters={word: [(word, 0.5)]},
        confusion=Confusion([word, word], [[1, 2], [3, 4]]),
        experience=ExperienceFacts(n_datasets=1, n_runs=1, similar=[(word, 0.1)]),
        ledger={word: 30.0},
    )


@pytest.mark.parametrize("make", [full, numeric, shades, long_names])
def test_a_page_is_quiet_fits_a_phone_and_follows_the_colour_scheme(browser, tmp_path, make):
    page = tmp_path / "report.html"
    page.write_text(render(make()), encoding="utf-8")

    browser.view(page, width=390)
    light, width = browser.ask(BACKGROUND), browser.ask("document.documentElement.scrollWidth")
    complaints, requests = browser.complaints, browser.requests
    poor = browser.ask(CONTRASTS)
    browser.view(page, width=1200, scheme="dark")
    dark = browser.ask(BACKGROUND)

    assert complaints == []
    assert requests == [page.as_uri()]
    assert width == 390
    assert light == "rgb(251, 250, 247)"
    assert dark == "rgb(20, 23, 28)"
    assert poor == browser.ask(CONTRASTS) == []


def test_the_longest_name_of_an_algorithm_has_room_on_a_phone(browser, tmp_path):
    page, data = tmp_path / "report.html", full()
    rows = [replace(row, algorithm=max(ALGORITHMS, key=len)) for row in data.trials]
    page.write_text(render(replace(data, trials=rows)), encoding="utf-8")

    browser.view(page, width=390)

    assert min(browser.ask(LEFT_OF_LABELS)) >= 6


def test_a_table_wider_than_a_phone_has_shadows_where_it_goes_on(browser, tmp_path):
    page, data = tmp_path / "report.html", full()
    rows = [replace(row, algorithm=max(ALGORITHMS, key=len)) for row in data.trials]
    page.write_text(render(replace(data, trials=rows)), encoding="utf-8")

    browser.view(page, width=390)

    # What hides the shadows moves with the table, the shadows stay at the edges.
    assert browser.ask(WIDE_TABLE) == [True, ["local", "local", "scroll", "scroll"]]
