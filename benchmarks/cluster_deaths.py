"""Kill parts of a cluster at random moments: is a run lost, made twice, or a process left behind?

python benchmarks/cluster_deaths.py --rounds 20

Each round makes eight runs of a bot (a search for the client) on iris over two supervised workers, and kills one part
with SIGKILL at a random moment, or cuts the connection to the scheduler. Then it counts the runs in the knowledge base
and the evaluations that are left, after each round. The scheduler comes back after five seconds; the search whose
client was killed goes on with --resume. If the client had closed its session before it was killed, nothing is left to
resume: all must be stored and the model written, and the round is made again.
"""

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from metaml.cluster import DaskExecutor, scheduler_address
from metaml.cluster.dispatcher import AttemptTimeouts
from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, run_bot
from metaml.sources import builtin
from metaml.sources.base import Loaded
from metaml.system.process_tree import started_with
from metaml_kb import open_kb
from metaml_kb.errors import KBError

N_RUNS, N_WORKERS = 8, 2
ALGORITHMS = ("random_forest", "gradient_boosting", "extra_trees")
QUICK = ("decision_tree", "k_neighbors")
"""What the client searches: its death has nothing to do with the learners."""
MARK = "METAML_BENCHMARK"
PARTS = ("worker", "nanny", "fork server", "scheduler", "connection", "client", "stopped worker")
NOT_BEGUN, OPEN, ENDED = "its session not begun", "its session open", "its session ended"


