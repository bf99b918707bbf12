from dataclasses import replace

import numpy as np

from metaml.insight import importance
from tests.insight.made_runs import made_runs


def test_what_decides_the_score_is_most_important_and_what_does_not_is_not_clear():
    found = {item.name: item for item in importance(made_runs(60))}

    assert found["a"].share + found["kind"].share > 0.7
    assert found["a"].is_clear
    assert found["kind"].is_clear
    assert found["b"].share < 0.1
    assert not found["b"].is_clear


def test_shares_sum_to_one():
    assert abs(sum(item.share for item in importance(made_runs())) - 1) < 1e-9


def test_random_scores_make_nothing_important():
    runs = made_runs(60, sizes=(100,) * 30)
    noise = np.random.default_rng(1).normal(size=len(runs.scores))

    found = importance(replace(runs, scores=noise))

    assert all(item.divergence < 4 * item.standard_error for item in found)
    assert all(abs(item.divergence) < 0.1 for item in found)


def test_runs_that_a_search_proposed_do_not_count():
    runs = made_runs()
    searched = replace(runs, weights=np.zeros(len(runs.scores)))

    assert importance(searched) == ()


def test_runs_with_equal_scores_at_the_edge_share_their_part():
    runs = made_runs()
    level = replace(runs, scores=np.zeros(len(runs.scores)))

    assert all(abs(item.divergence) < 1e-12 for item in importance(level))
