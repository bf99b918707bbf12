"""`metaml demo` is a tour that really runs what it shows, in a folder of its own."""

import re
import shlex

import pandas as pd
import pytest
from typer.testing import CliRunner

from metaml_cli.main import app
from metaml_kb import open_kb

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def toured(tmp_path_factory):
    """The folder of a short tour, what it printed, and the knowledge base that is the person's own."""
    folder = tmp_path_factory.mktemp("tour")
    own = folder / "own.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("METAML_KB", str(own))
        result = CliRunner().invoke(app, ["demo", "--output", str(folder / "a tour"), "--seconds", "3"])
    assert result.exit_code == 0, result.output
    return folder / "a tour", result.output, own


def shown_commands(printed):
    """Return the command lines of a tour; one may go over several lines, inside its quotes."""
    found = re.findall(r"^  \$ (metaml (?:[^\"\n]|\"[^\"]*\")*)$", printed, re.MULTILINE)
    return [shlex.split(command) for command in found]


def test_every_step_of_the_work_is_shown(toured):
    _, printed, _ = toured

    verbs = [words[1] for words in shown_commands(printed)]

    assert verbs[:7] == ["kb", "describe", "suggest", "tune", "show", "predict", "kb"]
    assert {"tune", "kb", "--help"} <= set(verbs[-3:])


def test_what_is_printed_fits_80_columns(toured):
    folder, printed, _ = toured

    # A path or a command that is to be copied is as long as it is.
    lines = [line for line in printed.splitlines() if str(folder.parent) not in line]

    assert max(map(len, lines)) <= 80


def test_the_tour_leaves_data_model_report_and_predictions(toured):
    folder, printed, _ = toured

    known, new = pd.read_csv(folder / "tumours.csv"), pd.read_csv(folder / "new.csv")
    predictions = pd.read_csv(folder / "predictions.csv")

    assert str(folder / "result" / "report.html") in printed
    assert (folder / "result" / "report.html").exists()
    assert "diagnosis" in known
    assert "diagnosis" not in new
    assert len(known) + len(new) == 569
    assert set(predictions["prediction"]) == {"benign", "malignant"}


def test_the_score_on_held_out_rows_is_told(toured):
    _, printed, _ = toured

    right, rows = re.search(r"(\d+) of (\d+)\s+diagnoses are\s+right", printed).groups()

    assert int(rows) == 143
    assert int(right) > 100


def test_the_persons_own_knowledge_base_is_not_touched(toured):
    folder, _, own = toured

    with open_kb(folder / "kb.db", create=False) as kb:
        names = list(kb.datasets()["name"])

    assert not own.exists()
    assert names == ["tumours"]


def test_a_folder_of_the_persons_own_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")

    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path)])

    assert result.exit_code == 2
    assert "Choose another folder with --output" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_place_of_the_folder_gets_one_sentence(tmp_path):
    (tmp_path / "file").write_text("mine")

    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "file")])

    assert result.exit_code == 2
    assert result.stderr.startswith("metaml: ")
