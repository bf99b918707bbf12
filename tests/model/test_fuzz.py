"""A damaged model file that is sealed again: predictions or a sentence, never a crash (benchmarks/fuzz_models.py)."""

import importlib
import json
import multiprocessing
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from metaml.algorithms import ALGORITHMS
from tests.model.conftest import model_of, table
from tests.model.fuzzing import contents, damaged, sealed, verdicts, without_each_array

N_CASES = 12
MOST_ARRAYS = 30
ROOT = Path(__file__).parents[2]
PROGRAM = "import json; from tests.model.test_fuzz import all_ends; print(json.dumps(all_ends()))"


def ends(name: str) -> list[tuple[str, str]]:
    """Return how files of an algorithm's model end: with random damage, and without one of the arrays."""
    tasks = ALGORITHMS[name].tasks
    task = tasks[list(ALGORITHMS).index(name) % len(tasks)]
    rows = table(task, n=12, seed=5).drop(columns="y")
    rng = random.Random(name)
    with TemporaryDirectory() as folder:
        files = contents(model_of(task, [name]).save(Path(folder) / "model.zip"))
        cases = [sealed(damaged(files, rng)) for _ in range(N_CASES)]
        cases += [sealed(without) for without in islice(without_each_array(files), MOST_ARRAYS)]
        return [(verdict.kind, verdict.said) for verdict in verdicts(cases, rows, Path(folder))]


def all_ends() -> dict[str, list[tuple[str, str]]]:
    """Return how damaged files end, by algorithm. Each has a process of its own, forked of one that has fitted none."""
    for module in {name for algorithm in ALGORITHMS.values() for name in algorithm.modules}:
        importlib.import_module(module)
    fork, found = multiprocessing.get_context("fork"), {}
    for name in ALGORITHMS:
        answer, ours = fork.Pipe(duplex=False)
        process = fork.Process(target=lambda name, pipe: pipe.send(ends(name)), args=(name, ours))
        process.start()
        ours.close()
        found[name] = answer.recv()
        process.join()
    return found


def test_a_damaged_file_neither_kills_nor_raises_what_is_not_ours() -> None:
    # In a process of its own: it forks, and a fork of a process whose libraries have started threads can hang.
    path = [str(ROOT), str(ROOT / "kb"), str(ROOT / "cli"), *sys.path]
    program = f"import sys; sys.path[:] = {path!r}; {PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    found = json.loads(done.stdout.splitlines()[-1])

    assert found.keys() == ALGORITHMS.keys()
    assert all(len(end) > N_CASES for end in found.values())
    assert [(name, *end) for name in found for end in found[name] if end[0] not in ("fine", "refused")] == []
