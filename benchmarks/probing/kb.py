"""Break the knowledge base while a search uses it: there must be a model, and no run may vanish without a word."""

import csv
import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from probing.kill import has_ended, write_table
from probing.running import End, Probe, Results, probe_of, run

SECTION = "kb"
N_NEW = 3
Break = Callable[[Path], None]
ALGORITHMS = "decision_tree,k_neighbors,elastic_net"


def replaced_by(content: bytes) -> Break:
    """Return what puts another file in the place of the knowledge base."""

    def act(base: Path) -> None:
        other = base.with_name("other")
        other.write_bytes(content)
        other.replace(base)

    return act


def overwritten(base: Path) -> None:
    with base.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(16384))


def without_journal(base: Path) -> None:
    for suffix in ("-wal", "-shm"):
        base.with_name(base.name + suffix).unlink(missing_ok=True)


def locked(base: Path) -> None:
    """Hold the writer's lock for a while, as a long import does."""
    with closing(sqlite3.connect(base, isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(8.0)
        connection.execute("ROLLBACK")


def in_a_folder(base: Path) -> None:
    base.unlink()
    base.mkdir()


def new_base(base: Path) -> None:
    base.unlink()
    subprocess.run(["cp", str(base.with_name("fresh.db")), str(base)], check=True)


BREAKS: dict[str, tuple[Break, tuple[int, ...]]] = {
    "truncated to nothing": (lambda base: os.truncate(base, 0), (0, 1)),
    "truncated to half": (lambda base: os.truncate(base, base.stat().st_size // 2), (0, 1)),
    "truncated to a page": (lambda base: os.truncate(base, 4096), (0, 1)),
    "overwritten in the middle": (overwritten, (0, 1)),
    "deleted": (lambda base: base.unlink(), (1,)),
    "moved away": (lambda base: base.rename(base.with_name("moved.db")) and None, (0, 1)),
    "replaced by a new one": (new_base, (1,)),
    "replaced by noise": (replaced_by(os.urandom(50_000)), (1,)),
    "replaced by nothing": (replaced_by(b""), (1,)),
    "replaced by a folder": (in_a_folder, (1,)),
    "without its journal": (without_journal, (0, 1)),
    "locked for 8 s": (locked, (0,)),
}


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    table = folder / "cancer.csv"
    write_table(table)
    # With the runs that come with metaml: a small file would be in its journal only.
    run(["kb", "init", "--kb", "start.db"], folder, seconds=600.0, variables={"METAML_STARTER": None})
    n_before = len(identities(folder / "start.db"))
    for name in results.missing(SECTION, list(BREAKS)):
        place = folder / name.replace(" ", "-")
        place.mkdir()
        act, expected = BREAKS[name]
        run(["kb", "init", "--empty", "--kb", "fresh.db"], place)
        shutil.copy(folder / "start.db", place / "kb.db")
        words = ["tune", str(table), "--iterations", "12", "--folds", "3", "--algorithms", ALGORITHMS]
        end = run(
            [*words, "--kb", "kb.db", "--output", "out"],
            place,
            seconds=600.0,
            during=lambda process, place=place, act=act: break_it(process, place / "kb.db", n_before + N_NEW, act),
        )
        faults = end.faults(expected)
        faults += [] if (place / "out" / "model.zip").exists() else ["no model"]
        faults += vanished(place, end)
        yield probe_of(SECTION, name, end, faults)
        shutil.rmtree(place)


def break_it(process: subprocess.Popen[bytes], base: Path, n_runs: int, act: Break) -> None:
    """Wait until there are so many runs, then break the file."""
    while not has_ended(process.pid):
        if len(identities(base)) >= n_runs:
            act(base)
            return
        time.sleep(0.2)


def identities(base: Path) -> set[str]:
    """Return the runs that a file holds, none if it cannot be read."""
    if not base.is_file():
        return set()
    # Read only: the probe must not repair or make anything.
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{base}?mode=ro", uri=True)) as connection:
        return {identity.hex() for (identity,) in connection.execute("SELECT identity FROM run")}
    return set()


def vanished(place: Path, end: End) -> list[str]:
    """Return whether a run of the leaderboard is in no file while the search said nothing about it."""
    file = place / "out" / "leaderboard.csv"
    if not file.exists():
        return []
    made = {row["run"] for row in csv.DictReader(file.open()) if row.get("run")}
    found = set().union(*(identities(base) for base in place.glob("*.db")))
    missing = {run for run in made if not any(known.startswith(run) for known in found)}
    is_told = end.code == 1 and end.said
    return [] if not missing or is_told else [f"lost {len(missing)} of {len(made)} runs in silence"]
