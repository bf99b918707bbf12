"""How far a cluster scales, on one machine.

python benchmarks/cluster_scale.py simulated     200 simulated workers with a virtual clock, 100,000 runs, 1 % deaths
python benchmarks/cluster_scale.py inprocess     200 Dask workers inside one process, 2,000 runs
python benchmarks/cluster_scale.py writer        runs per second from the batching writer into PostgreSQL
python benchmarks/cluster_scale.py bots          10 bots at a time on one PostgreSQL
python benchmarks/cluster_scale.py efficiency    64 jobs that sleep 2 s: 2 cluster workers against the local executor
"""

import asyncio
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
from sklearn.dummy import DummyClassifier

from metaml.algorithms import ALGORITHMS, Algorithm
from metaml.cluster import DaskExecutor, scheduler_address
from metaml.evaluation import Job, Limits, LocalExecutor, Outcome, make_plan
from metaml.sources import builtin
from metaml_kb import DatasetRecord, Run, open_kb

N_BOTS, RUNS_PER_BOT = 10, 50


class Instant:
    """An evaluator that evaluates nothing, for workers that share one process."""

    def __init__(self, _: object) -> None:
        pass

    def run(self, job: Job, should_stop, on_fold, on_begin) -> Outcome:
        del job, should_stop, on_fold
        on_begin()
        time.sleep(0.5)
        return Outcome("ok", 0.5)

    def close(self) -> None:
        pass


def simulated() -> None:
    from metaml.cluster.simulated_engine import SimulatedEngine, Weather

    # Counted in an array, which does not grow.
    answers = np.zeros(100_000, dtype=np.uint8)
    megabytes = []

    def note(job: Job, outcome: Outcome) -> None:
        del outcome
        answers[job.config["n"]] += 1
        if job.config["n"] % 25_000 == 24_999:
            megabytes.append(round(psutil.Process().memory_info().rss / 1e6, 1))

    jobs = (Job("d", "svm", {"n": n}, None, 0, Limits(120.0)) for n in range(100_000))
    begun = time.perf_counter()
    weather = Weather(mean_seconds=20.0, sigma=1.0, death_rate=0.01, restart_seconds=15.0)
    done = SimulatedEngine(200, weather, np.random.default_rng(0)).run(jobs, note)
    print(f"{(answers > 0).sum()} identities, most answers for one {answers.max()}")
    print(f"{done.n_deaths} deaths, {done.n_sent} sent")
    print(f"busy {done.busy_share:.1%} of worker time; {done.seconds / 3600:.2f} virtual hours")
    print(f"{time.perf_counter() - begun:.0f} s; megabytes after 25, 50, 75 and 100 % of the runs: {megabytes}")


def inprocess() -> None:
    import dask
    from distributed import Scheduler, Worker

    # Each server of Dask has timers, of 10 ms for its profiler and 20 ms for its clock. With 200 workers in one event
    # loop, these alone would need more than one processor.
    dask.config.set({"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "2s"})
    dask.config.set({"distributed.admin.system-monitor.interval": "10s", "distributed.scheduler.worker-ttl": None})
    # Patience for a machine that does other work, too.
    dask.config.set({f"distributed.comm.timeouts.{name}": "300s" for name in ("connect", "tcp")})
    logging.getLogger("distributed").setLevel(logging.ERROR)

    async def serve(ready: threading.Event, over: threading.Event, found: list[str]) -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            workers = [
                await Worker(scheduler.address, nthreads=1, dashboard=False, memory_limit=0, name=str(n))
                for n in range(200)
            ]
            found.append(scheduler.address)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.05)
            await asyncio.gather(*(worker.close() for worker in workers))

    ready, over, found = threading.Event(), threading.Event(), []
    thread = threading.Thread(target=lambda: asyncio.run(serve(ready, over, found)), daemon=True)
    thread.start()
    ready.wait()
    iris = builtin.load("iris")
    plan = make_plan(iris, 2)
    with DaskExecutor(
        scheduler_address(found[0]),
        None,
        [iris],
        evaluator=f"{Path(__file__).stem}:Instant",
        preload=(),
        first_worker_seconds=600.0,
        on_note=lambda note: print(f"<!-- {note} -->", flush=True),
    ) as executor:
        while executor.n_workers < 200:
            time.sleep(0.1)
        begun, cpu = time.perf_counter(), time.process_time()
        for n in range(2000):
            executor.submit(Job(iris.fingerprint, "svm", {"n": n}, plan, 0, Limits(60.0)))
        seen = Counter()
        while len(seen) < 2000 and (answer := executor.next(timeout=600)) is not None:
            assert answer[1].status == "ok", answer[1].error
            seen[answer[0].config["n"]] += 1
        seconds, used = time.perf_counter() - begun, time.process_time() - cpu
        late = executor.next(timeout=5)
        print(f"{len(seen)} runs, most answers for one {max(seen.values())}, late answers: {int(late is not None)}")
        print(f"{seconds:.1f} s ({len(seen) / seconds:.0f} per s), {used:.1f} CPU seconds of cluster and executor")
        print(f"data set sent {sum(executor.n_transfers.values())} times to {len(executor.n_transfers)} workers")
    over.set()
    thread.join(30)


@contextmanager
def postgres():
    import pgserver

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        server.psql("CREATE DATABASE metaml")
        yield str(server.get_uri()).replace("/postgres?", "/metaml?")
        server.cleanup()


def writer() -> None:
    from metaml.budget import Budget
    from metaml.random_bot.run_store import RunStore
    from metaml.random_bot.tally import Tally
    from metaml_kb.lookup import Claims

    n = 20_000
    with postgres() as url, open_kb(url) as kb, Claims(kb) as claims:
        kb.add_dataset(DatasetRecord("f" * 32, "made", task="binary"))
        store = RunStore(kb, claims, Tally(Budget(None)))
        rng = np.random.default_rng(0)
        runs = [
            Run(
                dataset="f" * 32,
                algorithm="svm",
                config={"C": float(rng.random()), "gamma": float(rng.random())},
                scores={"accuracy": rng.random(5).tolist(), "roc_auc": rng.random(5).tolist()},
                fold_plan="5-fold",
            )
            for _ in range(n)
        ]
        begun, used, server = time.perf_counter(), time.process_time(), server_seconds()
        for run in runs:
            store.add(run)
        store.flush()
        seconds, here, there = time.perf_counter() - begun, time.process_time() - used, server_seconds() - server
        print(f"{kb.n_runs()} runs in {seconds:.1f} s: {n / seconds:.0f} per second in batches of 100")
        print(f"{here:.2f} CPU seconds here, {there:.2f} in the server: {n / (here + there):.0f} runs per CPU second")


def server_seconds() -> float:
    """Return the CPU seconds that the PostgreSQL servers of this machine have used; those of others count, too."""
    used = 0.0
    for process in psutil.process_iter(["name", "cpu_times"]):
        if process.info["name"] == "postgres" and process.info["cpu_times"] is not None:
            used += process.info["cpu_times"].user + process.info["cpu_times"].system
    return used


def bots() -> None:
    code = (
        "import sys, metaml; r = metaml.bot(builtin=True, runs=int(sys.argv[2]), seed=1, folds=2, workers=1, "
        "algorithms='decision_tree', kb=sys.argv[1]); print(r.n_done, r.n_known, r.n_failed)"
    )
    with postgres() as url:
        open_kb(url).close()
        words = [sys.executable, "-c", code, url, str(RUNS_PER_BOT)]
        begun = time.perf_counter()
        started = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(N_BOTS)]
        ended = [(*process.communicate(), process.returncode) for process in started]
        errors = [error.decode()[-300:] for _, error, code in ended if code]
        made = np.array([[int(word) for word in out.split()] for out, _, code in ended if not code])
        with open_kb(url) as kb:
            print(
                f"{N_BOTS} bots with one seed: {made[:, 0].sum()} runs made, {kb.n_runs()} stored, "
                f"{made[:, 1].sum()} repeated, {len(errors)} errors {errors[:1]}, {time.perf_counter() - begun:.0f} s"
            )


