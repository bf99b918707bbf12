"""What pages know of a knowledge base, and when they ask again."""

import math

from metaml.web.catalogue import MOST_KEPT, Catalogue, metrics_of_task
from tests.web.samples import ALGORITHMS, BOT, HOSTILE, LIVE, N_DATASETS, TUNE, fingerprint


def test_a_data_set_has_its_winner_by_the_metric_of_its_task(catalogue):
    catalogue.catch_up()

    first, second = catalogue.dataset(fingerprint(0)), catalogue.dataset("data-1")

    assert len(catalogue.datasets()) == N_DATASETS
    assert (first.metric, first.name) == ("roc_auc", HOSTILE)
    assert (second.metric, second.winner) == ("neg_log_loss", "my_learner")
    assert [name for name, _, _ in catalogue.winners(second, "accuracy")] == list(reversed(ALGORITHMS))
    best = catalogue.best_runs(second, "accuracy", 3)
    assert best[0].score("accuracy") >= best[1].score("accuracy") >= best[2].score("accuracy")
    assert math.isclose(best[0].score("neg_log_loss"), second.best)


def test_sessions_are_found_by_the_beginning_of_their_keys(catalogue):
    catalogue.catch_up()

    assert catalogue.session("aaa").key == TUNE
    assert catalogue.session("bb").span.n_runs == 9 * (len(ALGORITHMS) * N_DATASETS + 1)
    assert catalogue.session(LIVE).finished_at is None
    assert catalogue.session("") is catalogue.session("d") is None
    assert [item.key for item in catalogue.sessions().values()] == [LIVE, TUNE, BOT]


def test_an_answer_is_kept_until_something_is_added(kb, run_of):
    catalogue, asked = Catalogue(kb), []
    catalogue.catch_up()

    for _ in range(2):
        catalogue.kept("x", lambda: asked.append(1))
    kb.add_run(run_of(1))
    catalogue.catch_up()
    catalogue.kept("x", lambda: asked.append(2))

    assert asked == [1, 2]


def test_few_answers_are_kept(in_file):
    for number in range(2 * MOST_KEPT):
        in_file.kept(str(number), lambda: 0)

    assert in_file.has_kept(str(2 * MOST_KEPT - 1))
    assert not in_file.has_kept("0")


def test_a_name_that_several_have_finds_none(kb):
    from metaml_kb import DatasetRecord

    kb.add_dataset(DatasetRecord("e" * 32, "iris"))
    catalogue = Catalogue(kb)

    assert catalogue.dataset("iris") is None
    assert catalogue.dataset("e" * 32).name == "iris"


def test_the_usual_metric_of_a_task_comes_first():
    assert metrics_of_task(["accuracy", "f1", "roc_auc"], "binary") == ["roc_auc", "accuracy", "f1"]
    assert metrics_of_task(["b", "a"], "unknown") == ["a", "b"]
