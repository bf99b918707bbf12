"""The page of a session: a search in the words and pictures of the report, another session by its settings."""

from metaml.web.session import report_data
from metaml_kb.browsing.listing import runs_of_session
from tests.report.reading import sections, words
from tests.web.asking import page_at, text_at
from tests.web.samples import BOT, LIVE, TUNE


def test_a_search_has_all_its_parts(catalogue):
    page = page_at(catalogue, f"/sessions/{TUNE[:8]}")

    assert sections(page.content) == {"progress", "allocation", "experience", "ledger", "runs"}
    assert page.sheets["runs"].rows[0]["place"] == 1
    assert [row["runs"] for row in page.sheets["algorithms"].rows] == [7, 6]


def test_scores_and_times_are_those_of_the_event_log(in_file):
    in_file.catch_up()
    item = in_file.session(TUNE)
    with in_file.connected() as connection:
        runs = runs_of_session(connection, in_file.digest, item.number, 100)

    data = report_data(in_file, item, in_file.dataset(runs[0].fingerprint), runs, "roc_auc")

    assert [trial.at for trial in data.trials][:3] == [1.0, 5.0, 9.0]
    assert data.trials[1].score == 0.77
    assert (data.session.bandit, data.session.n_workers, data.session.used_seconds) == ("thompson", 2, 60.0)
    assert sum(data.ledger.values()) == 60.0
    assert data.experience.n_runs == 441


def test_a_bot_session_shows_its_settings_and_newest_runs(in_file):
    page = page_at(in_file, f"/sessions/{BOT}")

    assert "n_runs" in words(page.content)
    assert "progress" not in sections(page.content)


def test_a_session_without_runs_waits_for_them(in_file):
    assert "No run is stored yet" in text_at(in_file, f"/sessions/{LIVE}")
