"""What a job may take: its limit, and the allowance of each fit."""

import pytest

from metaml.budget import Budget
from metaml.evaluation import make_plan
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.job_limits import JobLimits


def limits_of(**changes):
    iris = builtin.load("iris")
    settings = TuneSettings(**{"seconds": 100.0, **changes})
    plan = make_plan(iris, settings.n_folds)
    return JobLimits(iris.fingerprint, plan, "neg_log_loss", settings, Budget(settings.seconds), True, ())


def test_the_fits_of_an_evaluation_share_its_time():
    job = limits_of().job("lightgbm", {}, ())

    assert 0 < job.fit_seconds * job.plan.n_folds < job.limits.seconds


def test_fewer_folds_give_each_fit_more_time():
    five, two = (limits_of(n_folds=n).job("lightgbm", {}, ()).fit_seconds for n in (5, 2))

    assert two == pytest.approx(2.5 * five)


def test_counted_evaluations_have_no_allowance_so_that_they_are_the_same_again():
    assert limits_of(seconds=None, n_iterations=5).job("lightgbm", {}, ()).fit_seconds is None


def test_no_job_has_more_than_the_time_that_is_left():
    assert limits_of().job("lightgbm", {}, (), left=3.0).limits.seconds == 3.0
