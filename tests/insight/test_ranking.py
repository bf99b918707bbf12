import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from metaml.insight import expected_best, rank_algorithms, wins


def test_algorithms_that_differ_clearly_are_in_different_groups():
    rng = np.random.default_rng(0)
    base = rng.normal(size=40)
    table = pd.DataFrame({"worst": base - 1, "same": base + rng.normal(0, 0.1, 40), "best": base})

    found = rank_algorithms(table)

    assert found.names[-1] == "worst"
    assert found.groups == ((0, 1),)
    assert found.p_values[0, 2] < 0.001
    assert found.friedman < 0.001


def test_p_values_are_corrected_for_the_number_of_pairs():
    from scipy.stats import wilcoxon

    rng = np.random.default_rng(1)
    values = rng.normal(size=(30, 4)) + np.array([0, 0.3, 0.4, 0.8])
    found = rank_algorithms(pd.DataFrame(values, columns=list("abcd")))

    raw = sorted(
        wilcoxon(values[:, i] - values[:, j], zero_method="zsplit").pvalue for i, j in combinations(range(4), 2)
    )
    smallest = found.p_values[np.triu_indices(4, 1)].min()
    assert smallest == pytest.approx(min(1, 6 * raw[0]))


def test_a_failure_has_the_last_rank():
    table = pd.DataFrame({"a": [0.1, 0.2], "b": [0.9, math.nan]})

    assert rank_algorithms(table).mean_ranks == (1.5, 1.5)


def test_no_data_set_gives_an_empty_ranking():
    assert rank_algorithms(pd.DataFrame({"a": [math.nan]})).n_datasets == 0


def test_the_expected_best_is_the_mean_over_all_draws():
    scores = [0.3, 0.9, 0.1, 0.5, 0.7]

    assert expected_best(scores, 3) == pytest.approx(np.mean([max(part) for part in combinations(scores, 3)]))
    assert math.isnan(expected_best(scores, 6))


def test_wins_are_counted_by_group_and_ties_are_shared():
    table = pd.DataFrame({"a": [1.0, 0.5, 0.2], "b": [0.0, 0.5, 0.9]})

    found = wins(table, pd.Series(["small", "small", "large"]))

    assert found.loc["small"].tolist() == [1.5, 0.5, 2]
    assert found.loc["large"].tolist() == [0, 1, 1]
