"""`metaml web`: what it refuses, and its pages as files."""

import pytest
from typer.testing import CliRunner

from metaml_cli.main import app
from metaml_kb import DatasetRecord, open_kb


@pytest.fixture
def place(tmp_path, run_of):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        kb.add_run(run_of(1))
    return tmp_path / "kb.db"


def test_it_writes_pages_as_files(place, tmp_path):
    done = CliRunner().invoke(app, ["web", "--kb", str(place), "--export", str(tmp_path / "pages")])

    assert done.exit_code == 0
    assert "pages/index.html" in done.output
    assert (tmp_path / "pages" / "datasets" / f"{'f' * 32}.html").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "--token"),
        (["--token", "short"], "16 letters"),
        (["--kb", "missing.db"], "no knowledge base"),
        (["--sql", "--export", "pages"], "SQL needs the server"),
    ],
)
def test_what_it_cannot_do_is_a_sentence(place, options, said):
    done = CliRunner().invoke(app, ["web", "--kb", str(place), *options])

    assert done.exit_code == 2
    assert said in done.output
