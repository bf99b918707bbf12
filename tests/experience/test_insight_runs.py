"""Runs of a real knowledge base as the analyses want them."""

import math

import pytest

from metaml.errors import BadRequest
from metaml.experience.insight_runs import algorithm_runs, dataset_sizes, score_table
from metaml_kb import DatasetRecord, FoldPlanRecord, Run


@pytest.fixture
def stored(empty_kb):
    """Two data sets of one name, a default and random runs of two algorithms, one run that a search proposed."""
    empty_kb.add_dataset(DatasetRecord("small", "twin", task="binary", n_rows=100, n_columns=4, n_classes=2))
    empty_kb.add_dataset(DatasetRecord("large", "twin", task="binary", n_rows=9000, n_columns=4, n_classes=2))
    for key in ("five", "ten"):
        empty_kb.add_fold_plan(FoldPlanRecord(key, n_folds=5))
    runs = []
    for dataset in ("small", "large"):
        for algorithm in ("svm", "other"):
            for k in range(6):
                origin = "default" if k == 0 else "random"
                scores = {"accuracy": 0.5 + 0.05 * k, "neg_log_loss": -0.3}
                config = {"C": 2.0**k}
                runs.append(_run(dataset, algorithm, config, scores, origin))
        runs.append(_run(dataset, "svm", {"C": 99.0}, {"accuracy": 0.9, "neg_log_loss": -0.3}, "surrogate"))
        runs.append(_run(dataset, "svm", {"C": 1.0}, {"accuracy": 0.99, "neg_log_loss": -0.1}, "random", plan="ten"))
    empty_kb.add_runs(runs)
    return empty_kb


def _run(dataset, algorithm, config, scores, origin, plan="five"):
    return Run(dataset=dataset, algorithm=algorithm, config=config, scores=scores, origin=origin, fold_plan=plan)


def test_runs_on_data_sets_of_one_name_are_kept_apart(stored):
    runs = algorithm_runs(stored, "other", metric="accuracy")

    assert sorted(runs.datasets["fingerprint"]) == ["large", "small"]
    assert len(runs.scores) == 12


def test_only_the_fold_plan_with_the_most_runs_counts(stored):
    runs = algorithm_runs(stored, "svm", metric="accuracy")

    assert max(runs.scores) == 0.9


def test_what_a_search_proposed_has_no_weight(stored):
    runs = algorithm_runs(stored, "other", metric="accuracy")
    searched = algorithm_runs(stored, "svm", metric="accuracy")

    assert runs.weights.tolist() == [0, 1, 1, 1, 1, 1] * 2
    assert searched.weights[[config["C"] == 99.0 for config in searched.configs]].tolist() == [0, 0]


def test_data_sets_are_chosen_by_their_rows(stored):
    runs = algorithm_runs(stored, "svm", metric="log_loss", rows=(0, 500))

    assert runs.datasets["fingerprint"].tolist() == ["small"]
    assert runs.metric == "neg_log_loss"


def test_sizes_that_only_metafeatures_tell_are_filled_in(stored):
    stored.add_dataset(DatasetRecord("imported", "imported"))
    stored.add_metafeatures("imported", {"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0})

    sizes = dataset_sizes(stored).loc["imported"]

    assert (sizes["n_rows"], sizes["n_columns"]) == (150, 4)
    assert math.isnan(sizes["n_classes"])


def test_scores_of_defaults_and_of_the_best_of_a_few(stored):
    defaults = score_table(stored, metric="accuracy")
    best = score_table(stored, metric="accuracy", of="best", n=6)

    assert defaults.loc["small"].to_dict() == {"other": 0.5, "svm": 0.5}
    assert best.loc["small", "other"] == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"algorithm": "none"}, "It has runs of: svm, other"),
        (
            {"algorithm": "svm", "metric": "roc_auc"},
            "no roc_auc of its runs of svm. It has: accuracy, neg_log_loss",
        ),
        ({"algorithm": "svm", "rows": (1, 2)}, "Ask for other rows"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(stored, options, says):
    with pytest.raises(BadRequest, match=says):
        algorithm_runs(stored, **{"metric": "accuracy", **options})
