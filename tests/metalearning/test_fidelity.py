"""Data sets at their fidelity."""

import numpy as np
import pandas as pd

from metaml.metalearning.fidelity import aligned, at_rows, by_size, fingerprint_of, n_distinct, sampled


def test_about_equal_numbers_of_rows_are_one_size_and_others_are_not():
    datasets, groups = by_size(["f"] * 4, np.array([500.0, 2000.0, 2100.0, 9000.0]), np.full(4, 9000.0))

    assert groups[1] == groups[2]
    assert len(datasets) == 3
    assert n_distinct(datasets) == 1


def test_runs_of_unknown_size_are_of_the_whole_data_set():
    datasets, _ = by_size(["f", "g"], np.array([np.nan, 100.0]), np.array([np.nan, np.nan]))

    assert datasets == ["f", "g"]


def test_a_sample_has_the_counts_of_its_rows_and_the_shares_of_the_whole():
    whole = pd.DataFrame(
        {"NumberOfInstances": [8000.0], "MinorityClassSize": [800.0], "MinorityClassPercentage": [10.0]}, index=["f"]
    )

    found = at_rows(whole, [sampled("f", 2000.0)]).iloc[0]

    assert found.to_dict() == {"NumberOfInstances": 2000.0, "MinorityClassSize": 200.0, "MinorityClassPercentage": 10.0}
    assert fingerprint_of(str(found.name)) == "f"


def test_an_easier_fold_plan_is_brought_to_the_level_of_the_usual_one():
    scores = np.array([0.5, 0.6, 0.7, 0.65, 0.75, 0.95])
    plans, configs = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 3])

    found = aligned(scores, np.zeros(6, dtype=np.int64), plans, configs)

    assert found.round(6).tolist() == [0.5, 0.6, 0.7, 0.5, 0.6, 0.8]


def test_scores_of_other_data_sets_do_not_shift():
    scores = np.array([0.5, 0.9])

    assert aligned(scores, np.array([0, 1]), np.array([0, 1]), np.array([0, 0])).tolist() == [0.5, 0.9]
