"""The map: every data set with a winner is a dot that leads to it."""

from tests.report.reading import words
from tests.web.asking import page_at, text_at
from tests.web.samples import N_DATASETS, fingerprint


def test_every_data_set_is_a_dot_and_a_row(catalogue):
    page = page_at(catalogue, "/map")

    assert page.content.count('class="spot') == N_DATASETS
    assert f'href="/datasets/{fingerprint(3)}" tabindex="-1"' in page.content
    assert len(page.sheets["map"].rows) == N_DATASETS
    assert "of the variance" in words(page.content)


def test_a_task_can_be_chosen(in_file):
    assert {row["task"] for row in page_at(in_file, "/map", task="binary").sheets["map"].rows} == {"binary"}


def test_too_few_data_sets_have_no_map(kb):
    from metaml.web.catalogue import Catalogue

    assert "three data sets" in text_at(Catalogue(kb), "/map")
