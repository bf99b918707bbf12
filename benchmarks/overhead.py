"""What the executor costs over plain cross-validation, and how it holds hostile learners.

The same jobs run three ways: one after the other in this process (halved: two cores would share them), in two
plain processes side by side, and through a executor of two workers. On a machine with other work only two columns mean
something: the processor seconds of the executor with all its processes over those of plain cross-validation, and the
share of time in which workers were busy.

    python benchmarks/overhead.py --jobs 24 --rounds 3
"""

import argparse
import statistics
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import psutil
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset, from_frame
from metaml.evaluation import Job, Limits, LocalExecutor, Outcome, evaluate, make_plan

HOSTILE_FOLDER = Path(__file__).parents[1] / "tests" / "evaluation"
N_WORKERS = 2
HOSTILE = [
    # algorithm, configuration, seconds, megabytes
    ("Sleepy", {}, 1.0, None),
    ("Stubborn", {}, 1.0, None),
    ("Hungry", {}, 10.0, 200.0),
    ("HungryChild", {}, 10.0, 200.0),
    ("Segfaulting", {}, 1.0, None),
    ("Leaving", {"code": 0}, 1.0, None),
    ("KilledFromOutside", {}, 1.0, None),
    ("Talkative", {}, 30.0, None),
    ("Forking", {"waits": True}, 2.0, None),
    ("Patricide", {}, 1.0, None),
]


def breast_cancer() -> Dataset:
    bunch = load_breast_cancer(as_frame=True)
    return from_frame(bunch.frame, target="target", task="binary", name="breast_cancer")


def make_jobs(dataset: Dataset, n_jobs: int) -> list[Job]:
    plan = make_plan(dataset, n_folds=3)
    names = ["random_forest", "extra_trees"]
    return [
        Job(dataset.fingerprint, name, ALGORITHMS[name].space(dataset.task).default(), plan, seed, Limits(600, 4000))
        for seed, name in zip(range(n_jobs), names * n_jobs, strict=False)
    ]


def in_process(jobs: list[Job], dataset: Dataset) -> list[Outcome]:
    with threadpool_limits(1):
        return [evaluate(job, dataset, ALGORITHMS[job.algorithm]) for job in jobs]


def plain_process(jobs: list[Job], dataset: Dataset, begin: object, seconds: object) -> None:
    """Evaluate without limits or watching, from the moment all are ready."""
    in_process(jobs[:1], dataset)
    begin.wait()
    start = time.perf_counter()
    in_process(jobs, dataset)
    seconds.put(time.perf_counter() - start)


def side_by_side(jobs: list[Job], dataset: Dataset) -> float:
    context = get_context("spawn")
    begin, seconds = context.Barrier(N_WORKERS), context.Queue()
    processes = [
        context.Process(target=plain_process, args=(jobs[number::N_WORKERS], dataset, begin, seconds))
        for number in range(N_WORKERS)
    ]
    for process in processes:
        process.start()
    slowest = max(seconds.get() for _ in processes)
    for process in processes:
        process.join()
    return slowest


def through(executor: LocalExecutor, jobs: list[Job]) -> list[Outcome]:
    outcomes = []
    waiting = list(reversed(jobs))
    while waiting or executor.free < executor.n_workers:
        while waiting and executor.free:
            executor.submit(waiting.pop())
        _, outcome = executor.next()
        outcomes.append(outcome)
    return outcomes


def family_seconds() -> float:
    """Return the processor seconds used so far by this process, the fork_server and the workers."""
    me = psutil.Process()
    times = [process.cpu_times() for process in [me, *me.children(recursive=True)]]
    return sum(found.user + found.system for found in times)


def overhead(n_jobs: int, rounds: int) -> None:
    dataset = breast_cancer()
    jobs = make_jobs(dataset, n_jobs)
    print(f"{n_jobs} jobs of 3 folds, {N_WORKERS} workers\n")
    print(
        "round  job s   sum/2 s   two processes s   executor s   executor ÷ sum/2   "
        "executor ÷ two processes   cpu ratio   busy"
    )
    ratios = []
    with LocalExecutor(N_WORKERS, [dataset]) as executor:
        through(executor, jobs[:N_WORKERS])
        for number in range(1, rounds + 1):
            cpu = time.process_time()
            half = sum(outcome.seconds for outcome in in_process(jobs, dataset)) / N_WORKERS
            plain_cpu = time.process_time() - cpu
            start, cpu = time.perf_counter(), family_seconds()
            outcomes = through(executor, jobs)
            wall, pool_cpu = time.perf_counter() - start, family_seconds() - cpu
            plain = side_by_side(jobs, dataset)
            busy = sum(outcome.seconds for outcome in outcomes) / (N_WORKERS * wall)
            ratios.append((wall / half, wall / plain, pool_cpu / plain_cpu, busy))
            mean = half * N_WORKERS / n_jobs
            print(
                f"{number:5} {mean:6.2f} {half:9.2f} {plain:17.2f} {wall:8.2f} {wall / half:14.3f} "
                f"{wall / plain:22.3f} {pool_cpu / plain_cpu:11.3f} {busy:6.1%}"
            )
    medians = [statistics.median(column) for column in zip(*ratios, strict=True)]
    print(f"median {medians[0]:52.3f} {medians[1]:22.3f} {medians[2]:11.3f} {medians[3]:6.1%}")


def hostile() -> None:
    sys.path.append(str(HOSTILE_FOLDER))
    dataset = breast_cancer()
    plan = make_plan(dataset, n_folds=2)
    me = psutil.Process()

    def ask(name: str, config: dict, seconds: float, megabytes: float | None) -> Job:
        return Job(dataset.fingerprint, name, config, plan, 0, Limits(seconds, megabytes))

    print("\nhostile learner     limit s   wall s   outcome                                     next job ok after s")
    with LocalExecutor(1, [dataset], registry="hostile_algorithms:ALGORITHMS", preload=()) as executor:
        through(executor, [ask("Constant", {}, 10, None)])
        before = me.memory_info().rss
        for name, config, seconds, megabytes in HOSTILE:
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                outcome = through(executor, [ask(name, {**config, "folder": folder}, seconds, megabytes)])[0]
                wall = time.perf_counter() - start
                start = time.perf_counter()
                honest = through(executor, [ask("Constant", {}, 10, None)])[0]
                again = time.perf_counter() - start
            text = f"{outcome.status}: {outcome.error}"
            print(f"{name:18} {seconds:8.1f} {wall:8.2f}   {text:42} {honest.status:>8} {again:8.2f}")
        growth = (me.memory_info().rss - before) / 1e6
    print(f"\nparent grew by {growth:.1f} MB; processes left: {len(me.children(recursive=True))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    hostile()
    overhead(arguments.jobs, arguments.rounds)
