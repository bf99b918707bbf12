"""How the starter experience is made: our bot on real data sets, in the background, resumable; then one small file.

python benchmarks/starter.py make --kb starter.db [--hours 2.5] [--workers 2]
python benchmarks/starter.py clock --kb starter.db      on a quiet machine: how much the bot was slowed down by others
python benchmarks/starter.py pack --kb starter.db [--most 150]
python benchmarks/starter.py extend --kb sizes.db       adds the runs of starter_sizes.py to the file that ships
python benchmarks/starter.py teach
python benchmarks/starter.py load

The folds are those of `tune` (five, seed 0). To get through many data sets, larger ones are cut to `--max-rows` rows
and a run that takes longer than `--limit-seconds` is kept as a time-out. Started again it goes on where it stopped.
"""

import argparse
import csv
import signal
import tempfile
import time
from pathlib import Path

from metaml.algorithms import ALGORITHMS
from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, Progress, run_bot
from metaml.sources import folder
from metaml_kb import open_kb

SHARED = Path(__file__).resolve().parents[2] / "shared"
DATASETS = SHARED / "datasets"
OPENML = SHARED / "metadata" / "openml100-sklearn"
STARTER = Path(__file__).resolve().parents[1] / "metaml" / "starter" / "starter.metaml"
SEED = 20261116
CLOCK = "clock.json"


def files(place: Path) -> list[Path]:
    """Return the data set files that the manifest names."""
    with (place / "manifest.csv").open(encoding="utf-8") as file:
        return [place / f"{row['name']}.csv.gz" for row in csv.DictReader(file)]


def make(asked: argparse.Namespace) -> None:
    """Let the bot work until the hours are over or it is interrupted; every run is kept as it finishes."""
    settings = BotSettings(
        seconds=asked.hours * 3600,
        n_workers=asked.workers,
        limits=Limits(asked.limit_seconds, 2500.0),
        max_rows=asked.max_rows,
        algorithms=tuple(asked.algorithms.split(",")),
        seed=SEED,
    )
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: stopped.append(number))

    def on_progress(progress: Progress) -> None:
        if progress.n_done % 200 == 0:
            speed = 60 * progress.n_done / progress.seconds
            print(f"{time.strftime('%H:%M')} {progress.n_done} runs, {progress.n_failed} not complete, {speed:.0f}/min")

    with open_kb(asked.kb) as kb:
        sources = folder.sources(files(asked.folder))
        report = run_bot(kb, sources, settings, on_progress=on_progress, should_stop=lambda: bool(stopped))
    print(f"{report.n_done} runs in {report.seconds / 3600:.2f} h; set aside: {report.set_aside or 'nothing'}")


def clock(asked: argparse.Namespace) -> None:
    """Make some of the bot's runs again, alone, and write down by how much its seconds were too long."""
    from starter_clock import measure, read, write

    kept = asked.kb.with_name(CLOCK)
    with open_kb(asked.kb, create=False) as kb:
        factors = measure(kb, asked.folder, read(kept), n=asked.sample, max_rows=asked.max_rows, seed=SEED)
    write(factors, kept)


def pack(asked: argparse.Namespace) -> None:
    """Write the file that ships from a snapshot of the bot's knowledge base and a part of OpenML's runs."""
    from starter_clock import read
    from starter_openml import add_openml
    from starter_pack import make_starter, snapshot, told

    from metaml_kb.exchange import export
    from metaml_kb.provenance import STARTER as KIND

    with tempfile.TemporaryDirectory() as folder:
        copy, packed = Path(folder) / "starter.db", Path(folder) / "starter.metaml"
        snapshot(asked.kb, copy)
        with open_kb(copy, create=False) as kb:
            make_starter(kb, read(asked.kb.with_name(CLOCK)))
            n_own = kb.info()["runs"]
            dropped = add_openml(kb, asked.metadata, most=asked.most, seed=SEED, kind=KIND)
            n_runs = export(kb, packed, with_starter=True, level=22)
            lines = told(kb)
        asked.output.write_bytes(packed.read_bytes())
    print(f"{asked.output}: {asked.output.stat().st_size / 1e6:.2f} MB, {n_runs} runs, {n_own} of them our bot's")
    print("\n".join(lines))
    for reason, n in dropped.most_common():
        print(f"{n:>6} rows of OpenML left out: {reason}")


def extend(asked: argparse.Namespace) -> None:
    """Add the runs of another knowledge base to the file that ships, without their predictions."""
    from starter_clock import read
    from starter_pack import make_starter, snapshot, told

    from metaml_kb.exchange import create_from, export
    from metaml_kb.transfer import merge

    with tempfile.TemporaryDirectory() as folder:
        base, more, packed = (Path(folder) / name for name in ("starter.db", "more.db", "starter.metaml"))
        create_from(base, asked.file)
        snapshot(asked.kb, more)
        with open_kb(base, create=False) as kb, open_kb(more, create=False) as new:
            make_starter(new, read(asked.kb.with_name(CLOCK)))
            merged = merge(kb, new)
            n_runs = export(kb, packed, with_starter=True, level=22)
            lines = told(kb)
        asked.output.write_bytes(packed.read_bytes())
    print(f"{asked.output}: {asked.output.stat().st_size / 1e6:.2f} MB, {n_runs} runs; {merged}")
    print("\n".join(lines))


