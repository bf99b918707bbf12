"""The dispatcher on a cluster with a virtual clock: many workers, many jobs, many deaths."""

from collections import Counter

import numpy as np
import pytest

from metaml.cluster.dispatcher import AttemptTimeouts
from metaml.cluster.simulated_engine import SimulatedEngine, Weather
from metaml.evaluation import Job, Limits


def simulate(n_workers, n_jobs, weather, seed=0, **options):
    seen = Counter()
    jobs = (Job("d", "svm", {"C": number}, None, 0, Limits(60.0)) for number in range(n_jobs))
    engine = SimulatedEngine(n_workers, weather, np.random.default_rng(seed))
    return engine.run(jobs, lambda job, outcome: seen.update([(job.config["C"], outcome.status)]), **options), seen


@pytest.mark.parametrize("seed", range(3))
def test_each_job_is_answered_once_while_workers_die(seed):
    done, seen = simulate(50, 3000, Weather(death_rate=0.01), seed)

    assert len(seen) == 3000
    assert set(seen.values()) == {1}
    assert {status for _, status in seen} == {"ok"}
    assert done.n_deaths > 10
    assert 0.5 < done.busy_share < 1


def test_workers_that_fall_silent_cost_time_but_no_job():
    done, seen = simulate(20, 500, Weather(silence_rate=0.01), patience=AttemptTimeouts(5.0, 1.0))

    assert len(seen) == 500
    assert set(seen.values()) == {1}
    assert done.n_sent > 500


def test_without_deaths_each_job_is_sent_once():
    done, _ = simulate(10, 300, Weather())

    assert (done.n_sent, done.n_deaths) == (300, 0)
