"""Full disks: where a knowledge base is made, grows, where results, reports, exports and temporary files go."""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from probing.kb import identities, vanished
from probing.kill import has_ended, write_table
from probing.running import Probe, Results, probe_of, run

SECTION = "disk"
SEARCH = ["--iterations", "8", "--folds", "3", "--algorithms", "decision_tree,k_neighbors,elastic_net"]
CASES: dict[str, Callable[[Path, Path], Probe]] = {}


def case(name: str) -> Callable[[Callable[[Path, Path], Probe]], Callable[[Path, Path], Probe]]:
    """Register a probe; it is called with a folder and a table."""

    def add(act: Callable[[Path, Path], Probe]) -> Callable[[Path, Path], Probe]:
        CASES[name] = act
        return act

    return add


def probes(results: Results, folder: Path) -> Iterator[Probe]:
    table = folder / "cancer.csv"
    write_table(table)
    for name in results.missing(SECTION, list(CASES)):
        place = folder / name.replace(" ", "-")
        place.mkdir()
        yield CASES[name](place, table)


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """Mount a file system of so many kilobytes; needs the rights to do that."""
    disk = place / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, *, leaving: int) -> None:
    """Fill a disk, leaving so many kilobytes."""
    free = shutil.disk_usage(disk).free - leaving * 1024
    # Another process may take the space that was counted: then the disk is full all the same.
    with suppress(OSError):
        (disk / "filler").write_bytes(bytes(max(free, 0)))


@case("a knowledge base is made")
def making(place: Path, table: Path) -> Probe:
    with small_disk(place, 900) as disk:
        end = run(["tune", str(table), *SEARCH, "--kb", f"{disk}/kb.db"], place, variables={"METAML_STARTER": None})
        left = [path.name for path in disk.iterdir()]
    faults = end.faults([2]) + ([f"left {left}"] if left else [])
    return probe_of(SECTION, "a knowledge base is made", end, faults)


@case("a knowledge base grows in a search")
def growing(place: Path, table: Path) -> Probe:
    with small_disk(place, 4_000) as disk:
        run(["kb", "init", "--empty", "--kb", f"{disk}/kb.db"], place)
        words = ["tune", str(table), *SEARCH, "--kb", f"{disk}/kb.db", "--output", "out"]

        def full_later(process: subprocess.Popen[bytes]) -> None:
            while not has_ended(process.pid) and len(identities(disk / "kb.db")) < 3:
                time.sleep(0.05)
            fill(disk, leaving=0)

        end = run(words, place, seconds=600.0, during=full_later)
        faults = end.faults([1]) + ([] if (place / "out" / "model.zip").exists() else ["no model"])
        shutil.copy(disk / "kb.db", place / "copy.db")
        faults += vanished(place, end)
        faults += ["lost: what was stored before"] if len(identities(disk / "kb.db")) < 3 else []
    return probe_of(SECTION, "a knowledge base grows in a search", end, faults)


def output_probe(name: str, place: Path, table: Path, leaving: int, expected: tuple[int, ...]) -> Probe:
    with small_disk(place, 4_000) as disk:
        fill(disk, leaving=leaving)
        words = ["tune", str(table), *SEARCH, "--kb", "kb.db", "--output", f"{disk}/out"]
        end = run(words, place, seconds=600.0)
        written = sorted(path.name for path in (disk / "out").iterdir()) if (disk / "out").is_dir() else []
    faults = end.faults(expected)
    faults += [f"lost {8 - len(identities(place / 'kb.db'))} runs"] if len(identities(place / "kb.db")) < 8 else []
    faults += [f"unfinished files: {written}"] if any(".new" in file or "tmp" in file for file in written) else []
    found = probe_of(SECTION, name, end, faults)
    print("          written:", ", ".join(written))
    return found


@case("the output folder")
def output(place: Path, table: Path) -> Probe:
    return output_probe("the output folder", place, table, 0, (1, 2))


@case("the output folder has 40 kB")
def output_some(place: Path, table: Path) -> Probe:
    return output_probe("the output folder has 40 kB", place, table, 40, (1, 2))


@case("the report")
def report(place: Path, table: Path) -> Probe:
    name = "the report"
    with small_disk(place, 40_000) as disk:
        words = ["tune", str(table), *SEARCH, "--kb", "kb.db", "--output", f"{disk}/out"]
        stop = threading.Event()

        def full_after_model() -> None:
            while not stop.is_set() and not (disk / "out" / "model.zip").exists():
                time.sleep(0.002)
            fill(disk, leaving=0)

        watcher = threading.Thread(target=full_after_model)
        watcher.start()
        end = run(words, place, seconds=600.0)
        stop.set()
        watcher.join()
        written = sorted(path.name for path in (disk / "out").iterdir())
        faults = end.faults([0, 1, 2]) + ([] if "model.zip" in written else ["no model"])
    faults += [f"lost {8 - len(identities(place / 'kb.db'))} runs"] if len(identities(place / "kb.db")) < 8 else []
    print("          written:", ", ".join(written))
    return probe_of(SECTION, name, end, faults)


def scratch_probe(name: str, place: Path, table: Path, leaving: int) -> Probe:
    with small_disk(place, 2_000) as disk:
        fill(disk, leaving=leaving)
        words = ["tune", str(table), *SEARCH, "--kb", "kb.db", "--output", "out"]
        end = run(words, place, seconds=600.0, variables={"TMPDIR": str(disk)})
    faults = end.faults([0, 1, 2])
    faults += ["no model"] if end.code in (0, 1) and not (place / "out" / "model.zip").exists() else []
    faults += vanished(place, end)
    return probe_of(SECTION, name, end, faults)


@case("temporary files")
def scratch(place: Path, table: Path) -> Probe:
    return scratch_probe("temporary files", place, table, 0)


@case("temporary files have 100 kB")
def scratch_some(place: Path, table: Path) -> Probe:
    return scratch_probe("temporary files have 100 kB", place, table, 100)


@case("an export")
def exporting(place: Path, table: Path) -> Probe:
    run(["tune", str(table), *SEARCH, "--kb", "kb.db", "--output", "out"], place, seconds=600.0)
    with small_disk(place, 100) as disk:
        fill(disk, leaving=4)
        end = run(["kb", "export", f"{disk}/all.metaml", "--kb", "kb.db"], place)
        left = [path.name for path in disk.iterdir() if path.name != "filler"]
    return probe_of(SECTION, "an export", end, end.faults([2]) + ([f"left {left}"] if left else []))


@case("predictions")
def predicting(place: Path, table: Path) -> Probe:
    run(["tune", str(table), *SEARCH, "--no-kb", "--output", "out"], place, seconds=600.0)
    with small_disk(place, 100) as disk:
        fill(disk, leaving=0)
        end = run(["predict", "out", str(table), "-o", f"{disk}/out.csv"], place)
    return probe_of(SECTION, "predictions", end, end.faults([2]))
