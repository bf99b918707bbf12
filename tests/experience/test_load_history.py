"""From a knowledge base to an experience."""

import numpy as np

from metaml.experience.load_history import run_history
from metaml.spaces import Float, Space
from metaml_kb import DatasetRecord, EnvironmentRecord, FoldPlanRecord, KnowledgeBase, Run
from tests.metalearning.worlds import fill


def test_empty_kb_gives_no_experience_and_says_so(empty_kb: KnowledgeBase):
    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.is_empty
    assert "no complete run of toy" in found.notes[0]


def test_an_algorithm_that_nobody_ran_gives_no_experience_and_says_so(empty_kb: KnowledgeBase):
    fill(empty_kb, 1)

    found = run_history(empty_kb, "svm", metric="accuracy")

    assert found.is_empty
    assert "no complete run of svm" in found.notes[0]


def test_each_run_becomes_a_row_on_a_scale_common_to_all_data_sets(empty_kb: KnowledgeBase):
    fill(empty_kb, 3)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.n_datasets == 3
    assert len(found.scores) == 24
    for places in found.places:
        assert abs(found.standard[places].mean()) < 1e-9
        assert abs(found.standard[places].std() - 1) < 1e-9


def test_one_data_set_is_said_to_be_too_few(empty_kb: KnowledgeBase):
    fill(empty_kb, 1)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.n_datasets == 1
    assert "on 1 data set: too few" in found.notes[0]


def test_regression_says_nothing_about_classification(empty_kb: KnowledgeBase):
    fill(empty_kb, 3, task="regression", metric="r2")

    found = run_history(empty_kb, "toy", metric="r2", task="binary")

    assert found.is_empty
    assert "are of regression" in found.notes[0]


def test_unknown_metric_is_said_with_those_there_are(empty_kb: KnowledgeBase):
    fill(empty_kb, 2)

    found = run_history(empty_kb, "toy", metric="roc_auc")

    assert found.is_empty
    assert "only by accuracy" in found.notes[0]


def test_a_data_set_that_only_has_accuracy_is_compared_by_it(empty_kb: KnowledgeBase):
    for number, scores in enumerate(({"roc_auc": 0.9, "accuracy": 0.1}, {"accuracy": 0.7})):
        empty_kb.add_dataset(DatasetRecord(f"{number:032x}", f"set {number}", task="binary"))
        run = Run(dataset=f"{number:032x}", algorithm="toy", config={"rate": 0.1}, scores=scores)
        empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="roc_auc")

    assert dict(zip(found.names, found.scores.tolist(), strict=True)) == {"set 0": 0.9, "set 1": 0.7}


def test_data_set_left_out_takes_its_namesakes_and_lookalikes_with_it(empty_kb: KnowledgeBase):
    fill(empty_kb, 4, names=["iris", "iris (2)", "wine", "glass"])
    twin = {"NumberOfInstances": 100.0, "NumberOfFeatures": 5.0, "NumberOfClasses": 3.0}
    empty_kb.add_dataset(DatasetRecord("f" * 32, "flowers", task="multiclass"))
    empty_kb.add_metafeatures("f" * 32, twin, source="computed")
    empty_kb.add_run(Run(dataset="f" * 32, algorithm="toy", config={"rate": 0.1}, scores={"accuracy": 0.5}))

    found = run_history(empty_kb, "toy", metric="accuracy", leave_out=[f"{0:032x}"])

    assert found.names == ("wine", "glass")


def test_new_data_set_leaves_out_what_looks_like_it(empty_kb: KnowledgeBase):
    fill(empty_kb, 3)
    like = empty_kb.metafeatures().loc[f"{1:032x}"].to_dict()

    found = run_history(empty_kb, "toy", metric="accuracy", like=like)

    assert found.names == ("d0", "d2")


def test_data_sets_of_one_name_are_kept_apart(empty_kb: KnowledgeBase):
    fill(empty_kb, 3, names=["same", "same", "other"])

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.n_datasets == 3
    assert sorted(np.bincount(found.groups).tolist()) == [8, 8, 8]


