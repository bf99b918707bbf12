"""A bot stores runs at once or in batches, and says which machine made them."""

from metaml.budget import Budget
from metaml.evaluation import Outcome
from metaml.random_bot.run_store import AT_ONCE, RunStore
from metaml.random_bot.tally import Tally
from metaml_kb.lookup import Claims


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def store_of(kb, **options):
    return RunStore(kb, Claims(kb), Tally(Budget(None)), **options)


def test_runs_are_stored_when_the_first_has_waited_long_enough(kb, run_of):
    clock = Clock()
    store = store_of(kb, clock=clock)
    for number in range(3):
        store.add(run_of(number))
    assert kb.n_runs() == 0
    assert store.seconds_left(1.0) == 0.2

    clock.now = 0.25
    store.flush_if_due()

    assert kb.n_runs() == 3
    assert store.seconds_left(1.0) == 1.0


def test_runs_are_stored_when_there_are_many(kb, run_of):
    store = store_of(kb, clock=Clock())
    for number in range(250):
        store.add(run_of(number))

    assert kb.n_runs() == 200
    store.flush()
    assert kb.n_runs() == 250


def test_without_batches_each_run_is_stored_at_once(kb, run_of):
    store = store_of(kb, clock=Clock(), **AT_ONCE)

    store.add(run_of(0))

    assert kb.n_runs() == 1


def test_the_machine_of_an_outcome_is_stored_once(kb):
    far = {"host": "far", "platform": "p", "cpu": "c", "python": "3.11.1", "libraries": {}, "reference_seconds": 0.9}
    store = store_of(kb)

    keys = [store.environment_of(Outcome("ok", 1.0, environment=facts)) for facts in (far, far, None, None)]

    assert len(set(keys)) == 2
    assert kb.sql("SELECT host FROM environment WHERE key = :key", {"key": keys[0]})["host"].tolist() == ["far"]
