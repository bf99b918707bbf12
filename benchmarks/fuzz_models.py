"""Does a resealed model file with random damage ever crash metaml, or raise an exception that is not ours?

    python benchmarks/fuzz_models.py --cases 100000 --minutes 60 --results fuzz.jsonl
    python benchmarks/fuzz_models.py --results fuzz.jsonl --table

For each algorithm and task a small model is saved, damaged at random and sealed again. A child process loads the
files of a turn one after the other, and predicts. A verdict is fine, refused (our exception), foreign (another
exception), died (a signal), or late (90 s). The algorithms take turns with some cases each. What is done is in the
results file, and the next call goes on there.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metaml.algorithms import ALGORITHMS
from tests.model.conftest import model_of, table
from tests.model.fuzzing import Files, contents, damaged, sealed, verdicts

TASKS = ("binary", "multiclass", "regression")
KINDS = ("fine", "refused", "foreign", "died", "late")
BAD = KINDS[2:]
CASES_PER_TURN = 50


class Turn(NamedTuple):
    """Some cases of an algorithm's model; they are always the same."""

    algorithm: str
    task: str
    number: int
    n_cases: int
    seed: int

    @property
    def name(self) -> str:
        return f"{self.algorithm} {self.task} {self.number} of seed {self.seed}"


def turns(n_cases: int, algorithms: list[str], seed: int) -> Iterator[Turn]:
    """Yield turns of all algorithms and tasks until there are so many cases."""
    left, number = n_cases, 0
    pairs = [(name, task) for name in algorithms for task in TASKS if task in ALGORITHMS[name].tasks]
    while True:
        for name, task in pairs:
            if left <= 0:
                return
            yield Turn(name, task, number, min(CASES_PER_TURN, left), seed)
            left -= CASES_PER_TURN
        number += 1


def tried(turn: Turn, files: Files, folder: Path, keep: Path | None) -> dict[str, Any]:
    """Return how the cases of a turn ended; the files that ended badly are kept."""
    rows = table(turn.task, n=12, seed=5).drop(columns="y")
    rng = random.Random(turn.name)
    made = [sealed(damaged(files, rng)) for _ in range(turn.n_cases)]
    counts: Counter[str] = Counter()
    bad, most = [], 0.0
    for number, verdict in enumerate(verdicts(made, rows, folder)):
        counts[verdict.kind] += 1
        most = max(most, verdict.megabytes)
        if verdict.kind not in BAD:
            continue
        bad.append([number, verdict.kind, verdict.said])
        print(f"{turn.name} case {number}: {verdict.kind} {verdict.said}", flush=True)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{turn.name}-{number}.zip".replace(" ", "-")).write_bytes(made[number])
    return {"turn": turn.name, "algorithm": turn.algorithm, "counts": counts, "bad": bad, "megabytes": round(most)}


def table_of(found: list[dict[str, Any]]) -> str:
    """Return how many cases of each algorithm ended how."""
    lines = ["| algorithm | cases | " + " | ".join(KINDS) + " | most MB |", "| --- " * (len(KINDS) + 3) + "|"]
    names = list(dict.fromkeys(one["algorithm"] for one in found))
    for name in [*names, "all"]:
        asked = [one for one in found if name in (one["algorithm"], "all")]
        counts = sum((Counter(one["counts"]) for one in asked), Counter[str]())
        most = max((one.get("megabytes", 0) for one in asked), default=0)
        cells = [name, counts.total(), *(counts[kind] for kind in KINDS), most]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=700)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many; a turn is finished")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument("--results", type=Path, default=Path(tempfile.gettempdir()) / "metaml-fuzz.jsonl")
    parser.add_argument("--keep", type=Path, help="a folder for the files that were not refused properly")
    parser.add_argument("--table", action="store_true", help="only print the table of the results so far")
    options = parser.parse_args()
    found = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    done = {one["turn"] for one in found}
    until = time.monotonic() + 60 * options.minutes
    models: dict[tuple[str, str], Files] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in turns(0 if options.table else options.cases, options.algorithms.split(","), options.seed):
            if turn.name in done:
                continue
            if time.monotonic() > until:
                break
            pair = (turn.algorithm, turn.task)
            if pair not in models:
                models[pair] = contents(model_of(turn.task, [turn.algorithm]).save(Path(folder) / "model.zip"))
            found.append(tried(turn, models[pair], Path(folder), options.keep))
            with options.results.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
    print(table_of(found))
    return int(any(one["bad"] for one in found))


if __name__ == "__main__":
    sys.exit(main())
