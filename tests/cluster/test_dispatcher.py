"""Which worker gets which job, and what becomes of jobs whose workers die, fall silent or come late."""

import pytest

from metaml.cluster.dispatcher import AttemptTimeouts, ClusterWorker, Dispatcher
from metaml.evaluation import Job, Limits, Outcome, Overtime

OK = Outcome("ok", 1.0)


class Recorder:
    """An engine that only writes down what it is asked for."""

    def __init__(self):
        self.sent, self.withdrawn = [], []

    def send(self, attempt):
        self.sent.append(attempt)

    def withdraw(self, attempt):
        self.withdrawn.append(attempt)


@pytest.fixture
def engine():
    return Recorder()


@pytest.fixture
def answers():
    return []


@pytest.fixture
def dispatcher(engine, answers):
    return Dispatcher(engine, lambda *answer: answers.append(answer), patience=AttemptTimeouts(30.0, 5.0))


def worker(name, n_slots=1, host=None, megabytes=16_000.0, **options):
    return ClusterWorker(name, host or name, n_slots, megabytes, **options)


def job(seconds=10.0, megabytes=None, **options):
    return Job("d", "svm", {}, None, 0, Limits(seconds, megabytes), **options)


def test_no_more_jobs_are_sent_than_there_are_slots(dispatcher, engine):
    dispatcher.join(worker("a", n_slots=2), 0.0)
    for ticket in range(5):
        dispatcher.submit(ticket, job(), 0.0)

    assert [attempt.ticket for attempt in engine.sent] == [0, 1]

    dispatcher.answer(engine.sent[0].number, OK, 1.0)

    assert [attempt.ticket for attempt in engine.sent] == [0, 1, 2]


def test_jobs_wait_for_a_worker_to_come(dispatcher, engine):
    dispatcher.submit(0, job(), 0.0)
    assert engine.sent == []

    dispatcher.join(worker("late"), 9.0)

    assert [attempt.worker for attempt in engine.sent] == ["late"]


def test_the_emptiest_worker_is_next(dispatcher, engine):
    dispatcher.join(worker("a", n_slots=2), 0.0)
    dispatcher.join(worker("b", n_slots=3), 0.0)
    for ticket in range(5):
        dispatcher.submit(ticket, job(), 0.0)

    assert [attempt.worker for attempt in engine.sent] == ["b", "a", "b", "a", "b"]


def test_workers_on_one_host_share_its_memory(dispatcher, engine):
    dispatcher.join(worker("a", n_slots=4, host="h", megabytes=10_000), 0.0)
    dispatcher.join(worker("b", n_slots=4, host="h", megabytes=10_000), 0.0)
    for ticket in range(8):
        dispatcher.submit(ticket, job(megabytes=4000), 0.0)

    assert len(engine.sent) == 2
    assert dispatcher.n_slots == 2


def test_a_host_with_little_memory_still_gets_one_job_at_a_time(dispatcher, engine):
    dispatcher.join(worker("a", n_slots=4, megabytes=1000), 0.0)
    for ticket in range(3):
        dispatcher.submit(ticket, job(megabytes=4000), 0.0)

    assert len(engine.sent) == 1
    assert dispatcher.n_slots == 1


def test_a_limit_of_jobs_is_kept(engine, answers):
    dispatcher = Dispatcher(engine, lambda *answer: answers.append(answer), most_jobs=2)
    dispatcher.join(worker("a", n_slots=8), 0.0)
    for ticket in range(4):
        dispatcher.submit(ticket, job(), 0.0)

    assert len(engine.sent) == dispatcher.n_slots == 2


def test_the_jobs_of_a_dead_worker_go_to_another_one_first(dispatcher, engine, answers):
    dispatcher.join(worker("a", n_slots=2), 0.0)
    for ticket in range(3):
        dispatcher.submit(ticket, job(), 0.0)

    dispatcher.leave("a", 1.0)
    dispatcher.join(worker("b", n_slots=3), 2.0)

    assert [(attempt.ticket, attempt.worker) for attempt in engine.sent[2:]] == [(0, "b"), (1, "b"), (2, "b")]
    assert answers == []


def test_the_answer_of_a_given_up_attempt_is_dropped(dispatcher, engine, answers):
    dispatcher.join(worker("a"), 0.0)
    dispatcher.submit(0, job(), 0.0)
    dispatcher.leave("a", 1.0)
    dispatcher.join(worker("b"), 1.0)

    dispatcher.answer(engine.sent[0].number, OK, 2.0)
    dispatcher.answer(engine.sent[1].number, OK, 3.0)
    dispatcher.answer(engine.sent[1].number, OK, 4.0)

    assert [ticket for ticket, _ in answers] == [0]


