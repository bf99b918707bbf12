"""The Gaussian process whose prior is the knowledge base."""

import numpy as np

from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.transfer_gp import ExperienceProcess, Points, matern
from tests.metalearning.worlds import rises_with_rows


def pool(n: int = 60) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    return [{"rate": float(rate), "word": "a"} for rate in rng.random(n)]


def test_matern_is_one_at_no_distance_and_falls():
    rows = np.array([[0.0], [0.1], [0.9]])

    found = matern(rows, rows, 0.5)

    assert np.diag(found).tolist() == [1.0, 1.0, 1.0]
    assert found[0, 1] > found[0, 2] > 0


def test_process_predicts_an_observation_near_it():
    rows = np.linspace(0, 1, 5)[:, np.newaxis]
    points = Points(rows, np.zeros((5, 1)), np.zeros(5))
    process = ExperienceProcess((np.log(0.1), 0.1)).fit(points.take(np.array([0, 4])), np.array([0.9, 0.5]))

    mean, std, improvement = process.predict(points)

    assert mean[0] > mean[4]
    assert (std > 0).all()
    assert (improvement >= 0).all()


def test_process_follows_the_data_sets_it_resembles(landscape: Landscape, synthetic: RunHistory):
    rows = synthetic.encode(pool())
    average, components = landscape.at(rows)
    truth = np.array([rises_with_rows(float(config["rate"]), 1e6) for config in pool()])
    points = Points(rows, components, average)
    seen = np.arange(4)

    mean, _, _ = ExperienceProcess(landscape.log_unit).fit(points.take(seen), truth[seen]).predict(points)

    assert np.corrcoef(mean[4:], truth[4:])[0, 1] > np.corrcoef(average[4:], truth[4:])[0, 1]
