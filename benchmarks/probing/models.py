"""Damaged model files that were sealed again: `fuzz_models.py` as one probe for each algorithm and task."""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from probing.running import Probe, Results

from metaml.algorithms import ALGORITHMS
from tests.model.conftest import model_of, table
from tests.model.fuzzing import contents, damaged, sealed, verdicts

SECTION = "models"
N_CASES = 24
TASKS = ("binary", "multiclass", "regression")
KINDS = {"foreign": "traceback", "died": "native death", "late": "late"}


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    names = [f"{name} {task}" for name, one in ALGORITHMS.items() for task in TASKS if task in one.tasks]
    for name in results.missing(SECTION, names):
        algorithm, task = name.split()
        begun, rng = time.monotonic(), random.Random(f"probe {name}")
        with tempfile.TemporaryDirectory(dir=folder) as place:
            files = contents(model_of(task, [algorithm]).save(Path(place) / "model.zip"))
            cases = [sealed(damaged(files, rng)) for _ in range(N_CASES)]
            rows = table(task, n=12, seed=5).drop(columns="y")
            found = list(verdicts(cases, rows, Path(place)))
        counts = Counter(verdict.kind for verdict in found)
        faults = [f"{KINDS[verdict.kind]}: {verdict.said}" for verdict in found if verdict.kind in KINDS]
        said = f"{N_CASES} files: {counts['fine']} fine, {counts['refused']} refused"
        yield Probe(SECTION, name, 0, round(time.monotonic() - begun, 2), 0.0, said, faults)
