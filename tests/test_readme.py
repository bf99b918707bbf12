"""What the README says is true: it is short, its commands and links exist, and CI runs its test command."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from metaml_cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_WORDS = 900

COMMAND_BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
NAMED_COMMANDS = re.findall(r"`metaml ([^`]+)`", README)
TYPED_COMMANDS = [line for block in COMMAND_BLOCKS for line in block.splitlines() if line.startswith("metaml ")]
LINKS = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)


def find_command(words):
    """Return the command that `words` name, how many of them name it, and the words that are left."""
    left = list(words)
    command, depth = typer.main.get_command(app), 0
    while left and left[0] in getattr(command, "commands", {}):
        command, depth = command.commands[left.pop(0)], depth + 1
    return command, depth, left


def test_readme_can_be_read_in_three_minutes():
    n_words = len(README.split())

    assert n_words <= MOST_WORDS, f"README.md has {n_words} words. Move some to docs/."


def test_ci_runs_the_test_command_of_the_readme():
    command = next(block.strip() for block in COMMAND_BLOCKS if "pytest" in block)

    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_install_command_ends_with_a_metaml_command():
    block = next(block for block in COMMAND_BLOCKS if "pip install -q . " in block)

    words = shlex.split(block)
    command, depth, left = find_command(words[words.index(".venv/bin/metaml") + 1 :])

    assert depth == 1
    command.make_context("metaml", left)


@pytest.mark.parametrize("line", TYPED_COMMANDS)
def test_parser_takes_every_command_of_a_block(line):
    command, depth, left = find_command(shlex.split(line)[1:])

    assert depth > 0
    # Making the context reads all arguments and runs nothing.
    command.make_context("metaml", left)


@pytest.mark.parametrize("text", sorted(set(NAMED_COMMANDS)))
def test_every_command_named_can_be_typed(text):
    command, depth, left = find_command(shlex.split(text))

    known = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    unknown = {word for word in left if word.startswith("--")} - known
    assert depth > 0 or left[0].startswith("--")
    assert unknown == set()


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_every_link_leads_to_a_file(link):
    assert "://" in link or (ROOT / link).exists()
