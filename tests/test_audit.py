"""The table of every method of the documents cannot lie: what a row names exists, and what is registered has a row."""

import importlib.util
import shlex
from pathlib import Path

import pytest
import typer.main

from metaml.bandits import POLICIES
from metaml.metalearning.assessment.learners import LEARNERS
from metaml.search.pareto_optimizer import METHODS
from metaml.search.presets import PRESETS
from metaml.search.schedules import SCHEDULES
from metaml.search.strategy import CHOICES, ONLY_IN_REPLAY, STRATEGIES
from metaml.surrogates import SURROGATES
from metaml_cli.main import app

ROOT = Path(__file__).parents[1]
REGISTERED = {*CHOICES, *STRATEGIES, *SURROGATES, *POLICIES, *SCHEDULES, *METHODS, *PRESETS, *LEARNERS}


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_audit = script("make_audit")
ROWS = make_audit.rows()
BUILT = [pytest.param(row, id=f"{row.document} {row.section} {row.method}") for row in ROWS if row.is_built]


def test_the_page_is_up_to_date():
    written = make_audit.PAGE.read_text(encoding="utf-8")

    assert written == make_audit.page(), "docs/audit.md is out of date. Run: python docs/make_audit.py"


def test_everything_that_is_registered_has_a_row():
    named = {name for row in ROWS for name in row.names.split()}

    assert named == REGISTERED


@pytest.mark.parametrize("row", BUILT)
def test_the_test_and_the_figure_of_a_method_exist(row):
    assert (ROOT / row.test).is_file()
    assert bool(row.page) == bool(row.figure), f"{row.figure} is no heading of measured.md or replication.md"
    assert row.verdict.split(":")[0].split(",")[0].split(" ")[0] in ("default", "choice", "laboratory")


@pytest.mark.parametrize("row", [pytest.param(p.values[0], id=p.id) for p in BUILT if p.values[0].command])
def test_the_command_of_a_method_can_be_typed(row):
    program, *words = shlex.split(row.command)
    command = typer.main.get_command(app)
    while words and not words[0].startswith("-"):
        command = command.commands[words.pop(0)]

    known = {option for parameter in command.params for option in parameter.opts}
    assert program == "metaml"
    assert {word for word in words if word.startswith("--")} <= known


def test_a_method_for_the_laboratory_alone_is_not_called_a_choice():
    verdicts = {name: row.verdict for row in ROWS for name in row.names.split()}

    assert all(verdicts[name].startswith("laboratory") for name in ONLY_IN_REPLAY)
