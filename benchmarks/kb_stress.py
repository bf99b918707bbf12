"""Many writers into one SQLite file, and writers killed at random moments: is every acknowledged run there?

python benchmarks/kb_stress.py [--writers 16] [--runs 200] [--rounds 50]
"""

import argparse
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metaml_kb import DatasetRecord, open_kb

WRITER = """
import sys
from metaml_kb import Run, open_kb
path, writer, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_kb(path) as kb:
    for i in range(n):
        kb.add_run(Run(dataset="f", algorithm="a", config={"i": i, "x": i / 7}, seed=writer,
                       scores={"accuracy": [0.5, 1.0], "roc_auc": [0.25, 0.75]}))
        print(i, flush=True)
"""


def start(path: Path, writer: int, n: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(writer), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def fresh(path: Path) -> Path:
    with open_kb(path) as kb:
        kb.add_dataset(DatasetRecord("f", "data"))
    return path


def is_sound(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def many_writers(path: Path, n_writers: int, n_runs: int) -> None:
    begin = time.monotonic()
    writers = [start(path, writer, n_runs) for writer in range(n_writers)]
    reads = []
    with open_kb(path) as kb:
        while any(writer.poll() is None for writer in writers):
            before = time.monotonic()
            kb.runs()
            reads.append(time.monotonic() - before)
        complaints = [text for writer in writers if (text := writer.communicate()[1])]
        total = len(kb.runs())
    print(
        f"{n_writers} writers x {n_runs} runs with a reader in a loop: {total} runs in {time.monotonic() - begin:.0f} s"
    )
    print(f"  exceptions: {len(complaints)}   reads: {len(reads)} (median {statistics.median(reads):.2f} s)")
    print(f"  integrity_check ok: {is_sound(path)}")


def killed_writers(path: Path, rounds: int) -> None:
    rng = random.Random(0)
    lost = half = acknowledged_total = 0
    for number in range(rounds):
        writer = start(path, number, 1_000_000)
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline()]
        time.sleep(rng.uniform(0.0, 0.4))
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.communicate()[0].splitlines()
        confirmed = {int(line) for line in acknowledged if line.strip()}
        with open_kb(path) as kb:
            frame = kb.runs()
            mine = frame[frame["seed"] == number]
            rows = kb.sql("SELECT count(*) AS n FROM run WHERE seed = :seed", {"seed": number})["n"][0]
        lost += len(confirmed - set(mine["i"]))
        half += (
            int(rows != len(mine)) + int(not mine["accuracy"].eq(0.75).all()) + int(not mine["roc_auc"].eq(0.5).all())
        )
        acknowledged_total += len(confirmed)
    told_of = f"{acknowledged_total} runs acknowledged, {lost} lost, {half} half-runs seen"
    print(f"{rounds} writers killed with SIGKILL: {told_of}")
    print(f"  integrity_check ok: {is_sound(path)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=50)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        many_writers(fresh(Path(folder) / "many.db"), chosen.writers, chosen.runs)
        killed_writers(fresh(Path(folder) / "killed.db"), chosen.rounds)


if __name__ == "__main__":
    main()
