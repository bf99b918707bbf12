"""The laboratory on recorded runs of a knowledge base."""

import pytest

from metaml.errors import BadRequest
from metaml.laboratory.compare import methods_of, study
from metaml.laboratory.load import configs_of, pools_of
from metaml_kb import Run


def test_pools_hold_configurations_scores_and_seconds(recorded):
    pools = pools_of(recorded, metric="accuracy")

    pool = pools["first"][0]
    assert {name: [p.dataset for p in members] for name, members in pools.items()} == {
        "first": ["north", "south"],
        "second": ["north", "south"],
    }
    assert len(pool.configs) == 40
    assert pool.seconds is not None
    assert {config["kind"] for config in pool.configs} == {"a", None}
    best = pool.configs[int(pool.scores.argmax())]
    assert abs(float(best["x"] or 0) - 0.7) < 0.1


def test_repetitions_are_averaged_and_large_pools_cut_down(recorded):
    run = Run(dataset="north", algorithm="first", config={"x": 0.5, "kind": "a"}, seed=1, scores={"accuracy": 0.0})
    recorded.add_runs(
        [run, Run(dataset="north", algorithm="first", config=run.config, seed=2, scores={"accuracy": 1.0})]
    )

    whole = pools_of(recorded, metric="accuracy", algorithms=["first"])["first"][0]
    cut = pools_of(recorded, metric="accuracy", algorithms=["first"], most=25)["first"][0]

    assert whole.scores[whole.configs.index({"kind": "a", "x": 0.5})] == 0.5
    assert len(cut.configs) == 25


def test_inactive_hyperparameters_are_left_out_of_configurations(recorded):
    recorded.add_run(Run(dataset="north", algorithm="first", config={"algorithm": "SAMME"}, scores={"accuracy": 0.1}))

    assert configs_of(recorded.runs())[-1] == {"algorithm": "SAMME"}


def test_too_few_runs_raise_an_error(recorded):
    with pytest.raises(BadRequest, match="Make some with metaml bot"):
        pools_of(recorded, metric="accuracy", least=100)


def test_a_study_compares_optimisers_and_policies(recorded, tmp_path):
    pools = pools_of(recorded, metric="accuracy")
    methods = methods_of(["gaussian_process", "random"])

    found = study(pools, methods, policies=["round_robin"], n_seeds=2, n=20, path=tmp_path / "cells.csv")
    again = study(pools, methods, policies=["round_robin"], n_seeds=2, n=20, path=tmp_path / "cells.csv")

    table = found.regret.set_index(["algorithm", "optimiser"])
    assert table.loc[("first", "random"), "minus last"] == 0
    assert table.loc[("first", "gaussian_process"), "mean"] < table.loc[("first", "random"), "mean"]
    assert set(found.curves["axis"]) == {"evaluations", "seconds"}
    assert found.policies["policy"].tolist() == ["round_robin"]
    assert again.regret.equals(found.regret)


def test_unknown_names_are_refused(recorded):
    with pytest.raises(BadRequest, match="no optimiser 'magic'"):
        methods_of(["magic"])
    with pytest.raises(BadRequest, match="no policy luck"):
        study(pools_of(recorded, metric="accuracy"), methods_of(["random"]), policies=["luck"], n_seeds=1, n=5)
