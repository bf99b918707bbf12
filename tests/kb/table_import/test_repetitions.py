"""Duplicates and repetitions in third-party tables, and the same table again."""

from dataclasses import replace

from tests.kb.table_import.importer import FOREST


def test_same_row_twice_is_a_duplicate_and_other_scores_are_repetitions(imported):
    report = imported(
        "task_id,d,accuracy\n1,5,0.5\n1,5,0.5\n1,5,0.6\n1,5,0.50000000000001\n1,5,0.7\n1,5,0.6\n1,6,0.5\n"
    )

    frame = imported.kb.runs()
    assert (report.n_new, report.n_duplicates, report.n_repetitions, report.n_clashes) == (4, 3, 2, 0)
    assert list(zip(frame["d"], frame["seed"], frame["accuracy"], strict=True)) == [
        (5, 0, 0.5),
        (5, 1, 0.6),
        (5, 2, 0.7),
        (6, 0, 0.5),
    ]


def test_importing_again_adds_nothing(imported):
    text = "task_id,d,accuracy\n1,5,0.5\n1,5,0.5\n1,5,0.6\n2,5,0\n2,5,0\n"
    layout = replace(FOREST, failed_score=0.0)
    imported(text, layout)

    again = imported(text, layout)

    assert (again.n_new, again.n_known, again.n_clashes) == (0, 3, 0)
    assert len(imported.kb.runs()) == 3


def test_failure_and_success_of_one_configuration_are_both_kept(imported):
    report = imported("task_id,d,accuracy\n1,5,0\n1,5,0.6\n", replace(FOREST, failed_score=0.0))

    assert (report.n_new, report.n_repetitions) == (2, 0)
    assert imported.kb.runs()["seed"].tolist() == [0, 0]


def test_seed_column_makes_another_score_of_the_same_seed_a_clash(imported):
    layout = replace(FOREST, seed_column="seed")

    report = imported("task_id,d,seed,accuracy\n1,5,7,0.5\n1,5,8,0.6\n1,5,7,0.9\n1,5,7,0.5\n", layout)

    frame = imported.kb.runs()
    assert (report.n_new, report.n_duplicates, report.n_repetitions, report.n_clashes) == (2, 1, 0, 1)
    assert list(zip(frame["seed"], frame["accuracy"], strict=True)) == [(7, 0.5), (8, 0.6)]


def test_other_table_with_other_scores_clashes_unless_it_has_a_fold_plan_of_its_own(imported):
    imported("task_id,d,accuracy\n1,5,0.5\n")

    clashing = imported("task_id,d,accuracy\n1,5,0.6\n")
    apart = imported("task_id,d,accuracy\n1,5,0.6\n", replace(FOREST, fold_plan="r6"))

    assert (clashing.n_new, clashing.n_clashes) == (0, 1)
    assert any("--fold-plan" in note for note in clashing.notes)
    assert (apart.n_new, apart.n_clashes) == (1, 0)
    assert imported.kb.runs()["accuracy"].tolist() == [0.5, 0.6]


def test_import_is_a_session_that_names_the_file_but_not_its_folder(imported, tmp_path):
    imported("task_id,d,accuracy\n1,5,0.5\n")

    session = imported.kb.sql("SELECT kind, settings, finished_at FROM session").iloc[0]
    run = imported.kb.runs().iloc[0]
    assert session["kind"] == "import"
    assert '"file": "runs.csv"' in session["settings"]
    assert str(tmp_path) not in session["settings"]
    assert session["finished_at"] > 0
    assert (run["origin"], run["fold_plan"], run["dataset"]) == ("imported", "imported", "openml-task:1")


def test_a_table_of_unknown_task_is_remarked_on_and_mended_by_importing_it_again(imported):
    text = "task_id,d,accuracy\n1,5,0.5\n"

    first = imported(text)
    again = imported(text, replace(FOREST, task="binary"))

    assert any("task of these data sets is unknown" in note and "--task binary" in note for note in first.notes)
    assert not any("--task" in note for note in again.notes)
    assert imported.kb.datasets()["task"].tolist() == ["binary"]
