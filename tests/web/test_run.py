"""The page of a run: what `why` says, its folds, its environment, and how to make it again."""

from metaml.experience.run_explained import explained
from metaml_kb.lookup import find_run
from tests.report.reading import words
from tests.web.asking import page_at, text_at
from tests.web.samples import HOSTILE, TUNE, run_of, searched


def test_it_says_all_that_why_says_of_the_proposal(catalogue):
    key = searched(1, TUNE, None).identity

    text = text_at(catalogue, f"/runs/{key}")

    _, proposed, past = explained(find_run(catalogue.kb, key))
    for _, texts in (*proposed, *past):
        for said in texts:
            assert " ".join(said.replace("\u202e", "\ufffd").split()) in text


def test_it_has_every_score_setting_and_the_command_that_makes_it_again(in_file):
    run = run_of(0, HOSTILE, 2, 0.5, "")

    page = page_at(in_file, f"/runs/{run.identity[:10]}")

    assert {row["metric"] for row in page.sheets["scores"].rows} == {
        *("accuracy", "log loss", "ROC AUC", f"custom:{HOSTILE}"),
    }
    assert {row["setting"] for row in page.sheets["configuration"].rows} == {"rate", "depth", "mode", "fixed", HOSTILE}
    assert f"metaml reproduce {run.identity[:12]}" in words(page.content)
    assert "stratified, 3" in words(page.content)


def test_a_failed_run_shows_its_error(in_file):
    failed = page_at(in_file, "/runs", status="failed").sheets["runs"].rows[0]["run"]

    assert "Error: <script>" in text_at(in_file, f"/runs/{failed}")
