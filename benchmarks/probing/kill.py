"""Kill a search (SIGKILL, with everything it started) at random moments, and go on with --resume.

The same search without a kill says which runs there should be. Runs are compared by identity: none of those that were
stored before a kill may be missing afterwards, none may be made twice, and the resumed search must make the same runs.
A search that is killed after its session was closed, while it prints its summary, has written its files and needs no
resuming.
"""

import random
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from probing.running import End, Probe, Results, kill_all, probe_of, run

SECTION = "kill"
LONGEST = 3600.0
N_ROUNDS = 50
N_SEEDS = 5
N_ITERATIONS = 12
ALGORITHMS = "decision_tree,k_neighbors,elastic_net"


def names() -> list[str]:
    return [f"round {number}" for number in range(N_ROUNDS)]


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    table = folder / "cancer.csv"
    write_table(table)
    wholes: dict[int, Whole] = {}
    for name in results.missing(SECTION, names()):
        number = int(name.split()[1])
        seed = number % N_SEEDS
        with tempfile.TemporaryDirectory(dir=folder) as place:
            if seed not in wholes:
                end = run(words(table, "whole", seed), Path(place), seconds=LONGEST)
                wholes[seed] = Whole(end.seconds, finished(Path(place) / "whole.db"), end.faults([0]))
            yield killed_round(number, seed, wholes[seed], table, Path(place))


class Whole(NamedTuple):
    """A search that nobody killed."""

    seconds: float
    runs: list[str]
    faults: list[str]


def write_table(path: Path) -> None:
    """Write a small table of two classes."""
    from sklearn.datasets import load_breast_cancer

    load_breast_cancer(as_frame=True).frame.to_csv(path, index=False)


def words(table: Path, place: str, seed: int) -> list[str]:
    """Return a search that always makes the same runs."""
    given = ["tune", str(table), "--iterations", str(N_ITERATIONS), "--seed", str(seed), "--folds", "3"]
    # On a busy machine the usual limit of 120 s would end some evaluations, and then others follow.
    given += ["--limit-seconds", "100000", "--algorithms", ALGORITHMS]
    return [*given, "--kb", f"{place}.db", "--output", place]


def killed_round(number: int, seed: int, whole: Whole, table: Path, folder: Path) -> Probe:
    rng = random.Random(number)
    faults, expected = list(whole.faults), whole.runs
    n_kills, stored, moments = 1 + rng.randrange(3), set(), []
    for _ in range(n_kills):
        moment = rng.uniform(0.2, 1.1) * whole.seconds
        again = words(table, "cut", seed) + (["--resume"] if moments else [])
        cut = run(again, folder, seconds=LONGEST, during=lambda process, wait=moment: kill_after(process, wait))
        moments.append(f"{moment:.1f} s")
        faults += [] if cut.code == -signal.SIGKILL else cut.faults([0])
        now = finished(folder / "cut.db")
        faults += [f"lost {len(stored - set(now))} runs"] if stored - set(now) else []
        stored = set(now)
        if is_over(folder / "cut.db"):
            break
    end = cut
    if not is_over(folder / "cut.db"):
        end = run([*words(table, "cut", seed), "--resume"], folder, seconds=LONGEST)
        faults += end.faults([0])
    faults += compared(expected, finished(folder / "cut.db"), stored)
    written = ("model.zip", "report.html", "best.json")
    faults += [f"no {file}" for file in written if not (folder / "cut" / file).exists()]
    said = f"killed after {', '.join(moments)}; {len(stored)} of {len(expected)} stored at the last kill"
    return probe_of(SECTION, f"round {number}", End(end.code, "", said, end.seconds, end.megabytes), faults)


def kill_after(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Kill a process and what it started after so many seconds, unless it has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
        if has_ended(process.pid):
            return
    kill_all(process)


def has_ended(pid: int) -> bool:
    """Return whether a child has ended; its exit code can still be asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def finished(file: Path) -> list[str]:
    """Return the identities of the evaluations that the event log calls finished and that are stored, in order."""
    if not file.exists():
        return []
    query = "SELECT json_extract(details, '$.run') FROM event WHERE kind = 'finished' ORDER BY session_id, number"
    with closing(sqlite3.connect(file)) as base:
        try:
            logged = [identity for (identity,) in base.execute(query)]
            stored = {identity.hex() for (identity,) in base.execute("SELECT identity FROM run")}
        except sqlite3.OperationalError:
            return []
    return [identity if identity in stored else f"not stored: {identity}" for identity in logged]


def is_over(file: Path) -> bool:
    """Return whether there is a session, and none of them is unfinished."""
    if not file.exists():
        return False
    query = "SELECT min(finished_at IS NOT NULL) FROM session WHERE kind = 'tune'"
    with closing(sqlite3.connect(file)) as base:
        try:
            return bool(base.execute(query).fetchone()[0])
        except sqlite3.OperationalError:
            return False


def compared(expected: list[str], found: list[str], stored: set[str]) -> list[str]:
    """Return what differs between the runs of a whole search and those of one that was killed."""
    faults = []
    faults += [f"{len(found) - len(set(found))} made twice"] if len(set(found)) < len(found) else []
    faults += [f"lost {len(stored - set(found))} runs"] if stored - set(found) else []
    faults += ["lost: a run of the log is not stored"] if any(run.startswith("not") for run in found) else []
    faults += ["other runs than without a kill"] if sorted(expected) != sorted(found) else []
    return faults
