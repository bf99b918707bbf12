"""The pages as files: every page is there, and every link leads somewhere."""

import csv
import re

import pytest

from metaml.errors import BadRequest
from metaml.web.export import export, file_of, relative
from metaml.web.site import PAGES
from tests.report.reading import read
from tests.web.samples import BOT, LIVE, N_DATASETS, TUNE, fingerprint


@pytest.fixture(scope="module")
def folder(filled_file, tmp_path_factory):
    from metaml.web.catalogue import Catalogue
    from metaml_kb.browsing.read_only import open_read_only

    with open_read_only(filled_file) as kb:
        path = tmp_path_factory.mktemp("pages")
        export(Catalogue(kb), path, most_runs=20)
        return path


def test_every_kind_of_page_is_there(folder):
    assert not (folder / "sql.html").exists()
    for pattern in PAGES.keys() - {"/sql"}:
        assert list(folder.glob(file_of(pattern).replace(file_of("/{}").removesuffix(".html"), "*")))

    assert {path.stem for path in (folder / "datasets").glob("*.html")} == {fingerprint(n) for n in range(N_DATASETS)}
    assert {path.stem for path in (folder / "sessions").glob("*.html")} == {TUNE, BOT, LIVE}
    assert len(list((folder / "runs").glob("*.html"))) == 20


def test_every_link_of_every_page_leads_to_a_file(folder):
    pages = list(folder.rglob("*.html"))

    for page in pages:
        for name, value in read(page.read_text(encoding="utf-8")).attributes:
            if name in ("href", "src") and value != "#content":
                assert (page.parent / value).resolve().is_file(), (page, value)

    assert len(pages) > 30


def test_pages_in_files_have_a_policy_and_neither_forms_nor_requests(folder):
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")

        assert "Content-Security-Policy" in text
        assert not re.search(r"<form|hx-get|unsafe-", text)


def test_tables_are_there_as_csv(folder):
    with (folder / "datasets.datasets.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == 1 + N_DATASETS


def test_a_link_to_what_is_not_there_is_no_longer_one():
    page = '<a href="/runs/12">x</a> <a href="/runs?sort=best">y</a> <a href="/datasets/a%2Fb">z</a>'

    written = relative(page, "/sessions/1", {"/datasets/a%2Fb": file_of("/datasets/a%2Fb")}, set())

    assert written.startswith("<a >x</a> <a >y</a>")
    assert 'href="../datasets/x' in written


def test_other_files_in_the_folder_are_kept_safe(in_file, tmp_path):
    (tmp_path / "thesis.tex").write_text("x")

    with pytest.raises(BadRequest, match="thesis"):
        export(in_file, tmp_path)
