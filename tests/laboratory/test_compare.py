"""The laboratory on recorded runs of a knowledge base."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from metaml.errors import BadRequest
from metaml.laboratory.compare import methods_of, study
from metaml.laboratory.load import configs_of, pools_of
from metaml_cli.main import app
from metaml_kb import DatasetRecord, Run, open_kb


@pytest.fixture
def recorded(tmp_path):
    """Two data sets with 40 runs of two algorithms each; the score is best at x = 0.7."""
    rng = np.random.default_rng(0)
    with open_kb(tmp_path / "kb.db") as kb:
        for dataset in ("north", "south"):
            kb.add_dataset(DatasetRecord(dataset, dataset))
            for algorithm, level in (("first", 0.8), ("second", 0.9)):
                kb.add_runs(
                    Run(
                        dataset=dataset,
                        algorithm=algorithm,
                        config={"x": float(x), "kind": "a" if x < 0.5 else None},
                        scores={"accuracy": [level - (x - 0.7) ** 2]},
                        fit_seconds=float(x),
                    )
                    for x in rng.random(40)
                )
        yield kb


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


def test_the_command_prints_a_table_and_writes_curves(recorded, tmp_path):
    arguments = ["replay", "--kb", recorded.name, "--optimisers", "gbqr,random", "--seeds", "1", "--evaluations", "10"]

    result = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "out"), "--format", "json"])

    assert result.exit_code == 0, result.output
    assert [row["optimiser"] for row in json.loads(result.stdout)] == ["gbqr", "random"] * 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "curves.csv",
        "first-evaluations.svg",
        "first-seconds.svg",
        "second-evaluations.svg",
        "second-seconds.svg",
        "simulations.csv",
    ]


def test_the_command_takes_a_table(tmp_path):
    rows = "".join(f"3,{x},{0.5 + x / 100}\n" for x in range(30))
    (tmp_path / "forest.csv").write_text("task,depth,acc\n" + rows)

    result = CliRunner().invoke(
        app,
        ["replay", "--table", str(tmp_path / "forest.csv"), "--dataset-column", "task", "--score-column", "acc",
         "--optimisers", "random", "--seeds", "1", "--evaluations", "5", "--format", "json"],
    )  # fmt: skip

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["algorithm"] == "forest"
