"""A damaged model file that is sealed again: predictions or a sentence, never a crash (benchmarks/fuzz_models.py)."""

import random
from pathlib import Path

import pytest

from metaml.algorithms import ALGORITHMS
from tests.model.conftest import model_of, table
from tests.model.fuzzing import contents, damaged, sealed, verdicts

N_CASES = 12
TASKS = ("binary", "multiclass", "regression")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_damaged_file_neither_kills_nor_raises_what_is_not_ours(name: str, tmp_path: Path) -> None:
    task = TASKS[list(ALGORITHMS).index(name) % len(TASKS)]
    files = contents(model_of(task, [name]).save(tmp_path / "model.zip"))
    rows = table(task, n=12, seed=5).drop(columns="y")
    rng = random.Random(name)

    cases = (sealed(damaged(files, rng)) for _ in range(N_CASES))
    found = list(verdicts(cases, rows, tmp_path))

    assert len(found) == N_CASES
    assert [verdict for verdict in found if verdict.kind not in ("fine", "refused")] == []
