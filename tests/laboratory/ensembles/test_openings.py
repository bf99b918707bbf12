"""In which order an opening evaluates recorded configurations."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.laboratory.ensembles.kept_runs import kept_runs
from metaml.laboratory.ensembles.openings import Store, check_opening, order
from metaml_kb import open_kb
from tests.predicted import keep_predictions


def store(relatives: dict[str, set[str]] | None = None, n_datasets: int = 12) -> Store:
    with open_kb(":memory:") as kb:
        keep_predictions(kb, n_datasets)
        return Store(kept_runs(kb), relatives or {})


def algorithms(found: Store, opening: str, n: int = 2) -> list[str]:
    chosen = order(found, 0, opening, n=n, budget=None, rng=np.random.default_rng(0))
    return [found.candidates[place][0] for place in chosen]


@pytest.mark.parametrize("opening", ["ensemble/free", "families/free"])
def test_the_second_choice_for_an_ensemble_errs_elsewhere(opening: str):
    assert set(algorithms(store(), opening)) == {"lightgbm", "svm"}


def test_a_data_set_and_its_relatives_teach_nothing_about_themselves():
    found = store({"0" * 32: {"0" * 31 + "1"}}, n_datasets=4)

    assert found.others(0) == [2, 3]


def test_random_openings_are_drawn_from_the_generator():
    assert algorithms(store(), "random/free", n=5) == algorithms(store(), "random/free", n=5)


def test_an_unknown_opening_is_refused_with_those_there_are():
    with pytest.raises(BadRequest, match="levels, families, ensemble, random"):
        check_opening("gambit")


class StoreWithDefaults(Store):
    """A store whose last two candidates are the defaults of a search."""

    def defaults(self, k: int) -> list[int]:
        return [len(self.keys) - 1, len(self.keys) - 2]


@pytest.mark.parametrize(("opening", "n_defaults"), [("random", 2), ("random/one", 1), ("random/free", 0)])
def test_the_name_of_an_opening_says_how_many_defaults_come_first(opening: str, n_defaults: int):
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 12)
        found = StoreWithDefaults(kept_runs(kb), {})
    drawn = order(found, 0, "random/free", n=9, budget=None, rng=np.random.default_rng(1))
    first = found.defaults(0)[:n_defaults]

    chosen = order(found, 0, opening, n=9, budget=None, rng=np.random.default_rng(1))

    assert chosen == [*first, *(place for place in drawn if place not in first)]


def test_what_takes_most_of_the_budget_is_left_for_later():
    found = store()

    quick = order(found, 0, "levels/free", n=5, budget=12.0, rng=np.random.default_rng(0))

    assert quick[0] in (0, 1)
