"""Algorithms that misbehave, a few small honest ones, and data for them: what workers run in these tests."""

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.algorithms import Algorithm

REGISTRY = "hostile_algorithms:ALGORITHMS"
MEGABYTE = 1_000_000


def small_frame(n_classes: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kinds = np.array([f"class {code}" for code in range(n_classes)])
    return pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "y": kinds[np.arange(60) % n_classes]})


class Constant:
    """Predicts class frequencies or the mean, after doing what its configuration says."""

    def __init__(self, config: dict[str, Any], task: str, seed: int) -> None:
        self.config, self.task, self.seed = config, task, seed

    def fit(self, X: Any, y: Any) -> "Constant":
        self.mean_ = np.mean(y) if self.task == "regression" else np.bincount(y) / len(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_ if self.task == "regression" else np.argmax(self.mean_))

    def predict_proba(self, X: Any) -> Any:
        return np.tile(self.mean_, (len(X), 1))


class Sleepy(Constant):
    def fit(self, X, y):
        time.sleep(self.config.get("seconds", 3600))
        return super().fit(X, y)


class Gated(Constant):
    """Notes its process in the file `begun` of a folder, then waits for the file `open`; some first fits do neither."""

    def fit(self, X, y):
        folder = Path(self.config["folder"])
        n_before = len(list(folder.glob("fit-*")))
        (folder / f"fit-{n_before}").touch()
        if n_before >= self.config.get("free_fits", 0):
            (folder / "noting").write_text(str(os.getpid()))
            (folder / "noting").rename(folder / "begun")
            while not (folder / "open").exists():
                time.sleep(0.01)
        return super().fit(X, y)


class Stubborn(Constant):
    def fit(self, X, y):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)


class Hungry(Constant):
    def fit(self, X, y):
        kept = []
        while True:
            kept.append(np.ones(MEGABYTE))


class GreedyAtOnce(Constant):
    def fit(self, X, y):
        self.kept_ = np.ones(int(self.config["megabytes"] * MEGABYTE / 8))
        return super().fit(X, y)


class Segfaulting(Constant):
    def fit(self, X, y):
        ctypes.string_at(0)


class Leaving(Constant):
    def fit(self, X, y):
        os._exit(self.config["code"])


class KilledFromOutside(Constant):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class Talkative(Constant):
    def fit(self, X, y):
        line = "x" * MEGABYTE
        for _ in range(300):
            print(line)
            os.write(1, line.encode())
            os.write(2, line.encode())
            sys.stderr.write(line)
        return super().fit(X, y)


class Forking(Constant):
    """Leaves a child, and a grandchild in a session of its own whose parent is gone."""

    def fit(self, X, y):
        if os.fork() == 0:
            self._note_and_sleep()
        middle = os.fork()
        if middle == 0:
            os.setsid()
            if os.fork() == 0:
                self._note_and_sleep()
            os._exit(0)
        os.waitpid(middle, 0)
        while len(list(Path(self.config["folder"]).iterdir())) < 2:
            time.sleep(0.01)
        if self.config["waits"]:
            time.sleep(3600)
        return super().fit(X, y)

    def _note_and_sleep(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (Path(self.config["folder"]) / str(os.getpid())).touch()
        while True:
            time.sleep(1)


class ForkThenCrash(Forking):
    def fit(self, X, y):
        super().fit(X, y)
        os._exit(3)


class HungryChild(Constant):
    def fit(self, X, y):
        if os.fork() == 0:
            Hungry.fit(self, X, y)
        os.wait()


class Patricide(Constant):
    def fit(self, X, y):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(3600)


class Regicide(Constant):
    """Kills the process that has started the fork server: on a cluster, the worker."""

    def fit(self, X, y):
        starter = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
        if starter > 1:
            os.kill(starter, signal.SIGKILL)
        time.sleep(3600)


class Garrulous(Constant):
    """Writes rubbish to every socket it can find."""

    def fit(self, X, y):
        for fd in range(3, 64):
            try:
                os.write(fd, b"\x00\x00\x00\x08rubbish!" * 10)
            except OSError:
                continue
        return super().fit(X, y)


class Threaded(Constant):
    def fit(self, X, y):
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        return super().fit(X, y)


class Raising(Constant):
    def fit(self, X, y):
        raise ValueError("cannot open /home/somebody/secret/data.csv\nsecond line")


class Quitting(Constant):
    def fit(self, X, y):
        sys.exit("bye")


class OutOfMemory(Constant):
    def fit(self, X, y):
        raise MemoryError


class NotANumber(Constant):
    def predict_proba(self, X):
        return np.full((len(X), len(self.mean_)), np.nan)


class Worried(Constant):
    def fit(self, X, y):
        np.log(np.zeros(1))
        return super().fit(X, y)


class WithoutProbabilities:
    def __init__(self, config, task, seed):
        pass

    def fit(self, X, y):
        self.most_common_ = int(np.argmax(np.bincount(y)))
        return self

    def predict(self, X):
        return np.full(len(X), self.most_common_)


class Noisy(Constant):
    """Honest, and different for each seed."""

    def predict_proba(self, X):
        raw = np.random.default_rng(self.seed).random((len(X), len(self.mean_)))
        return raw / raw.sum(axis=1, keepdims=True)


class TellTale(Constant):
    """Raises with what it sees of its surroundings."""

    def fit(self, X, y):
        from threadpoolctl import threadpool_info

        pools = {executor["num_threads"] for executor in threadpool_info()}
        raise ValueError(f"pid={os.getpid()} OMP={os.environ['OMP_NUM_THREADS']} pools={sorted(pools)}")


def _algorithm(kind):
    def build(config, *, task, seed, n_threads=1, seconds=None):
        return kind(config, task, seed)

    return Algorithm(kind.__name__, space=None, build=build)


ALGORITHMS = {
    kind.__name__: _algorithm(kind)
    for kind in (
        Constant,
        ForkThenCrash,
        Forking,
        Garrulous,
        Gated,
        GreedyAtOnce,
        Hungry,
        HungryChild,
        KilledFromOutside,
        Leaving,
        NotANumber,
        Noisy,
        OutOfMemory,
        Patricide,
        Quitting,
        Raising,
        Regicide,
        Segfaulting,
        Sleepy,
        Stubborn,
        Talkative,
        TellTale,
        Threaded,
        Worried,
        WithoutProbabilities,
    )
}


class Broken:
    """An evaluator that can evaluate nothing."""

    def __init__(self, _: object) -> None:
        pass

    def run(self, *_: object) -> None:
        raise OSError("there is no room for scratch files")

    def close(self) -> None:
        pass
