"""What an opening is worth, replayed on known data sets."""

import numpy as np
import pandas as pd

from metaml.metalearning.portfolio import SIMILARITY_FEATURES, Portfolio
from metaml.metalearning.worth import EQUAL, PAYS, UNKNOWN, opening_worth, replayed_curves, verdicts

N_CANDIDATES = 20


def portfolio(levels: np.ndarray, *, n_rows: float = 500.0, names: list[str] | None = None) -> Portfolio:
    n = len(levels)
    names = names or [f"d{k}" for k in range(n)]
    table = pd.DataFrame({"NumberOfInstances": n_rows, "NumberOfFeatures": 5.0 + np.arange(n)}, index=names).reindex(
        columns=list(SIMILARITY_FEATURES)
    )
    candidates = tuple(("svm", {"C": float(k)}) for k in range(levels.shape[1]))
    return Portfolio(candidates, {name: name for name in names}, levels, np.zeros((levels.shape[1], 4)), table)


def one_winner(n_datasets: int = 12) -> Portfolio:
    levels = np.zeros((n_datasets, N_CANDIDATES))
    levels[:, 7] = 1.0
    return portfolio(levels)


def test_where_one_candidate_always_wins_chance_needs_as_many_evaluations_as_there_are_candidates():
    found = opening_worth(one_winner(), {"NumberOfInstances": 500.0, "NumberOfFeatures": 8.0}, 1)

    assert found is not None
    assert found.n_datasets == 12
    assert found.evaluations.middle == N_CANDIDATES - 1
    assert np.isclose(found.level.middle, 1 - 1 / N_CANDIDATES)


def test_where_winners_are_random_nothing_is_saved_on_average():
    rng = np.random.default_rng(0)
    levels = np.zeros((40, N_CANDIDATES))
    levels[np.arange(40), rng.integers(N_CANDIDATES, size=40)] = 1.0

    table = verdicts(portfolio(levels))

    assert table.loc[table["rows"] == "below 1,000", "verdict"].iloc[0] == EQUAL


def test_the_verdict_says_at_which_sizes_it_pays_and_where_nothing_can_be_said():
    table = verdicts(one_winner()).set_index(["rows", "evaluations"])["verdict"]

    assert table["below 1,000", 3] == PAYS
    assert table["10,000 and more", 3] == UNKNOWN


def test_with_few_similar_data_sets_nothing_is_said():
    assert opening_worth(one_winner(9), {"NumberOfInstances": 500.0, "NumberOfFeatures": 8.0}, 5) is None


def test_other_sizes_of_a_data_set_teach_nothing_about_it():
    levels = np.zeros((3, 3))
    levels[0, 0] = levels[1, 0] = levels[2, 2] = 1.0

    known, _ = replayed_curves(portfolio(levels, names=["a", "a@500", "b"]), 0, 1)

    assert known[0] == 0.0


def test_defaults_come_first_in_both_curves():
    known, chance = replayed_curves(one_winner(), 0, 2, defaults=[("svm", {"C": 3.0})])

    assert known.tolist() == [0.0, 1.0]
    assert chance[0] == 0.0
    assert np.isclose(chance[1], 1 / (N_CANDIDATES - 1))


def test_an_opening_of_defaults_only_saves_nothing_and_loses_nothing():
    defaults = [("svm", {"C": 3.0}), ("svm", {"C": 7.0}), ("svm", {"C": 4.0})]

    found = opening_worth(one_winner(), {"NumberOfInstances": 500.0, "NumberOfFeatures": 8.0}, 3, defaults=defaults)

    assert found is not None
    assert found.evaluations == (0.0, 0.0, 0.0)
