"""The runs of one algorithm on many data sets, as arrays."""

import numpy as np

from metaml.encoding import Facts
from metaml.metalearning.history import RunHistory, facts_of, leave_out_parts, make_history


def small(**changes) -> RunHistory:
    fields = {
        "datasets": ["a", "b", "c"],
        "groups": np.array([0, 1, 0, 1, 0]),
        "configs": [{"rate": rate} for rate in (0.1, 0.2, 0.3, 0.4, 0.5)],
        "scores": np.array([1.0, 10.0, 2.0, 30.0, 3.0]),
        "metafeatures": {"a": {"NumberOfInstances": 100.0}, "b": {"NumberOfInstances": 200.0}},
    }
    return make_history("toy", "accuracy", **{**fields, **changes})


def test_runs_are_found_by_their_data_set():
    history = small()

    assert [places.tolist() for places in history.places] == [[0, 2, 4], [1, 3], []]
    assert history.n_rows.tolist() == [100.0, 200.0, 100.0, 200.0, 100.0]
    assert history.metafeatures_of(1) == {"NumberOfInstances": 200.0}


def test_each_data_set_has_its_own_scale():
    history = small()

    assert history.standard[history.places[1]].tolist() == [-1.0, 1.0]
    assert history.spread.tolist() == [np.std([1.0, 2.0, 3.0]), 10.0, 0.0]


def test_some_data_sets_can_be_kept_or_left_out():
    history = small()

    kept = history.keep([1])

    assert (kept.datasets, kept.scores.tolist(), kept.groups.tolist()) == (("b",), [10.0, 30.0], [0, 0])
    assert history.without([0, 2]).datasets == kept.datasets
    assert history.keep([]).is_empty


def test_thinning_keeps_the_scale_of_all_runs():
    thin = small().thinned(1)

    assert np.bincount(thin.groups).tolist() == [1, 1]
    assert thin.spread.tolist() == small().spread.tolist()


def test_runs_of_more_weight_are_kept_more_often():
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1e6])

    kept = [small(weights=weights).keep([0]).thinned(1, seed=seed).scores.item() for seed in range(5)]

    assert kept == [3.0] * 5


def test_other_scores_bring_their_own_scale():
    turned = small().with_scores(-small().scores)

    assert turned.standard.tolist() == (-small().standard).tolist()
    assert turned.spread.tolist() == small().spread.tolist()


def test_a_data_set_of_unknown_size_has_no_facts():
    assert facts_of({"NumberOfInstances": 150.0}) is None
    assert facts_of({"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0}) == Facts(150, 4, 0)


def test_every_data_set_is_left_out_once():
    parts = list(leave_out_parts("abcdefg", 3))

    assert len(parts) == 3
    assert sorted(k for part in parts for k in part) == list(range(7))
    assert [len(part) for part in leave_out_parts("abc", None)] == [1, 1, 1]


def test_samples_of_a_data_set_are_left_out_with_it():
    found = small(datasets=["a", "a@500", "c"]).without([0])

    assert found.datasets == ("c",)