class Sleeping(DummyClassifier):
    """Computes little and sleeps, so that what is measured is the way of a job, not the load of this machine."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.4)
        return super().fit(X, y, sample_weight)


SLEEPING = {
    "sleeping": Algorithm(
        "sleeping", ALGORITHMS["decision_tree"].space, lambda *_, **__: Sleeping(), library="scikit-learn"
    )
}


def efficiency() -> None:
    from metaml.cluster.supervisor import SCHEDULER, WORKER

    data = builtin.load("digits")
    plan = make_plan(data, 5)
    jobs = iter([Job(data.fingerprint, "sleeping", {}, plan, n, Limits(120.0)) for n in range(1000)])

    def seconds_of(executor, n_jobs: int) -> tuple[float, float]:
        begun = time.perf_counter()
        for job in islice(jobs, n_jobs):
            executor.submit(job)
        found = [executor.next()[1] for _ in range(n_jobs)]
        assert {outcome.status for outcome in found} == {"ok"}, found[0].error
        return time.perf_counter() - begun, float(np.mean([outcome.seconds for outcome in found]))

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "s.json"
        words = [SCHEDULER, "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        scheduler = subprocess.Popen([sys.executable, "-m", *words], **quiet)
        while not file.exists():
            time.sleep(0.1)
        words = [WORKER, "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        workers = [subprocess.Popen([sys.executable, "-m", *words], env=path, **quiet) for _ in range(2)]
        options = {"registry": f"{Path(__file__).stem}:SLEEPING", "preload": ("sklearn.dummy",)}
        try:
            address = scheduler_address(str(file))
            with (
                LocalExecutor(2, [data], **options) as local,
                DaskExecutor(address, None, [data], first_worker_seconds=600.0, **options) as dask,
            ):
                while dask.n_workers < 2:
                    time.sleep(0.1)
                for executor in (local, dask):
                    seconds_of(executor, 2)
                # In turns, as the load of the machine changes.
                here, there = np.zeros(2), np.zeros(2)
                for _ in range(4):
                    here += seconds_of(local, 16)
                    there += seconds_of(dask, 16)
                print(f"64 jobs: local {here[0]:.1f} s, cluster {there[0]:.1f} s, ratio {there[0] / here[0]:.3f}")
                print(f"mean seconds of an evaluation: local {here[1] / 4:.3f}, cluster {there[1] / 4:.3f}")
                print(f"data set sent to each worker: {list(dask.n_transfers.values())} times")
        finally:
            for process in [*workers, scheduler]:
                process.kill()
                process.wait()


if __name__ == "__main__":
    {"simulated": simulated, "inprocess": inprocess, "writer": writer, "bots": bots, "efficiency": efficiency}[
        sys.argv[1]
    ]()
