"""What docs/ says is true: the site builds, the command reference is current, links lead somewhere."""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from metaml.metrics import METRICS
from metaml_cli.main import app
from metaml_kb.tables import VIEWS, metadata

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
FILE = re.compile(r"`((?:metaml|kb|cli|tests|migrations|docs|benchmarks)/[\w/.]+\.(?:py|md|svg))`")


def script(name):
    """Return a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_commands, make_schema = script("make_commands"), script("make_schema")
COMMANDS = [words for words in make_commands.commands() if words]
STALE = "docs/{} is out of date. Run: python docs/{}"


def command_of(words):
    """Return a command as its parser."""
    command = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    return command


def options_of(command):
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")}


def test_the_command_reference_is_up_to_date():
    written = make_commands.PAGE.read_text(encoding="utf-8")
    if make_commands.MADE_WITH not in written:
        pytest.skip("another typer breaks lines elsewhere")

    assert written == make_commands.page(), STALE.format("commands.md", "make_commands.py")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_in_the_reference(words):
    written = make_commands.PAGE.read_text(encoding="utf-8")

    title = f" metaml {' '.join(words)}\n"
    section = written[written.index(title) :].split("```")[1]

    missing = [option for option in options_of(command_of(words)) if option not in section]
    assert missing == [], STALE.format("commands.md", "make_commands.py")


LEAVES = [words for words in COMMANDS if not hasattr(command_of(words), "commands")]


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_the_example_of_every_command_can_be_typed(words):
    examples = re.findall(r"^Example: (.+)$", command_of(words).help, re.MULTILINE)

    for example in examples:
        typed = shlex.split(example.split(" > ")[0])
        assert typed[: 1 + len(words)] == ["metaml", *words]
        # Making the context reads all arguments and runs nothing.
        command_of(words).make_context(" ".join(words), typed[1 + len(words) :])

    assert examples, f"metaml {' '.join(words)} needs a line in its help that begins with Example:"


def test_pages_that_show_commands_show_what_the_parser_takes():
    shown = [
        line
        for page in PAGES
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for line in block.splitlines()
        if line.startswith("metaml ")
    ]

    for line in shown:
        typed = shlex.split(line)[1:]
        words = max((found for found in LEAVES if tuple(typed[: len(found)]) == found), key=len)
        command_of(words).make_context(" ".join(words), typed[len(words) :])

    assert shown


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_named_on_its_page(name):
    assert f"`{name.removeprefix('neg_')}`" in (DOCS / "howto" / "weights.md").read_text(encoding="utf-8")


def test_the_picture_of_the_schema_is_up_to_date():
    drawn = make_schema.PICTURE.read_text(encoding="utf-8")

    assert drawn == make_schema.picture(), STALE.format("images/schema.svg", "make_schema.py")


def test_every_table_and_column_is_in_the_picture_and_every_table_on_the_page():
    words = [element.text for element in ET.parse(make_schema.PICTURE).iter() if element.tag.endswith("text")]
    page = (DOCS / "schema.md").read_text(encoding="utf-8")

    for table in metadata.tables.values():
        assert table.name in words
        assert {column.name for column in table.columns} <= set(words)
    for name in (*metadata.tables, *VIEWS):
        assert f"`{name}`" in page


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_files_named_on_a_page_exist(page):
    text = page.read_text(encoding="utf-8")

    links = [page.parent / link for link in LINK.findall(text) if "://" not in link and not link.startswith("mailto:")]
    files = [ROOT / name for name in FILE.findall(text) if "NAME" not in name]

    assert [str(path) for path in (*links, *files) if not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_python_on_a_page_imports_what_exists(page):
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    imports = [node for code in snippets for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]

    missing = [
        f"{node.module}.{alias.name}"
        for node in imports
        for alias in node.names
        if not hasattr(importlib.import_module(node.module), alias.name)
    ]

    assert missing == []


def test_the_site_builds_without_a_warning(tmp_path):
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name)
    build = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(tmp_path)]

    done = subprocess.run(build, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert {page.relative_to(DOCS).with_suffix(".html") for page in PAGES} <= {
        page.relative_to(tmp_path) for page in tmp_path.rglob("*.html")
    }


@pytest.mark.parametrize(
    "line", re.findall(r"`(\w+)` (?:or `(\w+)` )?in `metaml/([\w/]+)\.py`", (DOCS / "extending.md").read_text())
)
def test_a_registry_named_on_the_page_is_there(line):
    *names, file = line

    module = importlib.import_module("metaml." + file.replace("/", ".").removesuffix(".__init__"))

    assert all(isinstance(found := getattr(module, name), dict) or callable(found) for name in names if name)


def test_bash_completes_a_command():
    script = "import os, sys; sys.argv = ['metaml']; from metaml_cli.main import app; app(prog_name='metaml')"
    asked = {"_METAML_COMPLETE": "complete_bash", "COMP_WORDS": "metaml tu", "COMP_CWORD": "1"}

    done = subprocess.run([sys.executable, "-c", script], env=asked, capture_output=True, text=True, check=False)

    assert done.stdout.split() == ["tune"]
