"""The first page counts what is there and whose it is."""

from tests.report.reading import words
from tests.web.asking import page_at, text_at
from tests.web.samples import LIVE, TUNE


def test_it_counts_runs_sessions_and_data_sets(catalogue):
    page = page_at(catalogue, "/")

    assert "454 runs of 5 algorithms on 12 data sets: 454 of your own, 0 came with metaml." in words(page.content)
    assert [row["session"] for row in page.sheets["sessions"].rows][:2] == [LIVE, TUNE]
    assert page.sheets["runs"].rows[0]["status"] == "failed"


def test_runs_of_the_starter_are_not_yours(kb, run_of):
    from metaml.web.catalogue import Catalogue

    kb.add_run(run_of(1, session=kb.start_session("starter")))
    kb.add_run(run_of(2))

    assert "1 of your own, 1 came with metaml" in text_at(Catalogue(kb), "/")
