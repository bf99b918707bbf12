"""Every address of the site: it answers, on SQLite and PostgreSQL alike, and shows hostile names only as text."""

import re

import pytest

from metaml.report.markup import UNPRINTABLE
from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked, whole
from metaml.web.site import PAGES, answer, table_of
from metaml_kb import open_kb
from tests.report.reading import read, words
from tests.web.samples import BOT, HOSTILE, LIVE, TUNE, fill, fingerprint, run_of, searched

ADDRESSES = {
    "/": {},
    "/datasets": {},
    "/datasets/{}": {},
    "/runs": {},
    "/runs/{}": {},
    "/sessions": {},
    "/sessions/{}": {},
    "/algorithms": {},
    "/algorithms/{}": {},
    "/map": {},
    "/compare": {"a": TUNE, "b": BOT},
    "/sql": {"q": "SELECT name, fingerprint, NULL AS missing FROM dataset"},
}


def page_of(catalogue: Catalogue, path: str, **query: str) -> str:
    return whole(answer(catalogue, Asked(path, query)), where="kb.db")


def path_of(pattern: str) -> str:
    keys = {"/datasets/{}": fingerprint(0), "/runs/{}": run_of(0, HOSTILE, 2, 0.5, "").identity, "/sessions/{}": TUNE}
    return pattern.replace("{}", keys.get(pattern, "lightgbm"))


def test_every_page_has_an_address_here():
    assert set(ADDRESSES) == set(PAGES)


@pytest.mark.parametrize("pattern", ADDRESSES)
def test_every_page_answers_and_hostile_names_are_text(catalogue, pattern):
    page = page_of(catalogue, path_of(pattern), **ADDRESSES[pattern])

    found = read(page)
    assert "alert" in words(page) or pattern in ("/compare", "/algorithms/{}")
    assert "img" not in found.tags
    assert page.count("<script") == 2
    assert not any(name.startswith("on") or name == "style" for name, _ in found.attributes)
    assert not UNPRINTABLE.search(page)


@pytest.mark.parametrize("pattern", ADDRESSES)
def test_every_table_of_every_page_is_a_csv_without_formulas(catalogue, pattern):
    asked = Asked(path_of(pattern), ADDRESSES[pattern])
    page = answer(catalogue, asked)

    for name in page.sheets:
        table = table_of(catalogue, Asked(asked.path, {**asked.query, "csv": name}))
        lines = table.csv().splitlines()

        assert len(lines) >= 1 + len(table.rows)
        assert not re.search(r'(^|,)"?[=@]', table.csv())
        assert f"csv={name}" in page.content or pattern == "/algorithms/{}"


@pytest.mark.parametrize("path", ["/nothing", "/datasets/unknown", "/runs/zz", "/runs/123", "/sessions/0", "/runs/a/b"])
def test_an_address_that_leads_nowhere_is_not_there(in_file, path):
    with pytest.raises(NotThere):
        answer(in_file, Asked(path))


@pytest.mark.parametrize(
    "query", [{"after": "x"}, {"sort": "'"}, {"dataset": HOSTILE}, {"metric": HOSTILE}, {"a": "%"}]
)
@pytest.mark.parametrize("path", ["/runs", f"/datasets/{fingerprint(1)}", "/compare", f"/sessions/{LIVE}", "/datasets"])
def test_a_strange_query_is_no_error(in_file, path, query):
    if path == "/compare" and "a" in query:
        query = {"a": TUNE[:5], "b": BOT}

    assert "alert" not in read(page_of(in_file, path, **query)).tags


def test_an_empty_knowledge_base_says_what_to_do():
    with open_kb(":memory:") as kb:
        catalogue = Catalogue(kb)

        for path in ("/", "/datasets", "/runs", "/sessions", "/compare", "/algorithms", "/map"):
            assert answer(catalogue, Asked(path)).content

        assert "metaml tune" in words(page_of(catalogue, "/"))


def test_new_runs_are_shown(kb, run_of):
    catalogue = Catalogue(kb)
    before = page_of(catalogue, "/")
    kb.add_run(run_of(1))

    assert "empty" in words(before)
    assert "1 run of 1 algorithm" in words(page_of(catalogue, "/"))


def test_a_search_under_way_is_asked_for_again_until_it_ends(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb)
        catalogue = Catalogue(kb)
        before = answer(catalogue, Asked(f"/sessions/{LIVE}")).content
        poll = re.search(r'hx-get="([^"]+)"', before)
        seen = re.search(r"seen=([^&\"]+)", poll[1])[1]
        unchanged = answer(catalogue, Asked(f"/sessions/{LIVE}", {"part": "live", "seen": seen}))
        kb.add_run(searched(50, LIVE, None))
        changed = answer(catalogue, Asked(f"/sessions/{LIVE}", {"part": "live", "seen": seen}))
        kb.finish_session(LIVE)
        ended = answer(catalogue, Asked(f"/sessions/{LIVE}", {"part": "live", "seen": seen}))

    assert unchanged.is_unchanged
    assert "1 run so far" in words(changed.content)
    assert "hx-trigger" in changed.content
    assert "hx-trigger" not in ended.content
