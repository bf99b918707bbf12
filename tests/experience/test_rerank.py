"""Metric time travel on a real bot's runs: recomputed scores are those that were stored."""

import pytest

from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.experience.knowledge_base import open_kb
from metaml.experience.rerank import rerank, rescored_runs
from metaml.metrics import METRICS
from metaml.random_bot.bot import BotSettings, run_bot
from metaml.sources import builtin

FORMS = {"float16": 1e-3, "float32": 1e-6}


@pytest.fixture(scope="module", params=FORMS)
def stored(request, tmp_path_factory, one_pool):
    """Runs of two algorithms on a data set of each task, with predictions."""
    with open_kb(tmp_path_factory.mktemp("rerank") / "kb.db") as kb:
        chosen = [source for source in builtin.sources() if source.name in ("iris", "breast_cancer", "diabetes")]
        settings = BotSettings(
            algorithms=("decision_tree", "elastic_net"),
            n_runs=24,
            n_folds=3,
            limits=Limits(60.0),
            keep_predictions=request.param,
        )
        run_bot(kb, chosen, settings)
        yield kb, FORMS[request.param]


def test_recomputed_scores_equal_the_stored_ones(stored):
    kb, within = stored
    runs = kb.runs(status="ok").set_index("run")
    n_compared = 0

    for name, found in METRICS.items():
        for item in rescored_runs(kb, name):
            for run, score in zip(item.runs, item.scores, strict=True):
                known = runs.loc[run, name]
                scale = max(1.0, abs(known)) if found.is_in_target_unit else 1.0
                assert score == pytest.approx(known, abs=within * scale, nan_ok=True), (name, runs.loc[run, "dataset"])
                n_compared += 1

    assert n_compared > 100


def test_runs_are_ranked_by_a_metric_that_nobody_asked_for(stored):
    kb, _ = stored

    table = kb.rerank("kappa")

    assert set(table["dataset"]) == {"iris", "breast_cancer"}
    for _, part in table.groupby("dataset"):
        assert part["rank"].tolist()[0] == 1
        assert part["kappa"].is_monotonic_decreasing
        assert sorted(part["was"])[0] == 1


def test_a_loss_is_shown_positive_and_the_smallest_is_best(stored):
    kb, _ = stored

    table = rerank(kb, metric="mae", dataset="diabetes")

    assert set(table["dataset"]) == {"diabetes"}
    assert table["mae"].is_monotonic_increasing
    assert (table["mae"] > 0).all()


def test_costs_rank_the_runs_of_classes(stored):
    kb, _ = stored
    labels = kb.rerank("accuracy", dataset="breast_cancer")

    table = kb.rerank(costs={("malignant", "benign"): 5.0}, dataset="breast_cancer")

    assert len(table) == len(labels)
    assert table["cost"].is_monotonic_increasing


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "either a metric or costs"),
        ({"metric": "guess"}, "There is no metric 'guess'"),
        ({"metric": "f1", "dataset": "diabetes"}, "no predictions of such data sets that f1"),
        ({"metric": "accuracy", "dataset": "nowhere"}, "Keep them with --keep-predictions"),
    ],
)
def test_what_cannot_be_ranked_is_said_in_a_sentence(stored, options, says):
    with pytest.raises(BadRequest, match=says):
        rerank(stored[0], **options)