def test_a_job_that_kills_four_workers_has_crashed(dispatcher, answers):
    dispatcher.submit(0, job(), 0.0)
    for number in range(4):
        assert answers == []
        dispatcher.join(worker(f"w{number}"), number)
        dispatcher.leave(f"w{number}", number + 0.5)

    assert [(ticket, outcome.status) for ticket, outcome in answers] == [(0, "crashed")]
    assert "4 workers" in answers[0][1].error
    assert dispatcher.n_open == 0


def test_no_job_is_to_blame_when_the_scheduler_dies(dispatcher, engine, answers):
    dispatcher.submit(0, job(), 0.0)
    for number in range(6):
        dispatcher.join(worker("a"), number)
        dispatcher.reset(number + 0.5)

    assert answers == []
    assert dispatcher.n_open == 1
    assert len(engine.withdrawn) == 6


def test_a_job_that_never_begins_is_given_to_another_worker(dispatcher, engine):
    dispatcher.join(worker("a"), 0.0)
    dispatcher.submit(0, job(), 0.0)
    dispatcher.arrived(engine.sent[0].number, 1.0)
    dispatcher.tick(30.9)
    assert engine.withdrawn == []

    dispatcher.join(worker("b"), 31.0)
    dispatcher.tick(31.1)

    assert engine.withdrawn == [engine.sent[0]]
    assert [attempt.worker for attempt in engine.sent] == ["a", "b"]


@pytest.mark.parametrize(("begins", "n_answers"), [(False, 0), (True, 1)])
def test_a_job_is_to_blame_for_silence_only_after_it_began(dispatcher, engine, answers, begins, n_answers):
    dispatcher.submit(0, job(seconds=10.0), 0.0)
    for number in range(4):
        now = 100.0 * number
        dispatcher.join(worker(f"w{number}"), now)
        dispatcher.arrived(engine.sent[-1].number, now)
        if begins:
            dispatcher.begun(engine.sent[-1].number, now)
        dispatcher.tick(now + 99.0)

    assert len(engine.sent) == 4
    assert len(answers) == n_answers


def test_a_job_that_begins_must_be_answered_soon_after_its_limit(dispatcher, engine):
    overtime = Overtime("accuracy", (), seconds=20.0, left=100.0)
    dispatcher.join(worker("a"), 0.0)
    dispatcher.submit(0, job(seconds=10.0, overtime=overtime), 0.0)
    dispatcher.begun(engine.sent[0].number, 2.0)

    dispatcher.tick(26.9)
    assert engine.withdrawn == []
    dispatcher.tick(27.1)

    assert engine.withdrawn == [engine.sent[0]]


def test_a_silent_worker_gets_no_job_until_it_is_heard_of(dispatcher, engine):
    dispatcher.join(worker("a"), 0.0)
    dispatcher.submit(0, job(), 0.0)
    dispatcher.arrived(engine.sent[0].number, 0.0)
    dispatcher.tick(31.0)
    assert dispatcher.silent == ("a",)
    assert dispatcher.n_slots == 0
    assert len(engine.sent) == 1

    dispatcher.heard_of("a", 40.0)

    assert len(engine.sent) == 2


def test_the_deadline_in_a_job_is_nearer_after_waiting(dispatcher, engine):
    dispatcher.submit(0, job(overtime=Overtime("accuracy", (), seconds=20.0, left=100.0)), 0.0)

    dispatcher.join(worker("a"), 30.0)

    assert engine.sent[0].job.overtime.left == 70.0


def test_a_cancelled_job_makes_room_and_is_never_answered(dispatcher, engine, answers):
    dispatcher.join(worker("a"), 0.0)
    for ticket in range(3):
        dispatcher.submit(ticket, job(), 0.0)

    dispatcher.cancel(0, 1.0)
    dispatcher.cancel(2, 1.0)
    dispatcher.answer(engine.sent[0].number, OK, 2.0)
    dispatcher.answer(engine.sent[1].number, OK, 3.0)

    assert [ticket for ticket, _ in answers] == [1]
    assert len(engine.sent) == 2


def test_an_outcome_says_where_it_was_made(dispatcher, engine, answers):
    dispatcher.join(worker("a", environment={"host": "far"}, scale=0.5), 0.0)
    dispatcher.submit(0, job(), 0.0)

    dispatcher.answer(engine.sent[0].number, OK, 1.0)

    assert (answers[0][1].environment, answers[0][1].scale) == ({"host": "far"}, 0.5)


def test_a_lost_attempt_is_made_again_without_blame(dispatcher, engine, answers):
    dispatcher.join(worker("a"), 0.0)
    dispatcher.submit(0, job(), 0.0)
    for number in range(9):
        dispatcher.lose(engine.sent[number].number, number)

    assert len(engine.sent) == 10
    assert answers == []