def teach(asked: argparse.Namespace) -> None:
    """Learn from the file that ships, and put the lessons beside it: a first search then need not learn."""
    from metaml.evaluation import default_metric
    from metaml.experience.lesson_files import SHIPPED, LessonRequest, learn, place_of
    from metaml_kb.exchange import create_from

    with tempfile.TemporaryDirectory() as folder:
        create_from(Path(folder) / "starter.db", asked.file)
        with open_kb(Path(folder) / "starter.db", create=False) as kb:
            SHIPPED.mkdir(exist_ok=True)
            for task in ("binary", "multiclass", "regression"):
                wanted = LessonRequest(default_metric(task), task)  # type: ignore[arg-type]
                lessons = learn(kb, wanted, n_threads=2)
                content = (Path(str(place_of(kb))) / wanted.file_name).read_bytes()
                (SHIPPED / wanted.file_name).write_bytes(content)
                told = f"{lessons.n_runs} runs on {lessons.n_datasets} data sets in {lessons.seconds:.0f} s"
                print(f"{wanted.file_name}: {told}, {len(content) / 1e6:.2f} MB", flush=True)


def load(asked: argparse.Namespace) -> None:
    """Print the seconds that it takes to make a knowledge base with the starter in it, and one without."""
    from metaml_kb.exchange import create_from, import_file

    for _ in range(asked.times):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            start = time.perf_counter()
            open_kb(place / "empty.db").close()
            empty = time.perf_counter() - start
            start, busy = time.perf_counter(), time.process_time()
            create_from(place / "full.db", asked.file)
            full, busy = time.perf_counter() - start, time.process_time() - busy
            with open_kb(place / "full.db") as kb:
                n_runs, size = kb.info()["runs"], (place / "full.db").stat().st_size / 1e6
            print(f"empty {empty:.2f} s; with {n_runs} runs {full:.2f} s ({busy:.2f} s cpu, {size:.1f} MB on disk)")
            if asked.merge:
                with open_kb(place / "empty.db") as kb:
                    kb.start_session("tune")
                    start, busy = time.perf_counter(), time.process_time()
                    import_file(kb, asked.file)
                merged, busy = time.perf_counter() - start, time.process_time() - busy
                print(f"merged into one that exists: {merged:.2f} s ({busy:.2f} s cpu)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help="let the bot work")
    making.add_argument("--kb", type=Path, required=True)
    making.add_argument("--folder", type=Path, default=DATASETS)
    making.add_argument("--hours", type=float, default=2.5)
    making.add_argument("--workers", type=int, default=2)
    making.add_argument("--algorithms", default=",".join(ALGORITHMS))
    making.add_argument("--max-rows", type=int, default=2000)
    making.add_argument("--limit-seconds", type=float, default=10.0)
    making.set_defaults(command=make)
    timing = commands.add_parser("clock", help="find out how much the bot was slowed down; on a quiet machine")
    timing.add_argument("--kb", type=Path, required=True)
    timing.add_argument("--folder", type=Path, default=DATASETS)
    timing.add_argument("--sample", type=int, default=60)
    timing.add_argument("--max-rows", type=int, default=2000)
    timing.set_defaults(command=clock)
    packing = commands.add_parser("pack", help="write the file that ships")
    packing.add_argument("--kb", type=Path, required=True)
    packing.add_argument("--metadata", type=Path, default=OPENML)
    packing.add_argument("--most", type=int, default=150, help="OpenML runs of each task and algorithm at most")
    packing.add_argument("--output", type=Path, default=STARTER)
    packing.set_defaults(command=pack)
    extending = commands.add_parser("extend", help="add runs to the file that ships")
    extending.add_argument("--kb", type=Path, required=True)
    extending.add_argument("--file", type=Path, default=STARTER)
    extending.add_argument("--output", type=Path, default=STARTER)
    extending.set_defaults(command=extend)
    teaching = commands.add_parser("teach", help="learn from the file that ships")
    teaching.add_argument("--file", type=Path, default=STARTER)
    teaching.set_defaults(command=teach)
    loading = commands.add_parser("load", help="measure how long a new knowledge base takes")
    loading.add_argument("--file", type=Path, default=STARTER)
    loading.add_argument("--times", type=int, default=3)
    loading.add_argument("--merge", action="store_true", help="also into a knowledge base that exists")
    loading.set_defaults(command=load)
    asked = parser.parse_args()
    asked.command(asked)


if __name__ == "__main__":
    main()
