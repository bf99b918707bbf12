"""Learning libraries are imported by one thread at a time: an incomplete module can crash a search."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import metaml

LIBRARIES = {"sklearn", "lightgbm", "xgboost", "catboost"}
ELSEWHERE = ("algorithms", "sources", "model")
"""What runs in worker processes, which have one thread, before a search, or when a model is loaded."""
PACKAGE = Path(metaml.__file__).parent


def late_imports(node: ast.AST, is_safe: bool = False, is_late: bool = False) -> Iterator[ast.AST]:
    """Yield the imports of learning libraries inside functions that are made without holding `importing`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom | ast.Import):
            names = [child.module or ""] if isinstance(child, ast.ImportFrom) else [item.name for item in child.names]
            if is_late and not is_safe and LIBRARIES & {name.split(".")[0] for name in names}:
                yield child
        else:
            holds = isinstance(child, ast.With) and "importing" in {ast.unparse(item) for item in child.items}
            yield from late_imports(child, is_safe or holds, is_late or isinstance(child, ast.FunctionDef))


def test_imports_where_a_search_runs_are_made_by_one_thread_at_a_time():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not str(path.relative_to(PACKAGE)).startswith(ELSEWHERE)
        for node in late_imports(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert found == []


@pytest.mark.parametrize(
    ("module", "absent"),
    [("metaml.evaluation.local_executor", {"numpy", "pandas"}), ("metaml.tuning.run", {"scipy", *LIBRARIES})],
    ids=["workers", "a search"],
)
def test_the_start_of_a_search_imports_no_library_that_it_does_not_need_yet(module, absent):
    code = f"import sys, {module}; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert absent & set(loaded) == set()