def test_repetitions_of_a_configuration_are_averaged(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    for seed, score in enumerate((0.5, 0.7)):
        run = Run(dataset="a" * 32, algorithm="toy", config={"rate": 0.1}, scores={"accuracy": score}, seed=seed)
        empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.scores.round(6).tolist() == [0.6]


def test_runs_on_other_rows_are_experience_with_another_size_and_are_not_averaged(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a", n_rows=9000))
    for max_rows, score in ((None, 0.9), (500, 0.6)):
        empty_kb.add_fold_plan(FoldPlanRecord(str(max_rows), "kfold", n_folds=5, max_rows=max_rows))
        run = Run(
            dataset="a" * 32,
            algorithm="toy",
            config={"rate": 0.1},
            scores={"accuracy": score},
            fold_plan=str(max_rows),
        )
        empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.datasets == ("a" * 32 + "@500", "a" * 32)
    assert found.names == ("a", "a")
    assert {found.datasets[k]: score for k, score in zip(found.groups, found.scores, strict=True)} == {
        "a" * 32 + "@500": 0.6,
        "a" * 32: 0.9,
    }
    assert sorted(found.n_rows.tolist()) == [500.0, 9000.0]
    assert found.metafeatures["NumberOfInstances"].tolist() == [500.0, 9000.0]


def test_runs_on_other_folds_are_not_averaged_and_their_seconds_are_of_five_folds(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    for n_folds in (1, 5):
        empty_kb.add_fold_plan(FoldPlanRecord(str(n_folds), "kfold", n_folds=n_folds))
        run = Run(
            dataset="a" * 32,
            algorithm="toy",
            config={"rate": 0.1},
            scores={"accuracy": 0.5},
            fit_seconds=float(n_folds),
            fold_plan=str(n_folds),
        )
        empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert sorted(found.n_folds.tolist()) == [1.0, 5.0]
    assert found.seconds.tolist() == [5.0, 5.0]


def test_an_own_repetition_of_what_the_starter_ran_weighs_three_times_as_much(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    for seed, (kind, score, rates) in enumerate((("starter", 0.4, (0.1, 0.2)), ("bot", 0.8, (0.1, 0.3)))):
        session = empty_kb.start_session(kind)
        for rate in rates:
            run = Run(
                dataset="a" * 32,
                algorithm="toy",
                config={"rate": rate},
                scores={"accuracy": score},
                seed=seed,
                session=session,
            )
            empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert [config["rate"] for config in found.configs] == [0.1, 0.2, 0.3]
    assert found.scores.round(6).tolist() == [0.7, 0.4, 0.8]
    assert (found.weights / found.weights[1]).round(6).tolist() == [3.0, 1.0, 3.0]


def test_values_that_only_look_equal_stay_apart(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    for value in (None, "None", True):
        empty_kb.add_run(Run(dataset="a" * 32, algorithm="toy", config={"x": value}, scores={"accuracy": 0.5}))

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert [config["x"] for config in found.configs] == [None, "None", True]


def test_few_folds_and_proposed_configurations_weigh_less(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    for key, n_folds in (("ten", 10), ("two", 2)):
        empty_kb.add_fold_plan(FoldPlanRecord(key, "kfold", n_folds=n_folds))
        for rate, origin in ((0.1, "random"), (0.2, "surrogate")):
            config = {"rate": rate, "plan": key}
            run = Run(
                dataset="a" * 32,
                algorithm="toy",
                config=config,
                scores={"accuracy": rate},
                origin=origin,
                fold_plan=key,
            )
            empty_kb.add_run(run)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.weights.round(3).tolist() == [1.0, 0.5, 0.6, 0.3]


def test_seconds_come_with_the_reference_of_their_host(empty_kb: KnowledgeBase):
    empty_kb.add_dataset(DatasetRecord("a" * 32, "a"))
    machine = empty_kb.add_environment(EnvironmentRecord({}, host="fast", reference_seconds=0.25))
    session = empty_kb.start_session("bot")
    empty_kb.add_run(
        Run(
            dataset="a" * 32,
            algorithm="toy",
            config={"rate": 0.5},
            scores={"accuracy": 0.5},
            fit_seconds=2.0,
            predict_seconds=1.0,
            session=session,
            environment=machine,
        )
    )

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.seconds.tolist() == [3.0]
    assert found.reference.tolist() == [0.25]


def test_hyperparameters_the_space_does_not_have_are_ignored(empty_kb: KnowledgeBase):
    fill(empty_kb, 2)
    space = Space([Float("rate", 0.001, 1.0, default=0.1, log=True)])

    found = run_history(empty_kb, "toy", metric="accuracy", space=space)

    assert found.encoder.names == ("rate",)
    assert found.encoder.codings_[0].is_log


def test_runs_on_the_best_columns_alone_are_no_experience(empty_kb: KnowledgeBase):
    fill(empty_kb, 1)
    (fingerprint,) = empty_kb.datasets()["fingerprint"]
    before = len(run_history(empty_kb, "toy", metric="accuracy").scores)

    config = {"x": 0.5, "best_columns": 2}
    empty_kb.add_run(Run(dataset=fingerprint, algorithm="toy", config=config, scores={"accuracy": [0.1] * 3}))

    assert len(run_history(empty_kb, "toy", metric="accuracy").scores) == before


def test_space_gives_columns_to_what_no_run_has_varied(empty_kb: KnowledgeBase):
    space = Space([Float("rate", 0.0, 1.0, default=0.1), Float("new", 0.0, 1.0, default=0.5)])

    nothing = run_history(empty_kb, "toy", metric="accuracy", space=space)
    fill(empty_kb, 2)
    found = run_history(empty_kb, "toy", metric="accuracy", space=space)

    assert nothing.encoder.names == found.encoder.names == ("rate", "new")
    assert np.isnan(found.rows[:, 1]).all()


def test_large_data_sets_are_thinned_out(empty_kb: KnowledgeBase):
    fill(empty_kb, 2, n_runs=30)

    found = run_history(empty_kb, "toy", metric="accuracy", most_per_dataset=10)

    assert np.bincount(found.groups).tolist() == [10, 10]


def test_sizes_of_the_record_stand_in_for_metafeatures(empty_kb: KnowledgeBase):
    fill(empty_kb, 2, is_described=False)

    found = run_history(empty_kb, "toy", metric="accuracy")

    assert found.metafeatures["NumberOfInstances"].tolist() == [100.0, 1_000_000.0]
    assert found.facts[0] is not None
    assert found.facts[0].n_columns == 4
