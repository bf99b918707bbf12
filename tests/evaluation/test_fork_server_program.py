"""The program that workers are forked from leaves nothing behind, however its parent ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# There is no `if __name__ == "__main__"` on purpose: a script without it must work too.
SCRIPT = """
import signal, sys, time
from pathlib import Path
from hostile_algorithms import REGISTRY, small_frame
from metaml.data import from_frame
from metaml.evaluation import Job, Limits, LocalExecutor, make_plan

# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
dataset = from_frame(small_frame(2), target="y")
plan = make_plan(dataset, n_folds=2)
executor = LocalExecutor(2, [dataset], registry=REGISTRY, preload=()).start()
for folder in sys.argv[1:]:
    config = {"folder": folder, "waits": True}
    executor.submit(Job(dataset.fingerprint, "Forking", config, plan, 0, Limits(3600)))
while any(len(list(Path(folder).iterdir())) < 2 for folder in sys.argv[1:]):
    time.sleep(0.02)
print(executor._store.folder, flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_when_the_parent_is_killed(tmp_path, number):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, *folders]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        store = Path(parent.stdout.readline().decode().strip())
        family = psutil.Process(parent.pid).children(recursive=True)
        parent.send_signal(number)
        parent.wait(10)

    _, alive = psutil.wait_procs(family, timeout=10)

    # One fork_server, two workers, and of each worker a child and a grandchild that left home.
    assert len(family) >= 7
    assert alive == []
    wait_until(lambda: not store.exists())


def wait_until(claim):
    deadline = time.monotonic() + 10
    while not claim():
        assert time.monotonic() < deadline
        time.sleep(0.02)


IMPORTED = """
import sys
from metaml.evaluation.fork_server import ALGORITHMS
from metaml.evaluation.fork_server_program import Settings, _prepare

preload = sys.argv[1:] or None
_prepare(Settings(0, 0, [], preload, ALGORITHMS, "", 1))
print(*{"sklearn.tree", "lightgbm", "xgboost"} & set(sys.modules))
"""


@pytest.mark.parametrize(
    ("expected", "imported"),
    [(["decision_tree"], {"sklearn.tree"}), ([], {"sklearn.tree", "lightgbm", "xgboost"})],
    ids=["one algorithm", "all"],
)
def test_only_the_libraries_of_expected_algorithms_are_imported(expected, imported):
    answer = subprocess.run([sys.executable, "-c", IMPORTED, *expected], capture_output=True, text=True, check=True)

    assert set(answer.stdout.split()) == imported
