"""The check-up finds what is wrong and changes nothing unless asked."""

import pytest

from metaml_kb import DatasetRecord, EnvironmentRecord, open_kb
from metaml_kb.doctor import Expectations, check_up, examine
from metaml_kb.errors import CannotOpen


def checks(kb, **options) -> set[str]:
    return {finding.check for finding in examine(kb, **options)}


def test_a_sound_knowledge_base_has_no_findings(kb, run_of):
    kb.add_run(run_of(1))

    assert examine(kb) == []


def test_orphans_are_found_and_removed_only_when_asked(kb, run_of):
    kb.add_runs([run_of(1), run_of(2)])
    with kb.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM run WHERE id = 2")

    assert checks(kb) == {"orphans"}
    assert checks(kb) == {"orphans"}
    assert examine(kb, fix=True) == []
    assert len(kb.runs()) == 1


def execute(kb, *statements) -> None:
    with kb.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_a_trigger_is_found_and_nothing_is_removed_while_it_is_there(kb, run_of):
    kb.add_runs([run_of(1), run_of(2)])
    execute(
        kb,
        "DELETE FROM run WHERE id = 2",
        "CREATE TRIGGER helper AFTER DELETE ON configuration BEGIN DELETE FROM run; END",
    )

    findings = examine(kb, fix=True)

    assert [(finding.check, finding.is_error) for finding in findings] == [("foreign", True), ("orphans", False)]
    assert "trigger 'helper' on 'configuration'" in findings[0].text
    assert "DROP TRIGGER" in findings[0].text
    assert len(kb.runs()) == 1


def test_a_view_is_found_if_it_is_not_ours_or_was_changed(kb):
    execute(kb, "CREATE VIEW mine AS SELECT 1", "DROP VIEW result", "CREATE VIEW result AS SELECT 1 AS value")

    mine, result = examine(kb)

    assert (mine.check, mine.is_error) == ("foreign", False)
    assert "view 'mine'" in mine.text
    assert (result.check, result.is_error) == ("foreign", True)
    assert "view result" in result.text


def test_triggers_and_views_in_postgresql_are_found(postgres_url):
    with open_kb(postgres_url("doctor")) as kb:
        sound = examine(kb)
        execute(
            kb,
            "CREATE VIEW mine AS SELECT 1",
            "CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
            "CREATE TRIGGER helper BEFORE INSERT ON run FOR EACH ROW EXECUTE FUNCTION act()",
        )

        findings = examine(kb)

    assert sound == []
    assert [finding.text.split(" was")[0] for finding in findings] == [
        "The trigger 'helper' on 'run'",
        "The view 'mine'",
    ]


def test_a_run_changed_by_hand_is_found(kb, run_of):
    kb.add_run(run_of(1))
    with kb.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE run SET seed = 9")

    (finding,) = examine(kb)

    assert finding.is_error
    assert "changed by hand" in finding.text


@pytest.mark.parametrize(("metric", "score"), [("accuracy", 1.7), ("neg_rmse", 0.5)])
def test_a_score_above_the_highest_is_found_for_those_who_know_it(kb, run_of, metric, score):
    expectations = Expectations(highest_scores={"accuracy": 1.0, "neg_rmse": 0.0})
    kb.add_run(run_of(1, scores={metric: score}))

    (finding,) = examine(kb, expectations=expectations)

    assert f"{metric} {score}" in finding.text
    assert finding.is_error
    assert examine(kb) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "UPDATE run SET score_list = '[np.float64(0.9)]' WHERE id = 2",
            "1 row of run has no JSON in score_list",
        ),
        ("UPDATE configuration SET value_list = ''", "2 rows of configuration have no JSON in value_list"),
        ("UPDATE dataset SET details = '{'", "1 row of dataset has no JSON in details"),
    ],
)
@pytest.mark.parametrize("fix", [True, False])
def test_what_cannot_be_read_is_told_and_left_as_it_is(kb, run_of, change, told, fix):
    kb.add_runs([run_of(1), run_of(2)])
    with kb.engine.begin() as connection:
        connection.exec_driver_sql(change)

    (finding,) = check_up(kb.name, fix=fix).findings

    assert finding.is_error
    assert finding.text.startswith(told)
    assert "Restore a copy" in finding.text


