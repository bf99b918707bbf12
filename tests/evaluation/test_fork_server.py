"""The fork server as seen from outside: one that is slow or cannot start."""

import contextlib
import signal
import threading

import pytest
from hostile_algorithms import REGISTRY

from metaml.errors import MetamlError
from metaml.evaluation import LocalExecutor
from metaml.evaluation.dataset_store import DatasetStore
from metaml.evaluation.fork_server import ForkServer
from metaml.evaluation.isolation import IsolatedEvaluator
from tests.cluster_processes import wait_until


def test_a_fork_server_that_answers_too_late_is_replaced_by_one_that_has_the_data_sets(
    tmp_path, two_classes, ask, monkeypatch
):
    DatasetStore(tmp_path).put(two_classes)
    fork_server = ForkServer(tmp_path, registry=REGISTRY, preload=())
    fork_server.start()
    evaluator = IsolatedEvaluator(fork_server)
    first = evaluator(ask(two_classes, "Constant"))
    slow = fork_server._process
    monkeypatch.setattr("metaml.evaluation.fork_server.REQUEST_SECONDS", 0.3)
    slow.send_signal(signal.SIGSTOP)
    threading.Timer(0.4, slow.send_signal, [signal.SIGCONT]).start()
    with contextlib.suppress(MetamlError):
        fork_server.new_worker()
    monkeypatch.undo()

    second = evaluator(ask(two_classes, "Constant"))
    fork_server.close()

    assert (first.status, second.status) == ("ok", "ok")


def test_a_fork_server_that_was_given_up_while_it_started_is_not_started_again(tmp_path):
    def ask_for_worker():
        with contextlib.suppress(MetamlError):
            fork_server.new_worker()

    fork_server = ForkServer(tmp_path, registry=REGISTRY, preload=())
    fork_server.start()
    fork_server._process.send_signal(signal.SIGSTOP)
    caller = threading.Thread(target=ask_for_worker)
    caller.start()
    wait_until(fork_server._lock.locked)

    fork_server.give_up()
    caller.join()

    assert fork_server._process.wait(10) == -signal.SIGKILL
    fork_server.close()


def test_a_registry_that_cannot_be_imported_is_said_aloud(two_classes, ask):
    with LocalExecutor(1, [two_classes], registry="no_such_module:ALGORITHMS", preload=()) as executor:
        executor.submit(ask(two_classes, "Constant"))

        with pytest.raises(MetamlError, match="no_such_module"):
            executor.next(300)
