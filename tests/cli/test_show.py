"""`metaml show` tells in a terminal what a search found."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from metaml.report import leaderboard_csv, summary
from metaml_cli.main import app
from tests.report.samples import failed, full, least, numeric


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "best.json").write_text(json.dumps(summary(full())))
    (tmp_path / "leaderboard.csv").write_text(leaderboard_csv(full()))
    return tmp_path


def test_the_summary_fits_a_terminal(folder, monkeypatch):
    monkeypatch.chdir(folder)

    result = CliRunner().invoke(app, ["show", ".", "--top", "3"])

    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "cross-validated ROC AUC 0.9600" in result.stdout
    assert "75%" in result.stdout
    assert "metaml predict . new.csv -o predictions.csv" in result.stdout
    assert sum(line[:4].strip() in ("1", "2", "3", "4") for line in result.stdout.splitlines()) == 3


@pytest.mark.parametrize("data", [numeric(), least(), failed()], ids=["regression", "nothing", "fallback"])
def test_any_outcome_can_be_shown(tmp_path, data):
    (tmp_path / "best.json").write_text(json.dumps(summary(data)))

    result = CliRunner().invoke(app, ["show", str(tmp_path)])

    assert result.exit_code == 0
    assert data.dataset.name in result.stdout


def test_json_is_best_json_and_csv_the_leaderboard(folder):
    as_json = CliRunner().invoke(app, ["show", str(folder), "--format", "json"])
    as_csv = CliRunner().invoke(app, ["show", str(folder), "--format", "csv"])

    assert json.loads(as_json.stdout) == summary(full())
    assert as_csv.stdout == leaderboard_csv(full())


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        "[]",
        '{"metric": 1, "dataset": {}}',
        '{"metric": {}, "dataset": []}',
    ],
)
def test_a_folder_that_is_not_ours_gets_one_sentence(tmp_path, content):
    if content is not None:
        (tmp_path / "best.json").write_text(content)

    result = CliRunner().invoke(app, ["show", str(tmp_path)])

    assert result.exit_code == 2
    assert result.stderr.startswith("metaml: ")
    assert "metaml tune" in result.stderr


@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_leaderboard_that_is_no_text_gets_one_sentence(folder, form):
    (folder / "leaderboard.csv").write_bytes(b"\xff\xfe")

    result = CliRunner().invoke(app, ["show", str(folder), "--format", form])

    assert result.exit_code == 2
    assert "Run metaml tune again." in result.stderr


def test_control_characters_do_not_reach_the_terminal(folder):
    facts = summary(full())
    facts["dataset"]["name"] = "evil\x1b[31m.csv"
    (folder / "best.json").write_text(json.dumps(facts))

    result = CliRunner().invoke(app, ["show", str(folder)])

    assert "\x1b" not in result.stdout


def test_the_best_baseline_comes_first(folder):
    facts = summary(full())
    facts["baselines"] = {"constant": 0.5, "default svm": 0.8, "default mlp": None, "default lightgbm": 0.9}
    (folder / "best.json").write_text(json.dumps(facts))

    lines = CliRunner().invoke(app, ["show", str(folder)]).stdout.splitlines()

    first = next(place for place, line in enumerate(lines) if line.startswith("Baselines"))
    assert [line.split()[-1] for line in lines[first : first + 4]] == ["lightgbm", "svm", "constant", "mlp"]


def test_the_leaderboard_has_the_keys_that_why_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = full()
    data = replace(data, trials=[replace(trial, run=f"{trial.number:x}" * 32) for trial in data.trials])
    (tmp_path / "best.json").write_text(json.dumps(summary(data)))
    (tmp_path / "leaderboard.csv").write_text(leaderboard_csv(data))

    shown = CliRunner().invoke(app, ["show", ".", "--top", "3"]).stdout

    best = json.loads((tmp_path / "best.json").read_text())["best"]
    assert max(map(len, shown.splitlines())) <= 80
    assert f"metaml why {best['run'][:8]}" in shown
    assert best["run"] in (tmp_path / "leaderboard.csv").read_text().splitlines()[1]