def test_a_complete_run_without_scores_is_found(kb, run_of):
    kb.add_run(run_of(1, scores={}))

    assert checks(kb) == {"contradictions"}


def test_runs_of_another_release_of_a_library_that_matters_are_found(kb, run_of):
    key = kb.add_environment(EnvironmentRecord({"scikit-learn": "0.1.2", "pandas": "0.1"}))
    kb.add_run(run_of(1, environment=key))

    (finding,) = examine(kb, expectations=Expectations(libraries=("scikit-learn",)))

    assert "1 runs were made with scikit-learn 0.1.2" in finding.text
    assert examine(kb) == []


def test_near_duplicate_data_sets_are_found(kb):
    kb.add_dataset(DatasetRecord("e" * 32, "iris"))
    for fingerprint, name in (("a", "flowers"), ("b", "blossoms")):
        kb.add_dataset(DatasetRecord(fingerprint, name))
        facts = {"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0, "NumberOfClasses": 3.0, "MajorityClassSize": 50.0}
        kb.add_metafeatures(fingerprint, facts)

    texts = [finding.text for finding in examine(kb)]

    assert len(texts) == 2
    assert "they have the same name" in texts[0]
    assert texts[1].startswith("blossoms and flowers look like the same data: 150 rows, 5 columns")


def test_near_duplicates_inside_the_starter_are_counted_but_not_listed(kb, run_of):
    starter = kb.start_session("starter")
    kb.finish_session(starter)
    facts = {"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0, "NumberOfClasses": 3.0, "MajorityClassSize": 50.0}
    for fingerprint, name in (("a", "blossoms"), ("b", "daisies"), ("c", "flowers"), ("d", "flowers")):
        kb.add_dataset(DatasetRecord(fingerprint, name))
        kb.add_metafeatures(fingerprint, facts)
        kb.add_run(run_of(1, dataset=fingerprint, session=None if name == "blossoms" else starter))

    found = check_up(kb.name)

    (finding,) = found.findings
    assert finding.text.startswith("blossoms and daisies look like the same data")
    assert found.n_left_out == 2


@pytest.fixture
def overwrite(kb, run_of, tmp_path):
    """A function that damages a knowledge base: it writes nonsense into its file between two places."""
    kb.add_runs(run_of(n) for n in range(500))
    kb.close()
    path = tmp_path / "kb.db"

    def damage(first, last=None):
        content = bytearray(path.read_bytes())
        content[first:last] = b"\xff" * len(content[first:last])
        path.write_bytes(content)
        return path

    return damage


@pytest.mark.parametrize("fix", [True, False])
def test_damage_is_told_in_the_words_of_sqlite_with_what_to_do(overwrite, fix):
    path = overwrite(4096)

    (finding,) = check_up(path, fix=fix).findings

    assert finding.is_error
    assert "SQLite reports damage: " in finding.text
    assert f"sqlite3 {path} .recover | sqlite3 " in finding.text


def test_damage_deep_in_the_file_is_found(overwrite):
    path = overwrite(20 * 4096, 21 * 4096)

    (finding,) = check_up(path).findings

    assert "SQLite reports damage: " in finding.text
    assert "\n" not in finding.text


@pytest.mark.parametrize("last", [16, 4096])
def test_a_damaged_beginning_is_told_as_that(overwrite, last):
    path = overwrite(0, last)

    (finding,) = check_up(path).findings

    assert finding.is_error
    assert "its first page is damaged, or it never was a knowledge base" in finding.text


def test_what_is_no_damage_is_left_to_the_one_who_opens(tmp_path):
    with pytest.raises(CannotOpen, match="There is no knowledge base"):
        check_up(tmp_path / "none.db")


def test_a_file_that_cannot_be_opened_is_not_called_damaged(kb, tmp_path):
    kb.close()
    # As in a read-only folder, the write-ahead log cannot be made.
    (tmp_path / "kb.db-wal").mkdir()

    with pytest.raises(CannotOpen, match=r"kb\.db cannot be opened"):
        check_up(tmp_path / "kb.db")
