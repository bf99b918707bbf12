"""What a search is asked to do, and how many folds and rows the time allows."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.search.settings import TuneSettings, chosen, describe_seconds, folds_and_rows, longest_evaluation
from metaml.sources import builtin


def test_large_data_are_cut_to_what_the_time_allows():
    columns = pd.DataFrame({f"c{k}": np.arange(50_000.0) % (k + 7) for k in range(20)})
    wide = from_frame(columns.assign(y=np.arange(50_000) % 2), target="y")

    assert folds_and_rows(wide, TuneSettings(seconds=10.0)) == (1, 40_000)
    assert folds_and_rows(wide, TuneSettings(seconds=110.0)) == (5, 58_666)
    assert folds_and_rows(wide, TuneSettings(seconds=10.0, max_rows=100)) == (5, 100)
    assert folds_and_rows(wide, TuneSettings(seconds=None, n_iterations=3)) == (5, None)
    assert folds_and_rows(builtin.load("iris"), TuneSettings(seconds=10.0)) == (5, 3809)


def test_a_part_that_is_too_small_to_judge_by_is_not_held_out():
    few = from_frame(pd.DataFrame({f"c{k}": np.arange(4000.0) for k in range(200)}).assign(y=np.arange(4000) % 2))

    assert folds_and_rows(few, TuneSettings(seconds=10.0)) == (5, 2000)


def test_a_part_with_few_of_a_rare_class_is_not_held_out():
    columns = pd.DataFrame({f"c{k}": np.arange(20_000.0) % (k + 7) for k in range(11)})
    rare = from_frame(columns.assign(y=np.arange(20_000) % 20 == 0), target="y")
    even = from_frame(columns.assign(y=np.arange(20_000) % 2 == 0), target="y")

    assert folds_and_rows(rare, TuneSettings(seconds=10.0)) == (5, None)
    assert folds_and_rows(even, TuneSettings(seconds=10.0)) == (1, 72_727)


def test_folds_that_have_time_for_nearly_all_rows_use_all_of_them():
    columns = pd.DataFrame({f"c{k}": np.arange(4000.0) % (k + 7) for k in range(48)})
    numbers = from_frame(columns.assign(y=np.arange(4000) / 7), target="y", task="regression")

    assert folds_and_rows(numbers, TuneSettings(seconds=10.0)) == (5, None)


def test_a_part_is_held_out_where_all_folds_would_never_end():
    columns = pd.DataFrame(np.random.default_rng(0).normal(size=(1500, 600)).round(2)).add_prefix("c")
    expensive = from_frame(columns.assign(y=[f"class {k % 26}" for k in range(1500)]), target="y")

    assert folds_and_rows(expensive, TuneSettings(seconds=10.0)) == (1, 2000)
    assert folds_and_rows(expensive, TuneSettings(seconds=3000.0)) == (5, 3026)


def test_many_classes_of_many_rows_are_judged_by_a_held_out_part():
    letters = pd.DataFrame(np.random.default_rng(0).normal(size=(13_400, 16)).round(2)).add_prefix("c")
    expensive = from_frame(letters.assign(y=[f"class {k % 26}" for k in range(13_400)]), target="y")

    assert folds_and_rows(expensive, TuneSettings(seconds=10.0)) == (1, 5769)
    assert folds_and_rows(expensive, TuneSettings(seconds=60.0)) == (1, 11_538)


@pytest.mark.parametrize(
    ("names", "told"), [((), "No algorithm is left to try. Choose among: random"), (("forest",), "no algorithm forest")]
)
def test_algorithms_that_cannot_be_tried_are_refused(names, told):
    with pytest.raises(BadRequest, match=told):
        TuneSettings(algorithms=names)


def test_a_session_without_end_is_refused():
    with pytest.raises(BadRequest, match="without end"):
        TuneSettings(seconds=None)


def test_an_algorithm_to_exclude_must_exist():
    assert chosen(["svm", "mlp"], ["mlp"]) == ("svm",)
    with pytest.raises(BadRequest, match="no algorithm forest to exclude"):
        chosen(["svm"], ["forest"])


def test_choices_depend_on_the_clock_only_where_nothing_is_counted():
    assert TuneSettings(seconds=60.0).clock == 60.0
    assert TuneSettings(seconds=60.0, n_iterations=5).clock is None


def test_metafeatures_get_a_share_of_the_time():
    seconds = [describe_seconds(TuneSettings(seconds=budget)) for budget in (1.0, 50.0, 3600.0)]

    assert seconds == [0.1, 1.0, 2.0]
    assert describe_seconds(TuneSettings(seconds=None, n_iterations=5)) == 10.0


def test_no_evaluation_takes_most_of_the_time_once_one_is_complete():
    settings = TuneSettings(seconds=100.0, limits=Limits(50.0))

    assert longest_evaluation(settings, []) == 50.0
    assert longest_evaluation(settings, [1.0]) == pytest.approx(8.0)
    assert longest_evaluation(settings, [1.0], is_first_default=True) == 20.0
    assert longest_evaluation(settings, [10.0]) == 30.0


def test_where_evaluations_are_slow_one_may_take_three_times_the_typical_one():
    settings = TuneSettings(seconds=300.0)

    assert longest_evaluation(settings, [0.1, 10.0, 12.0]) == 30.0
    assert longest_evaluation(settings, [0.1, 40.0, 50.0]) == 45.0
