"""The command as a whole: quick to start, one sentence when something is wrong."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from metaml_cli.main import app

HEAVY = {"sklearn", "lightgbm", "xgboost", "openml", "ConfigSpace"}


def modules_after(*arguments: str) -> set[str]:
    """Return the top-level modules that a command has loaded when it ends."""
    script = (
        "import sys, json\n"
        "from metaml_cli.main import app\n"
        "try:\n    app(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_help_loads_nothing_heavy():
    loaded = modules_after("--help")

    assert loaded.isdisjoint(HEAVY | {"pandas", "numpy", "sqlalchemy", "alembic"})


def test_kb_info_loads_no_learning_library(kb):
    loaded = modules_after("kb", "info", "--kb", kb.name)

    assert "sqlalchemy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_version_is_told():
    from metaml import __version__

    assert CliRunner().invoke(app, ["--version"]).stdout == f"metaml {__version__}\n"


def commands() -> list[list[str]]:
    import typer

    def walk(command, path):
        for name, inner in getattr(command, "commands", {}).items():
            if hasattr(inner, "commands"):
                yield from walk(inner, [*path, name])
            else:
                yield [*path, name]

    return list(walk(typer.main.get_command(app), []))


@pytest.mark.parametrize("command", [["kb"], *commands()], ids=" ".join)
def test_every_command_has_an_example_in_its_help(command):
    result = CliRunner().invoke(app, [*command, "--help"])

    assert result.exit_code == 0
    assert f"Example: metaml {' '.join(command)}" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["kb", "info", "--kb", "missing.db"],
        ["kb", "runs", "--kb", "missing.db"],
        ["kb", "import", "missing.metaml", "--kb", ":memory:"],
        ["kb", "merge", ":memory:", "missing.db"],
        ["kb", "upgrade", "missing.db"],
        ["bot", "--kb", ":memory:"],
        ["bot", "--data", "missing.csv", "--kb", ":memory:"],
        ["bot", "--builtin", "--algorithms", "forest", "--kb", ":memory:"],
        ["bot", "--builtin", "--time-budget", "soon", "--kb", ":memory:"],
        ["tune", "missing.csv", "--time-budget", "", "--kb", ":memory:"],
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence_and_exit_2(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("metaml: ")
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_empty_budget_is_no_duration():
    result = CliRunner().invoke(app, ["tune", "missing.csv", "--time-budget", "", "--kb", ":memory:"])

    assert "'' is not a duration" in result.stderr


@pytest.mark.parametrize("arguments", [["nonsense"], ["kb", "nonsense"], ["bot", "--nonsense"], ["kb", "best"]])
def test_a_mistyped_command_is_told_how_to_get_help(arguments):
    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 2
    assert "--help" in result.stderr
    assert "internal error" not in result.stderr


def test_an_internal_error_shows_no_traceback(monkeypatch):
    from metaml_cli import kb

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr(kb, "opened", broken)
    result = CliRunner().invoke(app, ["kb", "info"])

    assert result.exit_code == 1
    assert (
        result.stderr
        == "metaml: internal error (RuntimeError: surprise). Set METAML_DEBUG=1 to see where, and report it.\n"
    )


@pytest.mark.parametrize("command", [["tune", "data.csv"], ["bot", "--builtin"]], ids=["tune", "bot"])
@pytest.mark.parametrize("seed", ["-1", str(2**31), str(2**64)])
def test_a_number_that_cannot_be_a_seed_is_refused_before_anything_is_done(command, seed):
    done = CliRunner().invoke(app, [*command, "--seed", seed])

    assert done.exit_code == 2
    assert "Invalid value for '--seed'" in done.stderr
