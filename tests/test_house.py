"""The house keeps its order: few files at the top, small packages, short files and functions."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [path for folder in ("metaml", "kb/metaml_kb", "cli/metaml_cli") for path in (ROOT / folder).rglob("*.py")]
PACKAGES = sorted({path.parent for path in SOURCES})
MOST_AT_THE_TOP, MOST_MODULES, MOST_LINES, MOST_FUNCTION_LINES = 8, 25, 400, 60


def test_few_files_are_at_the_top():
    assert len(list((ROOT / "metaml").glob("*.py"))) <= MOST_AT_THE_TOP


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_has_few_modules(package):
    assert len([path for path in package.glob("*.py") if path.name != "__init__.py"]) <= MOST_MODULES


def test_files_are_short():
    assert [str(path) for path in SOURCES if len(path.read_text().splitlines()) > MOST_LINES] == []


def test_functions_are_short():
    long = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not _is_signature_of_a_command(path, node):
                # A signature and a docstring are for the reader; what counts is the body.
                n_lines = (node.end_lineno or 0) - node.body[0].lineno + 1
                if n_lines > MOST_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {n_lines} lines")
    assert long == []


def _is_signature_of_a_command(path: Path, node: ast.FunctionDef) -> bool:
    """Return whether a function is a command, most of whose lines are its options."""
    is_command = "cli" in path.parts or path.name in ("api.py", "commands.py", "estimators.py")
    return is_command and not node.name.startswith("_")
