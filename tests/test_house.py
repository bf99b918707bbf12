"""The house keeps its order: small packages, short files, constructors that only store, and tests that mirror them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"metaml": "tests", "kb/metaml_kb": "tests/kb", "cli/metaml_cli": "tests/cli"}
"""Where the packages are, and where their tests are."""
SOURCES = [path for folder in ROOMS for path in (ROOT / folder).rglob("*.py")]
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PACKAGES = sorted({path.parent for path in SOURCES})
MOST_AT_THE_TOP, MOST_MODULES, MOST_LINES, MOST_FUNCTION_LINES = 8, 25, 400, 60
MOST_LINES_UNTESTED = 100
BEGINS_WORK = {
    *("start", "submit", "begin", "fork", "Popen", "system", "check_call", "check_output"),
    *("mkdir", "makedirs", "mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile"),
    *("write", "write_text", "write_bytes", "touch", "unlink", "rename", "rmtree", "dump", "to_csv", "execute"),
}
"""What a constructor must not call, because it starts a thread or a process, or changes a disk or a database."""


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def functions_of(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


def test_few_files_are_at_the_top():
    assert len(list((ROOT / "metaml").glob("*.py"))) <= MOST_AT_THE_TOP


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_has_few_modules(package):
    assert len([path for path in package.glob("*.py") if path.name != "__init__.py"]) <= MOST_MODULES


def test_files_are_short():
    assert [str(path) for path in [*SOURCES, *TESTS] if lines_of(path) > MOST_LINES] == []


def test_functions_are_short():
    long = []
    for path in SOURCES:
        for node in functions_of(path):
            if not _is_signature_of_a_command(path, node):
                # A signature and a docstring are for the reader; what counts is the body.
                n_lines = (node.end_lineno or 0) - node.body[0].lineno + 1
                if n_lines > MOST_FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}: {node.name} has {n_lines} lines")
    assert long == []


def _is_signature_of_a_command(path: Path, node: ast.FunctionDef) -> bool:
    """Return whether a function is a command, most of whose lines are its options."""
    is_command = "cli" in path.parts or path.name in ("api.py", "estimators.py") or "commands" in path.parts
    return is_command and not node.name.startswith("_")


def test_tests_have_the_folders_of_the_packages():
    missing = [
        f"{tests}/{package.relative_to(ROOT / sources)}"
        for sources, tests in ROOMS.items()
        for package in PACKAGES
        if package.is_relative_to(ROOT / sources)
        and not list((ROOT / tests / package.relative_to(ROOT / sources)).glob("test_*.py"))
    ]

    assert missing == []


def test_a_module_that_is_not_small_has_a_test_file_of_its_name():
    missing = []
    for sources, tests in ROOMS.items():
        for module in (ROOT / sources).rglob("*.py"):
            own = ROOT / tests / module.relative_to(ROOT / sources).with_name(f"test_{module.name}")
            if lines_of(module) > MOST_LINES_UNTESTED and module.name != "__init__.py" and not own.exists():
                missing.append(str(own.relative_to(ROOT)))

    assert missing == []


def test_every_test_asserts_something():
    silent = [
        f"{path.relative_to(ROOT)}: {function.name}"
        for path in TESTS
        for function in functions_of(path)
        if function.name.startswith("test_") and not any(_is_assertion(node) for node in ast.walk(function))
    ]

    assert silent == []


def _is_assertion(node: ast.AST) -> bool:
    """Return whether a node is an `assert`, an error that is expected, or a call of a function named so."""
    is_call = isinstance(node, ast.Call) and (_name_of(node) in ("raises", "warns") or "assert_" in _name_of(node))
    return isinstance(node, ast.Assert) or is_call


def test_constructors_only_store():
    busy = [
        f"{path.relative_to(ROOT)}:{call.lineno} calls {name}"
        for path in SOURCES
        for function in functions_of(path)
        if function.name in ("__init__", "__post_init__")
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        if (name := _name_of(call)) in BEGINS_WORK or (name == "open" and _is_for_writing(call))
    ]

    assert busy == []


def _name_of(call: ast.Call) -> str:
    """Return the last part of what is called: `start` of `Thread(...).start()`."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_for_writing(call: ast.Call) -> bool:
    """Return whether a call of `open` names a mode in which files are made or changed."""
    modes = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes)
