"""The page of a data set: best runs, who won, settings, neighbours."""

from metaml.web.catalogue import Catalogue
from metaml_kb import DatasetRecord
from tests.report.reading import sections, words
from tests.web.asking import page_at, text_at
from tests.web.samples import ALGORITHMS, fingerprint

PATH = f"/datasets/{fingerprint(1)}"


def test_it_has_all_its_parts(catalogue):
    page = page_at(catalogue, PATH)

    assert sections(page.content) == {"best", "winners", "settings", "experience", "neighbours", "metafeatures"}
    scores = [row["score"] for row in page.sheets["best"].rows]
    assert scores == sorted(scores)
    assert [row["algorithm"] for row in page.sheets["winners"].rows] == list(reversed(ALGORITHMS))


def test_another_metric_can_be_chosen(in_file):
    page = page_at(in_file, PATH, metric="accuracy")

    scores = [row["score"] for row in page.sheets["best"].rows]
    assert scores == sorted(scores, reverse=True)
    assert page_at(in_file, PATH, metric="nonsense").sheets["best"].rows == page_at(in_file, PATH).sheets["best"].rows


def test_only_settings_that_vary_are_drawn(in_file):
    page = page_at(in_file, PATH, algorithm="svm").content

    assert "rate against" in page
    assert "depth against" in page
    assert "fixed against" not in page


def test_neighbours_are_of_the_same_kind_of_task_and_not_itself(in_file):
    rows = page_at(in_file, PATH).sheets["neighbours"].rows

    assert not {"data-1", "data-2", "data-5"} & {row["name"] for row in rows}
    assert [row["distance"] for row in rows] == sorted(row["distance"] for row in rows)


def test_suggestions_come_after_the_page_and_say_if_nothing_was_learnt(in_file):
    before = page_at(in_file, PATH).content
    part = page_at(in_file, PATH, part="suggestions")

    assert 'hx-trigger="load"' in before
    assert part.is_part
    assert "metaml learn" in words(part.content)
    assert "metaml learn" in text_at(in_file, PATH)


def test_a_data_set_without_runs_says_so(kb):
    kb.add_dataset(DatasetRecord("e" * 32, "wine", n_rows=3))

    assert "No complete run" in text_at(Catalogue(kb), f"/datasets/{'e' * 32}")