class Iris:
    name = "iris"

    def load(self) -> Loaded:
        return Loaded(builtin.load("iris"), "builtin")


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder, self.mark = folder, uuid.uuid4().hex
        self.environment = {**os.environ, MARK: self.mark, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self.port = "0"

    def __enter__(self) -> "Cluster":
        self.start_scheduler()
        words = [sys.executable, "-m", "metaml_cli", "worker", "--scheduler", self.url, "--slots", "1"]
        self.supervisors = [self.start(*words) for _ in range(N_WORKERS)]
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.supervisors, self.scheduler]:
            process.terminate()
        for process in [*self.supervisors, self.scheduler]:
            process.wait()

    def start(self, *words: str) -> subprocess.Popen:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(list(words), env=self.environment, **quiet)

    def start_scheduler(self) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        arguments = ["--host", "127.0.0.1", "--port", self.port, "--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self.start(sys.executable, "-m", "distributed.cli.dask_scheduler", *arguments)
        while not file.exists():
            time.sleep(0.05)
        self.url = scheduler_address(str(file)).url
        self.port = self.url.rpartition(":")[2]

    def find(self, part: str) -> psutil.Process | None:
        found = [process for process in started_with(MARK, self.mark) if kind_of(process) == part.split()[-1]]
        return random.choice(found) if found else None

    def n_left(self, *kinds: str, n_idle: int = 0, seconds: float = 20.0) -> int:
        """Return how many processes of these kinds, beyond `n_idle`, are left after they had some time to end."""
        deadline = time.monotonic() + seconds
        while (n := sum(kind_of(one) in kinds for one in started_with(MARK, self.mark)) - n_idle) > 0 and (
            time.monotonic() < deadline
        ):
            time.sleep(0.5)
        return max(n, 0)


@dataclass
class Round:
    """What a round left: runs stored, runs made twice, statuses that are not ok, processes, and anything else wrong."""

    stored: int = 0
    twice: int = 0
    failed: Counter = field(default_factory=Counter)
    left: int = 0
    wrong: int = 0

    def __add__(self, other: "Round") -> "Round":
        numbers = (self.stored + other.stored, self.twice + other.twice, self.failed + other.failed)
        return Round(*numbers, self.left + other.left, self.wrong + other.wrong)


def kind_of(process: psutil.Process) -> str:
    try:
        command = " ".join(process.cmdline())
        if "fork_server_program" in command:
            parent = process.parent()
            return "child" if parent and "fork_server_program" in " ".join(parent.cmdline()) else "server"
        if "spawn_main" in command:
            return "worker"
        return "nanny" if "dask_worker" in command and "metaml_cli" not in command else "other"
    except psutil.Error:
        return "gone"


class Strike:
    """Kills, or stops, one part of a cluster once, at a random moment."""

    def __init__(self, cluster: Cluster, part: str, executor: DaskExecutor) -> None:
        self.cluster, self.part, self.executor = cluster, part, executor
        self.when: float | None = time.monotonic() + random.uniform(0.2, 4.0)
        self.stopped: psutil.Process | None = None

    def look(self) -> None:
        if self.when is None or time.monotonic() < self.when:
            return
        if self.part == "scheduler":
            self.cluster.scheduler.kill()
            self.cluster.scheduler.wait()
            time.sleep(5.0)
            self.cluster.start_scheduler()
        elif self.part == "connection":
            self.executor._call(self.executor._engine._client.scheduler_comm.comm.abort)
        elif (process := self.cluster.find(self.part)) is None:
            return
        elif "stopped" in self.part:
            process.suspend()
            self.stopped = process
        else:
            process.kill()
        self.when = None

    def end(self) -> None:
        if self.stopped is not None:
            self.stopped.resume()


def bot_round(strike: Strike, executor: DaskExecutor, place: Path, seed: int) -> Round:
    settings = BotSettings(algorithms=ALGORITHMS, n_runs=N_RUNS, seed=seed, limits=Limits(15.0, 4000.0))
    with open_kb(place) as kb:
        report = run_bot(kb, [Iris()], settings, executor=Watched(executor, strike.look), batches=True)
        while strike.when is not None:
            # The runs were quicker than the moment: the part dies while it has nothing to do.
            strike.look()
            time.sleep(0.05)
        strike.end()
        failed = Counter({status: n for (_, status), n in report.statuses.items() if status != "ok"})
        # While an executor is open, each worker has a fork server, and a process for each slot may wait for a job.
        left = sum(strike.cluster.n_left(kind, n_idle=N_WORKERS) for kind in ("child", "server"))
        return Round(kb.n_runs(), report.n_known, failed, left)


class Watched:
    """An executor that looks, whenever it is asked for an answer, whether something is to be killed."""

    def __init__(self, executor: DaskExecutor, strike) -> None:
        self.executor, self.strike = executor, strike

    def __getattr__(self, name: str):
        return getattr(self.executor, name)

    def next(self, timeout=None):
        self.strike()
        return self.executor.next(min(timeout or 0.2, 0.2))


def client_round(cluster: Cluster, place: Path, folder: Path) -> Round:
    """Kill a search at a random moment and resume it. One whose session had ended has nothing to resume: again."""
    data = folder / "iris.csv"
    if not data.exists():
        iris = builtin.load("iris")
        iris.X.assign(kind=iris.y).to_csv(data, index=False)
    words = [sys.executable, "-m", "metaml_cli", "tune", str(data), "--iterations", str(N_RUNS), "--workers", "2"]
    words += ["--scheduler", cluster.url, "--kb", str(place), "--output", str(folder / place.stem)]
    words += ["--algorithms", ",".join(QUICK)]
    client = cluster.start(*words)
    # As fast as this machine is: a random moment after a random number of runs, or of the start of the session.
    n_before, delay = random.randint(-1, N_RUNS - 1), random.uniform(0.0, 2.0)
    while client.poll() is None and n_stored(place) < n_before:
        time.sleep(0.1)
    end = time.monotonic() + delay
    while client.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    client.kill()
    client.wait()
    before, session = runs_in(place), state_of_session(place)
    left = cluster.n_left("server", "child")
    print(f"<!-- killed with {len(before)} runs stored, {session} -->", flush=True)
    if session == ENDED:
        is_whole = len(before) == N_RUNS and (folder / place.stem / "model.zip").exists()
        again = client_round(cluster, place.with_suffix(f".{uuid.uuid4().hex[:6]}.db"), folder)
        return again + Round(left=left, wrong=not is_whole)
    again = cluster.start(*words, "--resume")
    again.wait()
    with open_kb(place) as kb:
        sessions, runs = kb.sessions("tune"), kb.runs()
        finished = [details["run"] for key in sessions["key"] for _, details in kb.events(str(key), "finished")]
        # Runs of the second client whose identity the first one had stored already.
        twice = len(finished) - len(set(finished))
        wrong = abs(len(sessions) - 1) + len(kb.sessions("tune", unfinished=True)) + abs(again.returncode)
        wrong += len(before - set(runs["run"])) + (not (folder / place.stem / "model.zip").exists())
    failed = Counter(status for status in runs["status"] if status not in ("ok", "partial"))
    return Round(len(runs), twice, failed, left, wrong)


def n_stored(place: Path) -> int:
    """Return the runs in a knowledge base, by a query that costs little; -1 if there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM run").fetchone()[0])
    except sqlite3.Error:
        return -1


def runs_in(place: Path) -> set[str]:
    """Return the keys of the runs in a knowledge base; none if it is not there yet."""
    try:
        with open_kb(place, create=False) as kb:
            return set(kb.runs()["run"])
    except KBError:
        return set()


def state_of_session(place: Path) -> str:
    """Return what a killed client has left of its session."""
    try:
        with open_kb(place, create=False) as kb:
            sessions = kb.sessions("tune")
            return NOT_BEGUN if sessions.empty else OPEN if len(kb.sessions("tune", unfinished=True)) else ENDED
    except KBError:
        return NOT_BEGUN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    os.environ["METAML_STARTER"] = "no"
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name)) as cluster:
        print("| killed | rounds | runs stored | made twice | not ok | processes left | else | seconds |", flush=True)
        print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        for part in options.parts.split(","):
            begun, total = time.monotonic(), Round()
            patience = AttemptTimeouts(start_seconds=20.0, grace_seconds=2.0)
            executor = DaskExecutor(scheduler_address(cluster.url), patience=patience, preload=("random_forest",))
            with nullcontext() if part == "client" else executor:
                for number in range(options.rounds):
                    place = Path(name) / f"{part.replace(' ', '_')}-{number}.db"
                    if part == "client":
                        one = client_round(cluster, place, Path(name))
                    else:
                        one = bot_round(Strike(cluster, part, executor), executor, place, number)
                    total += one
                    if one.stored != N_RUNS or one.twice or one.left or one.wrong:
                        print(f"<!-- {part} round {number}: {one} -->", flush=True)
            total.left += cluster.n_left("server", "child")
            print(
                f"| {part} | {options.rounds} | {total.stored} of {options.rounds * N_RUNS} | {total.twice} | "
                f"{dict(total.failed) or 0} | {total.left} | {total.wrong} | {time.monotonic() - begun:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
