"""The walks of the architecture page are true: each file exists, imports what it is said to call, and appears once."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = {"metaml": "metaml", "metaml_kb": "kb/metaml_kb", "metaml_cli": "cli/metaml_cli"}
WALKS = {
    title: re.findall(r"^( *)(\S+\.py)", walk, re.MULTILINE)
    for title, walk in re.findall(r"^### ([^\n]+)\n\n```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
}


def file_of(module: str) -> str | None:
    """Return the file of a module of ours, None for any other."""
    package, *parts = module.split(".")
    if package not in PACKAGES:
        return None
    place = "/".join([PACKAGES[package], *parts])
    return next((file for file in (f"{place}.py", f"{place}/__init__.py") if (ROOT / file).exists()), None)


def imports_of(file: str) -> dict[str, str]:
    """Return the file behind each name that a file imports from us; what a package only passes on is followed."""
    found = {}
    for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and (source := file_of(node.module)):
            passed_on = imports_of(source) if source.endswith("__init__.py") and source != file else {}
            for alias in node.names:
                submodule = file_of(f"{node.module}.{alias.name}")
                found[alias.asname or alias.name] = submodule or passed_on.get(alias.name, source)
    return found


def hops(walk: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pairs of a file and the file that calls it: the nearest one above that is indented less."""
    pairs = []
    callers: list[tuple[int, str]] = []
    for indent, file in walk:
        while callers and callers[-1][0] >= len(indent):
            callers.pop()
        if callers:
            pairs.append((callers[-1][1], file))
        callers.append((len(indent), file))
    return pairs


def test_the_four_walks_are_there():
    assert list(WALKS) == ["`metaml tune`", "`metaml bot`", "`metaml predict`", "From the knowledge base to a proposal"]


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_begins_at_one_file_and_goes_to_no_file_twice(title):
    files = [file for _, file in WALKS[title]]

    assert len(hops(WALKS[title])) == len(files) - 1
    assert len(set(files)) == len(files)
    assert [file for file in files if not (ROOT / file).exists()] == []


@pytest.mark.parametrize("title", WALKS)
def test_each_file_imports_the_one_it_calls(title):
    wrong = [
        f"{caller} does not import {file}"
        for caller, file in hops(WALKS[title])
        if file not in imports_of(caller).values()
    ]

    assert wrong == []
