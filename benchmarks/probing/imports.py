"""Import and merge files that are damaged, foreign, old, new or unreadable: nothing of them may be half stored."""

import os
import random
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from probing.hostile import parquet_bomb, zipped
from probing.running import Probe, Results, probe_of, run

SECTION = "imports"
ASSETS = Path(__file__).resolve().parents[2] / "tests" / "assets"
SHARE, OLD, KB = (
    ASSETS / "release_0_1" / "share.metaml",
    ASSETS / "kb" / "schema-0001.db",
    ASSETS / "release_0_1" / "kb.db",
)
FINE, REFUSED, EITHER = (0,), (2,), (0, 2)
Make = Callable[[Path], None]


def changed_zip(change: Callable[[dict[str, bytes]], None]) -> Make:
    """Return what writes the export with some of its files changed."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(SHARE) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        change(files)
        path.write_bytes(zipped(files))

    return write


def changed_base(*statements: str) -> Make:
    """Return what writes a knowledge base with some of its rows changed."""

    def write(path: Path) -> None:
        shutil.copy(KB, path)
        with closing(sqlite3.connect(path)) as base:
            base.execute("PRAGMA foreign_keys = OFF")
            for statement in statements:
                base.execute(statement)
            base.commit()

    return write


def flipped(path: Path) -> None:
    data, rng = bytearray(SHARE.read_bytes()), random.Random(0)
    for _ in range(60):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(bytes(data))


def torn(path: Path) -> None:
    data = KB.read_bytes()
    path.write_bytes(data[:4096] + bytes(8192) + data[12288:])


def locked(path: Path) -> None:
    shutil.copy(SHARE, path)
    path.chmod(0)


def emptied(files: dict[str, bytes]) -> None:
    name = max(files, key=lambda name: len(files[name]))
    files[name] = b""


def bombed(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.endswith("run.parquet") or "run" in name)
    files[name] = parquet_bomb()


def shortened(files: dict[str, bytes]) -> None:
    name = max(files, key=lambda name: len(files[name]))
    files[name] = files[name][: len(files[name]) // 2]


def removed(files: dict[str, bytes]) -> None:
    del files[next(name for name in files if "run" in name)]


MADE: dict[str, tuple[Make, tuple[int, ...]]] = {
    "good.metaml": (lambda path: (shutil.copy(SHARE, path), None)[1], FINE),
    "old schema.db": (lambda path: (shutil.copy(OLD, path), None)[1], EITHER),
    "same.db": (lambda path: (shutil.copy(KB, path), None)[1], EITHER),
    "newer schema.db": (changed_base("UPDATE alembic_version SET version_num = '9999'"), REFUSED),
    "nothing.metaml": (lambda path: path.write_bytes(b"") and None, REFUSED),
    "noise.metaml": (lambda path: path.write_bytes(random.Random(1).randbytes(50_000)) and None, REFUSED),
    "cut.metaml": (lambda path: path.write_bytes(SHARE.read_bytes()[:-500]) and None, REFUSED),
    "flipped.metaml": (flipped, REFUSED),
    "empty member.metaml": (changed_zip(emptied), REFUSED),
    "short member.metaml": (changed_zip(shortened), REFUSED),
    "no runs.metaml": (changed_zip(removed), REFUSED),
    "bomb.metaml": (changed_zip(bombed), REFUSED),
    "no files.metaml": (lambda path: path.write_bytes(zipped({})) and None, REFUSED),
    "foreign.zip": (lambda path: path.write_bytes(zipped({"a.csv": b"a,y\n1,2\n"})) and None, REFUSED),
    "foreign.db": (lambda path: foreign(path), REFUSED),
    "torn.db": (torn, REFUSED),
    "wrong scores.db": (changed_base("UPDATE run SET score_list = '[\"high\", 1]'"), REFUSED),
    "wrong numbers.db": (changed_base("UPDATE run SET dataset_id = 999"), REFUSED),
    "wrong status.db": (changed_base("UPDATE run SET status = 'splendid'"), REFUSED),
    "trigger.db": (changed_base("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"), EITHER),
    "locked.metaml": (locked, EITHER if os.getuid() == 0 else REFUSED),
    "folder.metaml": (lambda path: path.mkdir(), REFUSED),
    "missing.metaml": (lambda _: None, REFUSED),
    "itself": (lambda _: None, EITHER),
}


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE run (id INTEGER, identity BLOB)")
        base.commit()


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    both = [f"{word} {name}" for name in MADE for word in ("import", "merge")]
    run(["kb", "init", "--empty", "--kb", "own.db"], folder)
    run(["kb", "import", str(SHARE), "--kb", "own.db"], folder)
    for name in results.missing(SECTION, both):
        word, _, file = name.partition(" ")
        place = folder / name.replace(" ", "-")
        place.mkdir()
        shutil.copy(folder / "own.db", place)
        before = runs_in(place / "own.db")
        make, expected = MADE[file]
        # An export is brought in by another command, and the sentence names it.
        expected = REFUSED if word == "merge" and file == "good.metaml" else expected
        make(place / file)
        given = "own.db" if file == "itself" else file
        command = ["kb", "import", given, "--kb", "own.db"] if word == "import" else ["kb", "merge", "own.db", given]
        end = run(command, place, seconds=200.0)
        faults = end.faults(expected, megabytes=2_000)
        after = runs_in(place / "own.db")
        faults += [f"lost {len(before - after)} runs"] if before - after else []
        faults += ["half stored"] if end.code == 2 and after != before else []
        checked = run(["kb", "doctor", "--kb", "own.db"], place)
        faults += [f"kb doctor: {checked.said or checked.out[-100:]}"] if checked.code != 0 else []
        yield probe_of(SECTION, name, end, faults)


def runs_in(file: Path) -> set[bytes]:
    """Return the identities of the runs in a knowledge base."""
    with closing(sqlite3.connect(file)) as base:
        return {identity for (identity,) in base.execute("SELECT identity FROM run")}
