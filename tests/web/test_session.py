"""The page of a session: a search in the words and pictures of the report, another session by its settings."""

from dataclasses import replace

from sqlalchemy import text

from metaml.web.catalogue import Catalogue
from metaml.web.session import evaluated, stored_report
from metaml_kb import SessionRecord
from tests.report.reading import sections, words
from tests.web.asking import page_at, text_at
from tests.web.samples import BOT, HOSTILE, LIVE, TUNE, fill, fingerprint, searched

ADDRESSES = {f"/sessions/{'d' * 32}": {}, "/compare": {"a": "d" * 32, "b": TUNE}}


def test_a_search_has_all_its_parts(catalogue):
    page = page_at(catalogue, f"/sessions/{TUNE[:8]}")

    assert sections(page.content) == {"progress", "allocation", "experience", "ledger", "runs"}
    assert page.sheets["runs"].rows[0]["place"] == 1
    assert [row["runs"] for row in page.sheets["algorithms"].rows] == [7, 6]


def test_scores_and_times_are_those_of_the_event_log(in_file):
    in_file.catch_up()
    item = in_file.session(TUNE)
    found = evaluated(in_file, item, 100)

    data = stored_report(in_file, item, in_file.dataset(found.runs[0].fingerprint), found, "roc_auc")

    assert [trial.at for trial in data.trials][:3] == [1.0, 5.0, 9.0]
    assert data.trials[1].score == 0.77
    assert (data.session.bandit, data.session.n_workers, data.session.used_seconds) == ("thompson", 2, 60.0)
    assert sum(data.ledger.values()) == 60.0
    assert data.experience.n_runs == 441


def test_what_was_known_before_a_session_is_counted_also_where_runs_were_removed(kb):
    fill(kb)
    with kb.engine.begin() as connection:
        connection.execute(text("DELETE FROM run WHERE id BETWEEN 10 AND 19"))
    catalogue = Catalogue(kb)
    catalogue.catch_up()
    item = catalogue.session(TUNE)
    found = evaluated(catalogue, item, 100)

    data = stored_report(catalogue, item, catalogue.dataset(found.runs[0].fingerprint), found, "roc_auc")

    assert data.experience.n_runs == 431


def test_a_bot_session_shows_its_settings_and_newest_runs(in_file):
    page = page_at(in_file, f"/sessions/{BOT}")

    assert "n_runs" in words(page.content)
    assert "progress" not in sections(page.content)


def test_settings_of_others_may_be_anything(kb):
    names = ("seconds", "n_workers", "n_folds", "project", "user", "final", "title", "search_plan")
    odd = ("x", -1, [1], {"metric": 3, "score": "x", "bandit": []}, True, 1e300, "")
    fill(kb)
    keys = [f"d{place}".ljust(32, "0") for place in range(len(odd))]
    for key, value in zip(keys, odd, strict=True):
        settings = {"dataset": fingerprint(0), **dict.fromkeys(names, value)}
        kb.add_session(SessionRecord(key, "tune", 1.7e9 + 900, None, 3, settings))
        run = searched(77, key, None)
        kb.add_run(run, events=[("finished", {"run": run.identity, "seconds": "x", "at": None, "score": []})])
    catalogue = Catalogue(kb)

    for path in ("/sessions", "/", *(f"/sessions/{key}" for key in keys)):
        assert page_at(catalogue, path).content
    for key in keys:
        assert page_at(catalogue, "/compare", a=key, b=TUNE).content


def test_a_session_says_whose_it_is_and_how_its_model_scored(kb):
    final = {"metric": "roc_auc", "score": 0.87654}
    settings = {"project": HOSTILE, "user": "ada", "final": final, "search_plan": {"metric": "roc_auc"}}
    fill(kb)
    kb.add_session(SessionRecord("d" * 32, "tune", 1.7e9, 1.7e9 + 9, 3, {**settings, "dataset": fingerprint(0)}))
    kb.add_run(searched(77, "d" * 32, None))

    page, listed = page_at(Catalogue(kb), f"/sessions/{'d' * 32}"), page_at(Catalogue(kb), "/sessions")

    assert "Final model0.8765" in words(page.content)
    assert "Userada" in words(page.content)
    assert HOSTILE in [row["project"] for row in listed.sheets["sessions"].rows]
    assert "<script" not in page.content + listed.content


def test_what_was_stored_before_is_part_of_a_search_and_runs_on_other_folds_are_no_evaluations(kb):
    fill(kb)
    settings = {"dataset": fingerprint(0), "n_folds": 3, "search_plan": {"metric": "roc_auc"}}
    kb.add_session(SessionRecord("d" * 32, "tune", 1.7e9, 1.7e9 + 9, 3, settings))
    for place, draw in enumerate((11, 77)):  # The first one is of an earlier session.
        run = searched(draw, "d" * 32, None)
        at = {"run": run.identity, "seconds": 1.0, "at": 2.0 + place, "score": run.scores["roc_auc"][0]}
        kb.add_run(run, events=[("finished", at)])
    kb.add_run(replace(searched(77, "d" * 32, None), seed=9, origin="repeat"))
    kb.add_event("d" * 32, "finished", {"run": HOSTILE})

    page, compared = (page_at(Catalogue(kb), path, **query) for path, query in ADDRESSES.items())

    assert "2 complete, 1 stored before" in words(page.content)
    assert len(page.sheets["runs"].rows) == 3
    assert [row["runs"] for row in compared.sheets["sessions"].rows] == [2, 13]


def test_a_session_without_runs_waits_for_them(in_file):
    assert "No run is stored yet" in text_at(in_file, f"/sessions/{LIVE}")


def test_runs_whose_folds_all_have_scores_count_as_complete_also_if_learners_stopped_early(kb):
    fill(kb)
    settings = {"dataset": fingerprint(0), "n_folds": 3, "search_plan": {"metric": "roc_auc"}}
    kb.add_session(SessionRecord("d" * 32, "tune", 1.7e9, 1.7e9 + 9, 3, settings))
    stopped = replace(searched(77, "d" * 32, None), status="partial", error="stopped early: a fit may take 1 s")
    of_two = {name: values[:2] for name, values in stopped.scores.items()}
    kb.add_runs([stopped, replace(stopped, seed=1, scores=of_two)])

    text = text_at(Catalogue(kb), f"/sessions/{'d' * 32}")
    compared = page_at(Catalogue(kb), "/compare", a="d" * 32, b=TUNE)

    assert "1 complete and 1 stopped early" in text
    assert compared.sheets["sessions"].rows[0]["complete"] == 1
