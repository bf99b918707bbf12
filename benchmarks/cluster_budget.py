"""Is `metaml tune --time-budget` on time on a cluster while its workers die?

python benchmarks/cluster_budget.py --rounds 10 [--budget 30]

Each round is a search on breast_cancer over two supervised workers of one slot. From its start to its end a random
process of the cluster is killed with SIGKILL every ten to twenty seconds: a worker, its nanny or its fork server. It
comes back by itself. Before it, the same search runs on this machine, where nothing dies: on a busy machine, the
starting and ending of any command is late. As in `budgets.py`, the bound is 1.05 x budget + 2 s.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from cluster_deaths import Cluster, n_stored

from metaml.sources import builtin

VICTIMS = ("worker", "nanny", "fork server")


def search(cluster: Cluster, folder: Path, name: str, budget: float, *, is_local: bool) -> float:
    """Print how a search went; return its seconds, infinite if it left no model."""
    place, output, dead = folder / f"{name}.db", folder / f"result {name}", Counter()
    words = [sys.executable, "-m", "metaml_cli", "tune", str(folder / "data.csv"), "--time-budget", f"{budget:g}s"]
    words += ["--workers", "2", "--kb", str(place), "--output", str(output)]
    begun, cpu = time.monotonic(), os.times()
    client = cluster.start(*words, *([] if is_local else ["--scheduler", cluster.url]))
    due = np.inf if is_local else begun + random.uniform(10.0, 20.0)
    while client.poll() is None:
        if time.monotonic() > due:
            victim = random.choice(VICTIMS)
            if (process := cluster.find(victim)) is not None:
                process.kill()
                dead[victim] += 1
            due = time.monotonic() + random.uniform(10.0, 20.0)
        time.sleep(0.1)
    seconds, after = time.monotonic() - begun, os.times()
    has_model = (output / "model.zip").exists() and client.returncode == 0
    killed = ", ".join(f"{n} {victim}" for victim, n in dead.items()) or "–"
    print(
        f"| {name} | {seconds:.1f} | {'yes' if has_model else 'NO'} | {max(n_stored(place), 0)} | {killed} | "
        f"{after.children_user - cpu.children_user:.0f} | {os.getloadavg()[0]:.0f} |",
        flush=True,
    )
    return seconds if has_model else np.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    os.environ["METAML_STARTER"] = "no"
    with tempfile.TemporaryDirectory() as name, Cluster(Path(name)) as cluster:
        folder = Path(name)
        table = builtin.load("breast_cancer")
        table.X.assign(kind=table.y).to_csv(folder / "data.csv", index=False)
        while len([victim for victim in VICTIMS[:2] if cluster.find(victim)]) < 2:
            time.sleep(0.5)
        print("| search | seconds | model | runs | killed | CPU seconds of the command | load |", flush=True)
        print("| --- " * 7 + "|", flush=True)
        found = [
            [
                search(cluster, folder, f"{number} {place}", options.budget, is_local=place == "local")
                for place in ("local", "cluster")
            ]
            for number in range(options.rounds)
        ]
        bound = 1.05 * options.budget + 2
        late = (np.array(found) > bound).sum(axis=0)
        print(f"later than {bound:.1f} s, of {options.rounds} each: local {late[0]}, cluster {late[1]}")


if __name__ == "__main__":
    main()
