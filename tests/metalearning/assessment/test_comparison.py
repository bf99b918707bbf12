"""The quality of rankings on data sets that were left out."""

from functools import partial

from metaml.acquisition.committee import Expert
from metaml.arrays import Floats
from metaml.metalearning.assessment.comparison import compare_after, compare_rankings
from metaml.metalearning.assessment.growth import growth_curve
from metaml.metalearning.assessment.neighbours import Neighbours
from metaml.metalearning.assessment.quality import cross_validate
from metaml.metalearning.history import RunHistory
from tests.metalearning.worlds import make_synthetic


def test_rankings_side_by_side(synthetic: RunHistory):
    found = compare_rankings(synthetic, ("both", "metafeatures", "neighbours"), n_folds=3)

    assert found["metafeatures"].mean == 0.0
    assert found["both"].mean > 0.3
    assert len(found["neighbours"].taus) == 12


def test_neighbours_look_up_all_runs():
    crowded = make_synthetic(6, 150)

    found = compare_rankings(crowded, ("neighbours",), n_folds=3)

    assert (
        found["neighbours"].taus
        == cross_validate(
            crowded, lambda world: partial(_by_neighbours, Neighbours().fit(world)), n_folds=3, most_per_dataset=None
        ).taus
    )


def _by_neighbours(model: Neighbours, world: RunHistory, k: int) -> Floats:
    return model.predict_rows(world.rows[world.places[k]], world.metafeatures_of(k))


def test_a_few_evaluations_are_learnt_from(synthetic: RunHistory):
    after = compare_after(synthetic, (3, 8), n_folds=3, recipe="simple")

    assert set(after) == {3, 8}
    assert after[8].mean > 0.5


def test_growth_curve_has_a_regret_for_each_size():
    world = make_synthetic(13, 10)

    found = growth_curve(
        world, (Expert("gbqr", "upper_bound"),), sizes=(0, 50), n_evaluations=4, n_folds=3, most_tasks=3
    )

    assert list(found) == [0, 8]
    assert all(len(values) == 3 and min(values) >= 0 for values in found.values())
