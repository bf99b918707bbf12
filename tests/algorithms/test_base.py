"""The registry names every algorithm and costs nothing to read."""

import subprocess
import sys

import pytest

from metaml.algorithms import ALGORITHMS, check_known
from metaml.errors import BadRequest


def test_every_algorithm_is_registered_under_its_own_name():
    assert all(name == algorithm.name for name, algorithm in ALGORITHMS.items())
    assert {"lightgbm", "random_forest", "svm", "additive"} <= set(ALGORITHMS)


def test_listing_names_and_spaces_imports_no_learning_library():
    code = (
        "import sys; from metaml.algorithms import ALGORITHMS; "
        "[a.space(t).default() for a in ALGORITHMS.values() for t in ('binary', 'multiclass', 'regression')]; "
        "print(*{'sklearn', 'lightgbm', 'xgboost', 'catboost', 'ConfigSpace'} & set(sys.modules))"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == ""


def test_an_algorithm_whose_library_is_missing_names_the_extra_that_brings_it(monkeypatch):
    monkeypatch.delitem(ALGORITHMS, "catboost", raising=False)

    with pytest.raises(BadRequest, match=r"catboost is not installed. Run: pip install 'metaml\[catboost\]'"):
        check_known(["svm", "catboost"])
