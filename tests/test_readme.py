"""What the README says is true: its Python runs, its commands exist, and CI runs its test command."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import typer

from metaml_cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def test_the_python_example_prints_what_the_readme_shows(tmp_path, monkeypatch):
    monkeypatch.delenv("METAML_STARTER")
    monkeypatch.setenv("METAML_KB", str(tmp_path / "kb.db"))
    code = next(text for kind, text in BLOCKS if kind == "python")
    shown = next(text for kind, text in BLOCKS if kind == "text")
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})

    assert printed.getvalue() == shown


def test_ci_runs_the_test_command_of_the_readme():
    command = next(text.strip() for kind, text in BLOCKS if kind == "sh" and "pytest" in text)

    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


TYPED = re.findall(r"`metaml ([^`]+)`", README)


@pytest.mark.parametrize("text", sorted(set(TYPED)))
def test_every_command_named_can_be_typed(text):
    words = shlex.split(text.replace("\\|", "|").replace("[", "").replace("]", ""))
    command = typer.main.get_command(app)
    typed = ["metaml"]
    while words and words[0] in getattr(command, "commands", {}):
        typed.append(words.pop(0))
        command = command.commands[typed[-1]]

    known = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    unknown = {word for word in words if word.startswith("--")} - known
    assert len(typed) > 1 or words[0].startswith("--")
    assert unknown == set()
