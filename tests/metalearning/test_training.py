"""A trained meta-learner can be saved as plain files."""

import numpy as np

from metaml.metalearning.history import RunHistory
from metaml.metalearning.training import Trained, file_contents, train, unpacked

DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0}
CONFIGS = [{"rate": rate, "word": word} for rate in (0.1, 0.5, 0.9) for word in ("a", "b", "new")]


def test_unpacked_learner_predicts_the_same(trained: Trained):
    found = unpacked(file_contents(trained))

    before, after = (item.learner.predict(CONFIGS, DESCRIBED) for item in (trained, found))
    np.testing.assert_allclose(after, before, atol=1e-5)
    rows = found.learner.encoder_.transform(CONFIGS)
    assert np.abs(found.landscape.levels_at(rows) - trained.landscape.levels_at(rows)).max() < 1e-4
    assert found.landscape.datasets == trained.landscape.datasets


def test_no_pickle_is_among_the_files(trained: Trained):
    assert sorted(file_contents(trained)) == ["landscape.npz", "learner.json", "model_0.txt"]


def test_a_small_history_can_be_trained_and_saved(synthetic: RunHistory):
    for n_datasets in (0, 1):
        found = unpacked(file_contents(train(synthetic.keep(range(n_datasets)))))

        assert found.landscape.n_datasets == n_datasets
        assert np.isfinite(found.learner.predict(CONFIGS, DESCRIBED)).all()
