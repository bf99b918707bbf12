"""Does a resealed model file with random damage ever crash metaml, or raise an exception that is not ours?

    python benchmarks/fuzz_models.py --cases 100000

For each algorithm and task a small model is saved, damaged at random and sealed again. A child process loads it and
predicts. A verdict is fine, refused (our exception), foreign (another exception), died (a signal), or late (30 s).
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metaml.algorithms import ALGORITHMS
from tests.model.conftest import model_of, table
from tests.model.fuzzing import Files, contents, damaged, sealed, verdicts

TASKS = ("binary", "multiclass", "regression")
BAD = ("foreign", "died", "late")


def repeat_of(n: int, files: Files, rng: random.Random) -> Iterator[tuple[int, Files, random.Random]]:
    """Yield the same files and generator so many times."""
    for number in range(n):
        yield number, files, rng


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=700)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--keep", type=Path, help="a folder for the files that were not refused properly")
    options = parser.parse_args()
    names = options.algorithms.split(",")
    pairs = [(name, task) for name in names for task in TASKS]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for place, (name, task) in enumerate(pairs):
            n_cases = options.cases // len(pairs) + (place < options.cases % len(pairs))
            files = contents(model_of(task, [name]).save(Path(folder) / "model.zip"))
            rows = table(task, n=12, seed=5).drop(columns="y")
            rng = random.Random(f"{options.seed}{name}{task}")
            made = [sealed(damaged(files, rng)) for _ in range(n_cases)] if options.keep else []
            cases = iter(made) if made else (sealed(damaged(f, r)) for _, f, r in repeat_of(n_cases, files, rng))
            for number, verdict in enumerate(verdicts(cases, rows, Path(folder))):
                counts[name][verdict.kind] += 1
                if verdict.kind in BAD:
                    print(f"{name} {task} case {number}: {verdict.kind} {verdict.said}", flush=True)
                    if options.keep:
                        options.keep.mkdir(parents=True, exist_ok=True)
                        (options.keep / f"{name}-{task}-{number}.zip").write_bytes(made[number])
    total: Counter[str] = sum(counts.values(), Counter())
    for name, found in [*counts.items(), ("all", total)]:
        print(f"{name:<20}" + "  ".join(f"{kind} {found[kind]}" for kind in ("fine", "refused", *BAD)))
    print(f"{total.total()} cases in {time.perf_counter() - begun:.0f} s")
    return int(any(total[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
