"""What a job may take: its limit, and the allowance of each fit."""

import math

import numpy as np
import pytest

from metaml.budget import Budget
from metaml.evaluation import make_plan
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.candidates import least_score, without_weak
from metaml.tuning.job_limits import JobLimits
from tests.tuning.sessions import trial_of


def limits_of(metric="neg_log_loss", **changes):
    iris = builtin.load("iris")
    settings = TuneSettings(**{"seconds": 100.0, **changes})
    plan = make_plan(iris, settings.n_folds)
    return JobLimits(iris, plan, metric, settings, Budget(settings.seconds), True, ())


def test_the_fits_of_an_evaluation_share_its_time():
    job = limits_of().job("lightgbm", {}, ())

    assert 0 < job.fit_seconds * job.plan.n_folds < job.limits.seconds


def test_a_short_evaluation_keeps_a_moment_to_predict_and_to_send_its_models():
    job = limits_of(seconds=10.0, n_folds=1).job("random_forest", {}, (), left=2.0)

    assert job.limits.seconds - job.fit_seconds >= 0.5


def test_fewer_folds_give_each_fit_more_time():
    five, two = (limits_of(n_folds=n).job("lightgbm", {}, ()).fit_seconds for n in (5, 2))

    assert two == pytest.approx(2.5 * five)


def test_counted_evaluations_have_no_allowance_so_that_they_are_the_same_again():
    assert limits_of(seconds=None, n_iterations=5).job("lightgbm", {}, ()).fit_seconds is None


def test_only_what_may_be_kept_is_asked_back():
    trials = [trial_of("svm", score / 100) for score in range(60, 90)]

    def bar(algorithm, **changes):
        return limits_of("roc_auc", **changes).job(algorithm, {}, trials, is_always_kept=False).bar

    assert limits_of("roc_auc").job("svm", {}, trials).bar is None
    assert bar("svm").score == 0.7
    assert bar("lightgbm").score == -math.inf
    assert bar("svm", keep_predictions="float16") is None


@pytest.mark.parametrize("seed", range(5))
def test_a_trial_below_the_least_score_is_never_kept_for_its_score(seed):
    rng = np.random.default_rng(seed)
    trials = []
    for score in rng.permutation(80) / 100:
        algorithm = str(rng.choice(["svm", "lightgbm", "mlp"], p=[0.5, 0.4, 0.1]))
        least = least_score(algorithm, trials)
        trials.append(trial_of(algorithm, score))
        _, kept = without_weak(trials, lambda _: False)

        assert (trials[-1].run.identity in kept) == (score >= least)


def test_no_job_has_more_than_the_time_that_is_left():
    assert limits_of().job("lightgbm", {}, (), left=3.0).limits.seconds == 3.0
