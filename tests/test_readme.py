"""What the README says is true: its Python runs, its commands exist, and CI runs its test command."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from metaml_cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def test_the_python_example_prints_what_the_readme_shows():
    code = next(text for kind, text in BLOCKS if kind == "python")
    shown = next(text for kind, text in BLOCKS if kind == "text")
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})

    assert printed.getvalue() == shown


def test_ci_runs_the_test_command_of_the_readme():
    command = next(text.strip() for kind, text in BLOCKS if kind == "sh" and "pytest" in text)

    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(set(re.findall(r"metaml (kb [a-z-]+|bot|describe)", README))))
def test_every_command_named_exists(command):
    assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0
